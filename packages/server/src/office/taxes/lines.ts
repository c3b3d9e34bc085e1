import { Type } from "typebox";
import { type CurrencyExponent, formatMoneyInFull } from "../../domain/money.ts";
import { type Sale, splitOf, type TaxSplit } from "../../domain/tax.ts";
import type { Transaction } from "../../domain/transaction.ts";
import type { Db } from "../../store/engine.ts";
import { AmountSchema, orNull } from "../common.ts";
import { readTaxes } from "./sql.ts";

/* Base and taxes in answers and files. */

const TaxLinesSchema = Type.Array(Type.Object({ name: Type.String(), amount: AmountSchema }), {
  description: "The taxes, by name; empty if there are none. In CSV: `TSC 12.30; VAT 15.99`.",
});

/** Fields of a price. */
export const SPLIT = {
  base: { ...AmountSchema, description: "The price without its taxes." },
  taxes: TaxLinesSchema,
};

/** Fields that can be unknown or not apply. @param base its description. */
export const splitOrNull = (base: string) => ({
  base: orNull({ ...AmountSchema, description: base }),
  taxes: orNull(TaxLinesSchema),
});

/** Base and taxes of a price on a day. */
export async function taxLines(db: Db, sale: Sale): Promise<TaxSplit> {
  return splitOf(sale, await readTaxes(db));
}

export function saleOf({ service, amount, txnDate }: Transaction): Sale {
  return { service, amount, day: txnDate.slice(0, "YYYY-MM-DD".length) };
}

export function splitData({ base, taxes }: TaxSplit, exponent: CurrencyExponent) {
  return {
    base: formatMoneyInFull(base, exponent),
    taxes: taxes.map(({ name, amount }) => ({ name, amount: formatMoneyInFull(amount, exponent) })),
  };
}

export function splitDataOrNull(split: TaxSplit | undefined, exponent: CurrencyExponent) {
  return split === undefined ? { base: null, taxes: null } : splitData(split, exponent);
}
