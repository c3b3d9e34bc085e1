import { type Static, Type } from "typebox";
import { availableOf, NO_TERMS } from "../../domain/account.ts";
import { SERVICES } from "../../domain/bouquet.ts";
import { type CommissionRule, rulesInForce } from "../../domain/commission.ts";
import { type CurrencyExponent, type Money, moneyToJson } from "../../domain/money.ts";
import { DEFAULT_LIMITS, NO_LIMIT } from "../../domain/partner-limits.ts";
import { findAccount } from "../../store/accounts.ts";
import { momentOf } from "../../store/ports.ts";
import { money, orNull } from "./schemas.ts";
import type { Report } from "./shape.ts";

const moneyOrNull = (description: string) => orNull(money(description), description);
const countOrNull = (description: string) => orNull(Type.Integer(), description);

const Commission = Type.Object(
  {
    service: orNull(Type.String({ enum: [...SERVICES] }), "Null: all services."),
    bouquetId: orNull(Type.String(), "Null: all bouquets."),
    percent: orNull(Type.Number(), "Percent of `amt`; null if the amount is fixed."),
    fixed: moneyOrNull("Amount for each top-up; null if it is a percentage."),
    from: Type.String({ description: "The first day of the rule." }),
  },
  { title: "CommissionRule", description: "What you keep of a top-up. The most specific rule counts." },
);

const Limits = Type.Object(
  {
    topUpAmount: moneyOrNull("Most for one top-up; null if there is no limit."),
    dayAmount: moneyOrNull("Most for all top-ups of a day; null if there is no limit."),
    dayTopUps: countOrNull("Most top-ups of a day; null if there is no limit."),
    rate: Type.Integer({ description: "Calls a second in the long run." }),
    burst: Type.Integer({ description: "Calls at once." }),
    newLookUps: countOrNull("Look-ups of strangers an hour; null if there is no limit."),
  },
  { title: "PartnerLimits", description: "Your limits." },
);

/** Balance and credit limit of an account. */
export const Means = Type.Object({
  balance: money("What you have; negative if you owe."),
  creditLimit: moneyOrNull("What you may owe; null if there is no limit."),
  available: moneyOrNull("Balance and credit limit together; null if there is no limit."),
});

const AccountBody = Type.Object(
  {
    ...Means.properties,
    currency: orNull(Type.String(), "The code; null if the provider set none."),
    commission: Type.Array(Commission, { description: "The rules in force today." }),
    limits: Limits,
  },
  { description: "Your account in the environment of the token." },
);

export const ACCOUNT: Report = {
  name: "partner/account",
  operationId: "getAccount",
  summary: "See your balance, commission and limits",
  description: "Shows your account in the environment of the token. The balance can be some seconds old.",
  parameters: {},
  body: AccountBody,
  example: {
    balance: 4870.5,
    creditLimit: 10000,
    available: 14870.5,
    currency: "NPR",
    commission: [{ service: null, bouquetId: null, percent: 2, fixed: null, from: "2026-11-01" }],
    limits: {
      topUpAmount: null,
      dayAmount: 500000,
      dayTopUps: null,
      rate: 50,
      burst: 500,
      newLookUps: 600,
    },
  },
  async run(ports, caller) {
    const { engine, provider } = ports.store;
    const { creditLimit, guarded } = await findAccount(engine.db, caller);
    const balance = guarded?.balance ?? (await ports.sumBalance(caller));
    const { limits = DEFAULT_LIMITS, terms = NO_TERMS } = caller;
    const inJson = (amount: Money | undefined) => jsonOf(amount, provider.currencyExponent);
    const today = momentOf(ports).wall.slice(0, 10);
    const value: Static<typeof AccountBody> = {
      ...meansOf(balance, creditLimit, provider.currencyExponent),
      currency: ports.currency ?? null,
      commission: rulesInForce(terms.commission, today).map((rule) => renderRule(rule, provider.currencyExponent)),
      limits: {
        topUpAmount: inJson(terms.limits.topUpAmount),
        dayAmount: inJson(terms.limits.dayAmount),
        dayTopUps: terms.limits.dayTopUps ?? null,
        rate: limits.rate,
        burst: limits.burst,
        newLookUps: limits.newLookUps >= NO_LIMIT ? null : limits.newLookUps,
      },
    };
    return { ok: true, value };
  },
};

/** The means of an account as its partner sees them. */
export function meansOf(
  balance: Money,
  creditLimit: Money | undefined,
  exponent: CurrencyExponent,
): Static<typeof Means> {
  return {
    balance: moneyToJson(balance, exponent),
    creditLimit: jsonOf(creditLimit, exponent),
    available: jsonOf(availableOf(balance, creditLimit), exponent),
  };
}

function jsonOf(amount: Money | undefined, exponent: CurrencyExponent): number | null {
  return amount === undefined ? null : moneyToJson(amount, exponent);
}

function renderRule({ service, bouquetCode, percent, fixed, from }: CommissionRule, exponent: CurrencyExponent) {
  return {
    service: service ?? null,
    bouquetId: bouquetCode ?? null,
    percent: percent === undefined ? null : percent / 100,
    fixed: fixed === undefined ? null : moneyToJson(fixed, exponent),
    from,
  };
}
