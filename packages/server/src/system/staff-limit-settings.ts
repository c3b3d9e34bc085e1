import { integer, readUnitsOrNone } from "./setting-values.ts";

/** Settings of what staff may do in a day, and when they need a second person. */
export const STAFF_LIMIT_SETTINGS = {
  supportGoodwillDays: {
    placeholder: "DAYS",
    fallback: "400",
    description:
      "most days of goodwill, also in bulk, that one account or API key of the role support can give in a day",
    read: integer(0, 99_999),
  },
  supportBulk: {
    placeholder: "NUMBER",
    fallback: "200",
    description: "most connections that one account or API key of the role support can correct in bulk in a day",
    read: integer(0, 99_999),
  },
  secondPersonBulk: {
    placeholder: "NUMBER",
    fallback: "1000",
    description:
      "bulk changes of more connections by one person in a day need a second person; none means that none does",
    read: (text: string) => (text === "none" ? Number.POSITIVE_INFINITY : integer(0, 99_999, "none, or ")(text)),
  },
  secondPersonReversal: {
    placeholder: "AMOUNT",
    fallback: "none",
    description:
      "reversals above this amount by one person in a day, in whole units of the currency, need a second person; none means that none does",
    read: readUnitsOrNone,
  },
  secondPersonMoney: {
    placeholder: "AMOUNT",
    fallback: "none",
    description:
      "the same for deposits, withdrawals, adjustments and raises of credit limits, together. A partner without a credit limit is not limited by money",
    read: readUnitsOrNone,
  },
};
