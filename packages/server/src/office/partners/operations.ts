import { Type } from "typebox";
import { LEGAL_LINES, type LegalLines, type Partner } from "../../domain/access-token.ts";
import { hasDayLimits, NO_TERMS } from "../../domain/account.ts";
import { AddressList, readAddressRange, sameRanges } from "../../domain/address-list.ts";
import { partnerAdded, partnerAllowed, partnerStatusSet, partnerTermsSet } from "../../domain/audit.ts";
import { ENVIRONMENTS } from "../../domain/customer.ts";
import { DEFAULT_LIMITS } from "../../domain/partner-limits.ts";
import { Refused } from "../../domain/refused.ts";
import { isoTimeOrNull } from "../../domain/wall-time.ts";
import { findAccount, putAccount } from "../../store/accounts.ts";
import type { Db } from "../../store/engine.ts";
import {
  amountOrNone,
  ENVIRONMENT,
  environmentOf,
  formatOrNull,
  NameSchema,
  onePage,
  pageOf,
  readAmountOrNone,
} from "../common.ts";
import { decide } from "../decide.ts";
import { type Operation, operation } from "../operation.ts";
import {
  AddressesSchema,
  LEGAL_INPUT,
  LIMITS,
  ListedPartnerSchema,
  legalData,
  limitsData,
  listedState,
  listLines,
  noPartner,
  PartnerName,
  PartnerSchema,
  partnerData,
  SALE_LIMITS,
  ShownPartnerSchema,
  StatusSchema,
  tokenState,
} from "./presenter.ts";
import { readRefused } from "./refused.ts";
import * as sql from "./sql.ts";

/* Partners, who may call the partner API. */

const AS = { tag: "Partners", permission: "administer" } as const;
const BY_NAME = ["name"] as const;
const NO_LINES = { legalName: undefined, address: undefined, taxNumber: undefined, contact: undefined };
const READ = { tag: "Partners", permission: "read" } as const;
/** Partners as a table; `-` means any address. */
export const PARTNER_COLUMNS = ["id", "name", "status", "createdAt", "certifiedAt", "allowedAddresses"];

export const listPartners = operation({
  ...READ,
  http: "GET /partners",
  summary: "List partners, with what they have available and what was refused today",
  input: Type.Object(ENVIRONMENT),
  answer: pageOf(ListedPartnerSchema),
  cli: [{ words: "partner list", show: listLines, examples: ["topupd partner list", "topupd partner list --json"] }],
  async run(office, input) {
    const { store, clock } = office;
    const { db } = store.engine;
    const now = clock();
    const environment = await environmentOf(office, input);
    const [partners, tokens, uses, balances, refused] = await Promise.all([
      sql.readPartners(db),
      sql.readTokens(db),
      sql.readLastUses(db),
      sql.readAvailable(db, environment),
      readRefused(office, environment),
    ]);
    return onePage(
      partners.map((partner) => {
        const own = tokens.filter((token) => token.partner.id === partner.id);
        const used = own.flatMap(({ id }) => uses.get(id) ?? []);
        const { available, state = "good" } = balances.get(partner.id) ?? {};
        const refusals = refused(partner);
        return {
          ...partnerData(partner, store.provider),
          state: listedState(partner, state, refusals.length > 0),
          available: formatOrNull(available, store.provider.currencyExponent),
          balanceState: state,
          refusedToday: refusals,
          validTokens: own.filter((token) => tokenState(token, now) === "valid").length,
          lastUsedAt: isoTimeOrNull(used.length === 0 ? undefined : Math.max(...used)),
        };
      }),
    );
  },
});

