import { type Static, Type } from "typebox";
import { partnerTermsSet } from "../../domain/audit.ts";
import { SERVICES } from "../../domain/bouquet.ts";
import { type CommissionRule, isSameScope, MOST_COMMISSION_RULES, withRule } from "../../domain/commission.ts";
import { ENVIRONMENTS } from "../../domain/customer.ts";
import { parseMoney } from "../../domain/money.ts";
import { Refused } from "../../domain/refused.ts";
import type { Db } from "../../store/engine.ts";
import { momentOf } from "../../store/ports.ts";
import { knownBouquets } from "../../store/reference-cache.ts";
import type { ProviderSettings } from "../../store/store.ts";
import { amountInput, CodeSchema, DAYS, daysOf, formatOrNull, oneOf, onePage, pageOf, readAmount } from "../common.ts";
import { decide } from "../decide.ts";
import type { Office } from "../office.ts";
import { type Operation, operation } from "../operation.ts";
import { noPartner, PartnerName } from "../partners/presenter.ts";
import { findPartner, updatePartner } from "../partners/sql.ts";
import { CommissionRuleSchema } from "./schemas.ts";

/* The commission of a partner. */

const TAG = "Accounts";
const RULES = pageOf(CommissionRuleSchema);

export const listCommission = operation({
  tag: TAG,
  permission: "read",
  http: "GET /partners/:name/commission",
  summary: "List the commission rules of a partner: the most specific one of a day applies",
  input: Type.Object({ name: PartnerName }),
  answer: RULES,
  async run({ store }, { name }) {
    const { terms } = (await findPartner(store.engine.db, name)) ?? noPartner(name);
    return rulesData(terms.commission, store.provider);
  },
});

/** Decimals of a percentage. */
const PERCENT_DECIMALS = 2;
const MOST_PERCENT = 10_000n;

const RuleInputSchema = Type.Object({
  name: PartnerName,
  percent: Type.Optional(
    Type.String({ maxLength: 40, description: "Percent of the price, such as 2.5; 0 gives none." }),
  ),
  fixed: Type.Optional(amountInput("Fixed amount for each top-up.")),
  service: Type.Optional(oneOf(SERVICES, "Only for this service.")),
  bouquet: Type.Optional(Type.String({ ...CodeSchema, description: "Only for the bouquet with this code." })),
  from: Type.Optional(Type.String({ ...DAYS.from, description: "First day (default: today)." })),
});

export const setCommission = operation({
  tag: TAG,
  permission: "administer",
  http: "PUT /partners/:name/commission",
  refuses: ["conflict"],
  summary: "Add a commission rule, or replace the rule of the same service, bouquet and day",
  input: RuleInputSchema,
  answer: RULES,
  cli: [
    {
      words: "partner commission",
      summary: "set the commission of a partner, or list its rules",
      arguments: ["name"],
      show: Object.keys(CommissionRuleSchema.properties),
      examples: [
        'topupd partner commission "Blue Wallet"',
        'topupd partner commission "Blue Wallet" --percent 2.5 --from 2026-12-01',
        'topupd partner commission "Blue Wallet" --fixed 20 --service tv',
      ],
    },
  ],
  async run(office, { name, ...given }) {
    const { provider } = office.store;
    return decide(office, "reference", async (tx) => {
      const partner = (await findPartner(tx, name)) ?? noPartner(name);
      const rules = partner.terms.commission;
      if (Object.values(given).every((value) => value === undefined)) return { answer: rulesData(rules, provider) };
      const today = momentOf(office).wall.slice(0, 10);
      const rule = await readRule(office, tx, given, today);
      const commission = withRule(rules, rule, today);
      if (commission.length > MOST_COMMISSION_RULES)
        throw new Refused("conflict", `a partner can have ${MOST_COMMISSION_RULES} commission rules`);
      const write = () => updatePartner(tx, { ...partner, terms: { ...partner.terms, commission } });
      const former = rules.filter((each) => isSameScope(each, rule) && each.from <= rule.from).at(-1);
      const before = former && ruleData(former, provider);
      const audit = [partnerTermsSet("partner.commission", partner, before, ruleData(rule, provider))];
      return { answer: rulesData(commission, provider), change: { write, audit } };
    });
  },
});

/** @throws Refused */
async function readRule(
  office: Office,
  db: Db,
  { percent, fixed, service, bouquet, from }: Omit<Static<typeof RuleInputSchema>, "name">,
  today: string,
): Promise<CommissionRule> {
  if ((percent === undefined) === (fixed === undefined))
    throw Refused.field("percent", "or a fixed amount must be given, but not both");
  const hundredths = percent === undefined ? undefined : parseMoney(percent, PERCENT_DECIMALS);
  if (percent !== undefined && (hundredths === undefined || hundredths > MOST_PERCENT))
    throw Refused.field("percent", "must be a number from 0 to 100 with up to 2 decimals");
  daysOf(office, { from });
  if (from !== undefined && from < today)
    throw Refused.field("from", `must not be before today, ${today}: earlier top-ups have their commission`);
  if (bouquet !== undefined && !(await isBouquet(office, db, bouquet, service)))
    throw Refused.field("bouquet", "is not the code of a bouquet");
  return {
    service,
    bouquetCode: bouquet,
    from: from ?? today,
    percent: hundredths === undefined ? undefined : Number(hundredths),
    fixed: fixed === undefined ? undefined : readAmount(office, "fixed", fixed),
  };
}

async function isBouquet(
  { clock }: Office,
  db: Db,
  code: string,
  service: CommissionRule["service"],
): Promise<boolean> {
  const now = clock();
  const known = await Promise.all(ENVIRONMENTS.map((environment) => knownBouquets(db, environment, now)));
  return known.flat().some((each) => each.code === code && (service ?? each.service) === each.service);
}

function rulesData(rules: readonly CommissionRule[], provider: ProviderSettings) {
  return onePage(rules.map((rule) => ruleData(rule, provider)));
}

function ruleData({ from, service, bouquetCode, percent, fixed }: CommissionRule, provider: ProviderSettings) {
  return {
    from,
    service: service ?? null,
    bouquetId: bouquetCode ?? null,
    percent: formatOrNull(percent === undefined ? undefined : BigInt(percent), PERCENT_DECIMALS),
    fixed: formatOrNull(fixed, provider.currencyExponent),
  };
}

export const operations: readonly Operation[] = [listCommission, setCommission];
