import type { Static } from "typebox";
import type { Partner } from "../../domain/access-token.ts";
import { type AccountEntry, type AccountKey, availableOf, balanceState, owingOf } from "../../domain/account.ts";
import { type CurrencyExponent, formatMoneyInFull, type Money } from "../../domain/money.ts";
import { splitOf, type Tax } from "../../domain/tax.ts";
import { isoTime } from "../../domain/wall-time.ts";
import type { Account } from "../../store/accounts.ts";
import type { Db } from "../../store/engine.ts";
import { formatOrNull } from "../common.ts";
import type { Office } from "../office.ts";
import type { Shown } from "../operation.ts";
import { noPartner } from "../partners/presenter.ts";
import { findPartner } from "../partners/sql.ts";
import { saleOf, splitDataOrNull } from "../taxes/lines.ts";
import { printable, table } from "../text.ts";
import type { AccountSchema, EntryEffectSchema, EntrySchema, StatementSchema } from "./schemas.ts";

/** The partner and account that an input names. @throws Refused */
export async function accountMeant(
  db: Db,
  { name, environment = "production" }: { readonly name: string; readonly environment?: AccountKey["environment"] },
): Promise<{ readonly partner: Partner; readonly key: AccountKey }> {
  const partner = (await findPartner(db, name)) ?? noPartner(name);
  return { partner, key: { partnerId: partner.id, environment } };
}

export function accountData(
  { store: { provider }, currency }: Pick<Office, "store" | "currency">,
  { name: partner }: Partner,
  { environment }: AccountKey,
  { creditLimit, alertBelow, balance }: Pick<Account, "creditLimit" | "alertBelow"> & { readonly balance: Money },
): Static<typeof AccountSchema> {
  const inFull = (amount: Money | undefined) => formatOrNull(amount, provider.currencyExponent);
  return {
    partner,
    environment,
    balance: formatMoneyInFull(balance, provider.currencyExponent),
    creditLimit: inFull(creditLimit),
    available: inFull(availableOf(balance, creditLimit)),
    alertBelow: inFull(alertBelow),
    balanceState: balanceState(balance, { creditLimit, alertBelow }),
    owing: owingOf({ environment }, balance),
    currency: currency ?? null,
  };
}

export const ACCOUNT_COLUMNS = [
  "partner",
  "environment",
  "balance",
  "creditLimit",
  "available",
  "alertBelow",
  "balanceState",
];

export function entryLines(effect: Static<typeof EntryEffectSchema>): Shown {
  const columns = ["partner", "environment", "kind", "reference", "amount", "before", "after"];
  const isRepeat = effect.before === effect.after;
  const note = `The entry was made at ${effect.at} by ${effect.author}: nothing was changed.\n`;
  return { out: table(columns, [effect], 3), ...(isRepeat && { note }) };
}

export function entryData(
  entry: AccountEntry,
  balance: Money,
  { exponent, taxes }: { readonly exponent: CurrencyExponent; readonly taxes: readonly Tax[] },
): Static<typeof EntrySchema> {
  const sale = "of" in entry ? entry.of : undefined;
  const staff = "of" in entry ? undefined : entry;
  return {
    txnDate: entry.wall,
    at: isoTime(entry.at),
    kind: entry.kind,
    gross: formatOrNull(sale?.amount, exponent),
    commission: formatOrNull(sale?.commission, exponent),
    ...splitDataOrNull(sale && splitOf(saleOf(sale), taxes), exponent),
    amount: formatMoneyInFull(entry.amount, exponent),
    balance: formatMoneyInFull(balance, exponent),
    reference: staff?.reference ?? null,
    txnId: sale?.txnId ?? null,
    checkoutId: sale?.checkoutId ?? null,
    author: staff?.author ?? null,
    reason: staff?.reason || null,
  };
}

const STATEMENT_COLUMNS = ["txnDate", "kind", "count", "reference", "amount"];

export function statementLines(statement: Static<typeof StatementSchema>): Shown {
  const { partner, lines, opening, closing, owing, owed, open } = statement;
  const balance = (kind: string, amount: string) => ({ kind, count: "", txnDate: "", reference: "", amount });
  const shown = lines.map((line) => ({
    ...line,
    txnDate: line.txnDate ?? "",
    count: line.count ?? "",
    reference: line.reference ?? "",
  }));
  const rows = [balance("OPENING", opening), ...shown, balance("CLOSING", closing)];
  const words = {
    partner: `${printable(partner)} owes you ${owed}.`,
    provider: `You owe ${printable(partner)} ${owed}.`,
    nobody: "Nobody owes anything.",
  };
  const note = open ? "The month is not over yet: these numbers may still change.\n" : "";
  return { out: `${table(STATEMENT_COLUMNS, rows, 1)}${words[owing]}\n`, note };
}