export const addPartner = operation({
  ...AS,
  http: "POST /partners",
  status: 201,
  summary: "Add a partner",
  refuses: ["conflict"],
  input: Type.Object({ name: NameSchema }),
  answer: PartnerSchema,
  cli: [
    {
      words: "partner add",
      arguments: BY_NAME,
      makesDatabase: true,
      show: PARTNER_COLUMNS,
      examples: ['topupd partner add "Blue Wallet"'],
    },
  ],
  async run(office, { name }) {
    return decide(office, "reference", async (tx) => {
      if ((await sql.findPartner(tx, name)) !== undefined)
        throw new Refused("conflict", `there is a partner named ${name} already`);
      const id = await sql.nextPartnerId(tx);
      const partner: Partner = {
        id,
        name,
        status: "active",
        createdAt: office.by.at,
        allowedAddresses: undefined,
        certifiedAt: undefined,
        limits: DEFAULT_LIMITS,
        terms: NO_TERMS,
        legal: {},
      };
      const write = () => sql.insertPartner(tx, partner);
      return { answer: partnerData(partner, office.store.provider), change: { write, audit: [partnerAdded(partner)] } };
    });
  },
});

export const showPartner = operation({
  ...READ,
  http: "GET /partners/:name",
  summary: "Show a partner, with what was refused today",
  input: Type.Object({ name: PartnerName, ...ENVIRONMENT }),
  answer: ShownPartnerSchema,
  async run(office, { name, ...input }) {
    const { store } = office;
    const partner = (await sql.findPartner(store.engine.db, name)) ?? noPartner(name);
    const refused = await readRefused(office, await environmentOf(office, input));
    return { ...partnerData(partner, store.provider), refusedToday: refused(partner) };
  },
});

export const changePartner = operation({
  ...AS,
  http: "PATCH /partners/:name",
  summary: "Suspend or resume a partner, limit its IP addresses, or set its lines on papers",
  input: Type.Object({
    name: PartnerName,
    status: Type.Optional(StatusSchema),
    allowedAddresses: Type.Optional(AddressesSchema),
    ...LEGAL_INPUT,
  }),
  answer: PartnerSchema,
  cli: [
    ...(
      [
        ["suspend", "suspended", "refuse all requests of a partner except txn-status until it is resumed"],
        ["resume", "active", "let a suspended partner call again"],
      ] as const
    ).map(([verb, status, summary]) => ({
      words: `partner ${verb}`,
      summary,
      arguments: BY_NAME,
      given: { status, allowedAddresses: undefined, ...NO_LINES },
      show: PARTNER_COLUMNS,
      examples: [`topupd partner ${verb} "Blue Wallet"`] as const,
    })),
    {
      words: "partner details",
      summary: "set the lines of a partner on papers, or show them",
      arguments: BY_NAME,
      given: { status: undefined, allowedAddresses: undefined },
      show: ["name", ...LEGAL_LINES],
      examples: [
        'topupd partner details "Blue Wallet"',
        'topupd partner details Bank --legal-name "Bank Ltd." --tax-number "PAN 601"',
      ],
    },
  ],
  async run(office, { name, status, allowedAddresses: given, ...lines }) {
    const addresses = given == null ? undefined : readAddresses(given);
    return decide(office, "reference", async (tx) => {
      const before = (await sql.findPartner(tx, name)) ?? noPartner(name);
      const isAsBefore = given === undefined || sameRanges(before.allowedAddresses, addresses);
      const allowedAddresses = isAsBefore ? before.allowedAddresses : addresses;
      const legal = withLines(before.legal, lines);
      const after = { ...before, status: status ?? before.status, allowedAddresses, legal };
      const [former, now] = [legalData(before.legal), legalData(legal)];
      const audit = [
        ...(isAsBefore ? [] : [partnerAllowed(before, addresses)]),
        ...(after.status === before.status ? [] : [partnerStatusSet(before, after.status)]),
        ...(LEGAL_LINES.every((line) => former[line] === now[line])
          ? []
          : [partnerTermsSet("partner.details", before, former, now)]),
      ];
      const change = { write: () => sql.updatePartner(tx, after), audit };
      return { answer: partnerData(after, office.store.provider), change: audit.length === 0 ? undefined : change };
    });
  },
});

