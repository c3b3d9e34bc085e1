import type { Instant } from "../../domain/calendar.ts";
import type { ConnectionKey } from "../../domain/customer.ts";
import type { Ledger } from "../../domain/ledger.ts";
import type { Grant } from "../../domain/subscription.ts";
import type { Transaction, TransactionStatus } from "../../domain/top-up.ts";
import { firstTransactionId, TXN_ID_SLACK_MS } from "../../domain/transaction-id.ts";
import type { LedgerEntry, RecordedLedger, TransactionFilter, TransactionPage } from "../search.ts";
import { GRANT_COLUMNS, type GrantRow, qualified, toGrant, toTransaction } from "./rows.ts";

/*
 * One index, of the txnId, serves every list. Its first characters are the time at which the request came, and
 * what is asked for is when the top-up was recorded; so the range of txnIds is somewhat wider than that of time.
 */

/** Transactions that one step looks at: some milliseconds of work, after which others have their turn. */
export const STEP_ROWS = 5_000;

/** Greater than every txnId. */
const BEYOND_ALL = "~";

/** Of top_up as `t`, with the type that PostgreSQL has for the value. */
const CONDITIONS = [
  ["environment =", "text"],
  ["partner_id =", "integer"],
  ["service =", "text"],
  ["cuid =", "text"],
  ["req_id =", "text"],
  ["amount =", "bigint"],
  ["status =", "text"],
  ["udf1 =", "text"],
  ["udf2 =", "text"],
  ["at >=", "bigint"],
  ["at <", "bigint"],
] as const;

/** How many values {@link filterValues} gives: further parameters come after them. */
export const FILTER_VALUES = CONDITIONS.length;

/** One condition for all filters, so that each statement is prepared once: what is null holds always. */
export function filterCondition(parameter: (index: number, type: string) => string): string {
  const conditions = CONDITIONS.map(([comparison, type], index) => {
    const value = parameter(index + 1, type);
    return `(${value} IS NULL OR t.${comparison} ${value})`;
  });
  return conditions.join(" AND ");
}

export function filterValues(filter: TransactionFilter): (string | number | null)[] {
  const { environment, partnerId, service, cuid, reqId, amount, status, udf1, udf2, from, until } = filter;
  const where = [environment, partnerId, service, cuid, reqId];
  const what = [amount === undefined ? undefined : Number(amount), status, udf1, udf2];
  return [...where, ...what, from, until].map((value) => value ?? null);
}

/** What a store does at each step; both look at the txnIds from `least` on that are less than `beyond`. */
export interface SearchSteps {
  /** The least txnId of a step that begins below `beyond`; undefined where it comes to the end. */
  readonly boundary: (least: string, beyond: string) => Promise<string | undefined> | string | undefined;
  /** Those that the filter lets through, the greatest txnId first. */
  readonly matches: (least: string, beyond: string, limit: number) => Promise<Transaction[]> | Transaction[];
}

/** Goes from the newest to the oldest until the page is full, a step at a time. */
export async function searchInSteps(
  filter: TransactionFilter,
  page: TransactionPage,
  { boundary, matches }: SearchSteps,
): Promise<Transaction[]> {
  const range = txnIdRange(filter, page);
  const found: Transaction[] = [];
  let beyond = range.beyond;
  while (found.length < page.limit) {
    const least = await boundary(range.least, beyond);
    found.push(...(await matches(least ?? range.least, beyond, page.limit - found.length)));
    if (least === undefined) break;
    beyond = least;
  }
  return found;
}

export function txnIdRange({ from, until }: TransactionFilter, { before }: TransactionPage) {
  const beyond = until === undefined ? BEYOND_ALL : firstTransactionId(until + TXN_ID_SLACK_MS);
  return {
    least: from === undefined ? "" : firstTransactionId(from - TXN_ID_SLACK_MS),
    beyond: before !== undefined && before < beyond ? before : beyond,
  };
}

/** A grant beside its top-up, of which everything is null for the other kinds. */
export type LedgerRow = GrantRow & { readonly plan: string; readonly seq: number } & (
    | { readonly txn_id: null }
    | {
        readonly txn_id: string;
        readonly partner_id: number;
        readonly bouquet_code: string;
        readonly amount: number;
        readonly topped_up_at: Instant;
        readonly status: TransactionStatus;
        readonly udf1: string | null;
        readonly udf2: string | null;
      }
  );

/**
 * The grants of a connection.
 * @param condition on the grants, as `g`.
 * @param join of top_up as `t` beside the checkoutId.
 */
export function ledgersQuery(condition: string, { grants = "subscription_grant", join = "" } = {}): string {
  return `SELECT g.plan, g.seq, ${qualified("g", GRANT_COLUMNS)}, t.txn_id, t.partner_id, t.bouquet_code, t.amount,
      t.at AS topped_up_at, t.status, t.udf1, t.udf2
    FROM ${grants} AS g LEFT JOIN top_up AS t ON t.checkout_id = g.checkout_id ${join}
    WHERE ${condition} ORDER BY g.plan, g.seq`;
}

/** Entries of a ledger are numbered from here on, and keep their numbers when those before them go. */
const FIRST_SEQ = 1;

/** Whether a ledger lacks its beginning. @param seq of the first entry that there is. */
export function isPrunedBefore(seq: number): boolean {
  return seq > FIRST_SEQ;
}

/** @param rows as {@link ledgersQuery} gives them. */
export function toRecordedLedgers(rows: readonly LedgerRow[], connection: ConnectionKey): RecordedLedger[] {
  const ledgers: (RecordedLedger & { readonly entries: LedgerEntry[] })[] = [];
  for (const row of rows) {
    const entry = { grant: toGrant(row), transaction: transactionOf(row, connection) };
    const last = ledgers.at(-1);
    if (last?.plan === row.plan) last.entries.push(entry);
    else ledgers.push({ plan: row.plan, entries: [entry], isPruned: isPrunedBefore(row.seq) });
  }
  return ledgers;
}

/** Without the top-ups. @param rows as {@link ledgersQuery} gives them. */
export function toLedgers(rows: readonly LedgerRow[]): Ledger[] {
  const plans = new Map<string, Ledger & { readonly grants: Grant[] }>();
  for (const row of rows) {
    const ledger = plans.get(row.plan) ?? { plan: row.plan, grants: [], isPruned: isPrunedBefore(row.seq) };
    ledger.grants.push(toGrant(row));
    plans.set(row.plan, ledger);
  }
  return [...plans.values()];
}

function transactionOf(row: LedgerRow, { environment, cuid, service, reqId }: ConnectionKey): Transaction | undefined {
  if (row.txn_id === null) return undefined;
  return toTransaction({ ...row, at: row.topped_up_at, environment, cuid, service, req_id: reqId, imported: false });
}
