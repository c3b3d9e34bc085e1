import { formatMoney } from "../../domain/money.ts";
import type { Transaction } from "../../domain/top-up.ts";
import type { Store } from "../../store/store.ts";
import { isoTime, printTable } from "../output.ts";
import type { Runtime } from "../runtime.ts";
import { printable } from "./text.ts";

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

/** By the interface's own words where it has one; an amount is a decimal in a string, so that nobody rounds it. */
export function transactionJson(transaction: Transaction, showing: Showing) {
  const { txnId, checkoutId, status, environment, cuid, service, reqId, bouquetCode, at, udf1, udf2 } = transaction;
  return {
    ...{ txnId, checkoutId, status, partner: partnerName(transaction, showing), environment },
    ...{ cuid, service, reqId, bouquetId: bouquetCode, amount: amountOf(transaction, showing) },
    ...{ txnDate: showing.calendar.format(at), at: isoTime(at), udf1: udf1 ?? null, udf2: udf2 ?? null },
  };
}

const PARTNER_COLUMN = 2;
const SHORTEST_PARTNER = "PARTNER".length;

/**
 * On a terminal as wide as that, where the ids allow it: only partners' names are cut, since all else may have to be
 * copied. Nothing is cut of what goes to a file or a program.
 */
export function printTransactions(runtime: Runtime, transactions: readonly Transaction[], showing: Showing): void {
  const hasReversed = transactions.some(({ status }) => status !== "success");
  const rows = transactions.map((transaction) => {
    const { at, txnId, reqId, status } = transaction;
    const cells = [showing.calendar.format(at), txnId, partnerName(transaction, showing), reqId];
    return [...cells, amountOf(transaction, showing), ...(hasReversed ? [status] : [])].map(printable);
  });
  const header = ["TIME", "TRANSACTION", "PARTNER", "REQID", "AMOUNT", ...(hasReversed ? ["STATUS"] : [])];
  const widthOf = (column: number) => Math.max(...[header, ...rows].map((row) => row[column]?.length ?? 0));
  const others = header.reduce((sum, _, column) => sum + (column === PARTNER_COLUMN ? 0 : widthOf(column) + 2), 0);
  const { columns = Number.POSITIVE_INFINITY } = runtime;
  const room = Math.max(SHORTEST_PARTNER, columns - others);
  printTable(
    runtime,
    header,
    rows.map((row) => row.map((cell, column) => (column === PARTNER_COLUMN ? cut(cell, room) : cell))),
  );
}

export function partnerName({ partnerId }: Pick<Transaction, "partnerId">, { partnerNames }: Showing): string {
  return partnerNames.get(partnerId) ?? String(partnerId);
}

export function amountOf({ amount }: Transaction, { currencyExponent }: Showing): string {
  return formatMoney(amount, currencyExponent);
}

function cut(text: string, room: number): string {
  return text.length <= room ? text : `${text.slice(0, room - 1)}…`;
}