/** @param given an empty line is removed; one that is not given stays. */
function withLines(
  before: LegalLines,
  given: { readonly [Line in keyof LegalLines]?: string | undefined },
): LegalLines {
  const lines = LEGAL_LINES.map((line) => [line, given[line]?.trim() ?? before[line]] as const);
  return Object.fromEntries(lines.filter(([, text]) => text !== undefined && text !== ""));
}

const LIMIT_NAMES = Object.keys({ ...LIMITS, ...SALE_LIMITS }) as (keyof ReturnType<typeof limitsData>)[];

export const limitPartner = operation({
  ...AS,
  http: "PATCH /partners/:name/limits",
  summary: "Limit the calls, look-ups and top-ups of a partner",
  input: Type.Object({
    name: PartnerName,
    ...Type.Partial(Type.Object(LIMITS)).properties,
    topUpAmount: amountOrNone("Highest price of a top-up"),
    dayAmount: amountOrNone("Highest sum of prices a day"),
    dayTopUps: Type.Optional(
      Type.String({
        pattern: "^(?:none|[1-9][0-9]{0,8})$",
        "x-problem": "must be a number from 1 to 999999999, or none",
        description: "Most top-ups a day, or none.",
      }),
    ),
  }),
  answer: PartnerSchema,
  cli: [
    {
      words: "partner limits",
      summary: "limit the calls, look-ups and top-ups of a partner, or show the limits",
      arguments: BY_NAME,
      show: ["name", ...LIMIT_NAMES],
      examples: [
        "topupd partner limits Bank",
        "topupd partner limits Bank --rate 200 --new-look-ups 2000",
        "topupd partner limits Bank --top-up-amount 20000 --day-amount 500000",
      ],
    },
  ],
  async run(office, { name, topUpAmount, dayAmount, dayTopUps, ...given }) {
    const { store } = office;
    const { engine, provider } = store;
    return decide(office, "reference", async (tx) => {
      const before = (await sql.findPartner(tx, name)) ?? noPartner(name);
      const was = before.terms.limits;
      const limits = {
        topUpAmount: readAmountOrNone(office, "topUpAmount", topUpAmount, was.topUpAmount),
        dayAmount: readAmountOrNone(office, "dayAmount", dayAmount, was.dayAmount),
        dayTopUps: dayTopUps === undefined ? was.dayTopUps : dayTopUps === "none" ? undefined : Number(dayTopUps),
      };
      const after = { ...before, limits: { ...before.limits, ...given }, terms: { ...before.terms, limits } };
      const [former, now] = [limitsData(before, provider), limitsData(after, provider)];
      const write = async () => {
        const isGuardChanged = hasDayLimits(was) !== hasDayLimits(limits);
        if (isGuardChanged) await engine.lockRecording(tx);
        await sql.updatePartner(tx, after);
        if (isGuardChanged) await guardAccounts(tx, after);
      };
      const change = { write, audit: [partnerTermsSet("partner.limit", before, former, now)] };
      const isAsBefore = LIMIT_NAMES.every((each) => former[each] === now[each]);
      return { answer: partnerData(after, provider), change: isAsBefore ? undefined : change };
    });
  },
});

/** Recording must be locked. */
async function guardAccounts(tx: Db, { id: partnerId, terms }: Partner): Promise<void> {
  for (const environment of ENVIRONMENTS) {
    const key = { partnerId, environment };
    const settings = { ...(await findAccount(tx, key)), hasDayLimits: hasDayLimits(terms.limits) };
    await putAccount(tx, key, settings);
  }
}

function readAddresses(texts: readonly string[]): AddressList {
  const ranges = texts.map((text) => {
    const range = readAddressRange(text.trim());
    if (typeof range === "string") return range;
    throw Refused.field("allowedAddresses", `${range.problem}, but one is ${JSON.stringify(text)}`);
  });
  return new AddressList([...new Set(ranges)]);
}

export const operations: readonly Operation[] = [listPartners, addPartner, showPartner, changePartner, limitPartner];
