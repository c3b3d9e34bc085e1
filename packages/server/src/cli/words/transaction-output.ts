import type { Environment } from "../../domain/customer.ts";
import { formatMoney } from "../../domain/money.ts";
import type { Transaction } from "../../domain/top-up.ts";
import { bouquetFinder } from "../../operations/bouquet-finder.ts";
import type { Store } from "../../store/store.ts";
import { isoTime, tableLines } from "../output.ts";
import type { Runtime } from "../runtime.ts";
import { printable, wrap } from "./text.ts";

/** What a list of transactions is shown with. */
export interface Showing {
  readonly calendar: Store["provider"]["calendar"];
  readonly currencyExponent: number;
  /** By the partner's number. */
  readonly partnerNames: ReadonlyMap<number, string>;
}

export async function showingOf(store: Store): Promise<Showing> {
  const partners = await store.listPartners();
  return { ...store.provider, partnerNames: new Map(partners.map(({ id, name }) => [id, name])) };
}

/** The same, of one environment, with its bouquets as they were defined last, whether they are still sold or not. */
export interface ListShowing extends Showing {
  readonly findBouquet: ReturnType<typeof bouquetFinder>;
}

export async function listShowingOf(store: Store, environment: Environment): Promise<ListShowing> {
  return { ...(await showingOf(store)), findBouquet: bouquetFinder(await store.knownBouquets(environment)) };
}

/** By the interface's own words where it has one; an amount is a decimal in a string, so that nobody rounds it. */
export function transactionJson(transaction: Transaction, showing: Showing) {
  const { txnId, checkoutId, status, environment, cuid, service, reqId, bouquetCode, at, udf1, udf2 } = transaction;
  return {
    ...{ txnId, checkoutId, status, partner: partnerName(transaction, showing), environment },
    ...{ cuid, service, reqId, bouquetId: bouquetCode, amount: amountOf(transaction, showing) },
    ...{ txnDate: showing.calendar.format(at), at: isoTime(at), udf1: udf1 ?? null, udf2: udf2 ?? null },
  };
}

/** A transaction as lists have it: with the name that its bouquet has now. */
export function listedJson(transaction: Transaction, showing: ListShowing) {
  const { service, bouquetCode } = transaction;
  return {
    ...transactionJson(transaction, showing),
    bouquetName: showing.findBouquet(service, bouquetCode)?.name ?? null,
  };
}

/** Two lines for each, which a terminal has room for: what may have to be copied, and then what was bought from whom. */
export function printTransactions(runtime: Runtime, transactions: readonly Transaction[], showing: ListShowing): void {
  const rows = transactions.map((transaction) => {
    const { at, txnId, cuid, reqId } = transaction;
    return [showing.calendar.format(at), txnId, cuid, reqId, amountOf(transaction, showing)].map(printable);
  });
  const [header, ...lines] = tableLines([["TIME", "TRANSACTION", "CUID", "REQID", "AMOUNT"], ...rows]);
  runtime.stdout(`${header}\n`);
  for (const [index, transaction] of transactions.entries()) {
    const reversed = transaction.status === "reversed" ? ", reversed" : "";
    const words = `${bouquetOf(transaction, showing)} by ${partnerName(transaction, showing)}${reversed}`;
    runtime.stdout(`${lines[index]}\n${wrap(printable(words), "  ", "    ")}`);
  }
}

/** Its name and code; of a bouquet that no catalogue here ever had, as an imported top-up may name, the code alone. */
export function bouquetOf({ service, bouquetCode }: Transaction, { findBouquet }: ListShowing): string {
  const name = findBouquet(service, bouquetCode)?.name;
  return name === undefined ? bouquetCode : `${name} (${bouquetCode})`;
}

export function partnerName({ partnerId }: Pick<Transaction, "partnerId">, { partnerNames }: Showing): string {
  return partnerNames.get(partnerId) ?? String(partnerId);
}

export function amountOf({ amount }: Transaction, { currencyExponent }: Showing): string {
  return formatMoney(amount, currencyExponent);
}
