import type { Kysely } from "kysely";
import type { Environment } from "../domain/customer.ts";
import { firstTransactionId, type Transaction } from "../domain/top-up.ts";
import type { Instant, WallTime } from "../domain/wall-time.ts";
import { transactionOfRow } from "./rows.ts";
import type { Tables, TopUpRow } from "./tables.ts";
import { inRange, type Range, stepsOf, topUps } from "./top-up-ranges.ts";

/** The partner and environment whose rows are read. */
export interface Holder {
  readonly partnerId: number;
  readonly environment: Environment;
}

/** Days of the provider's clock, both included, and all instants that they may contain. */
export interface Days {
  readonly from: string;
  readonly to: string;
  readonly start: Instant;
  readonly end: Instant;
}

export interface OwnTopUp {
  readonly transaction: Transaction;
  /** Undefined if it was not reversed. */
  readonly reversedAt: WallTime | undefined;
}

export interface OwnTopUpPage {
  readonly topUps: readonly OwnTopUp[];
  /** The least txnId of the rest, or its beginning; undefined if there is no rest. */
  readonly rest: string | undefined;
}

const PAGE_ROWS = 200;

/** Top-ups of all partners that are read for one page, and in one step. */
const READ_ROWS = 5_000;
const STEP_ROWS = 1_000;

/**
 * Reads some top-ups of a partner, oldest first. All partners share an index, so a page can be empty and still have a rest.
 * @param place the rest of the previous page.
 */
export async function readOwnTopUps(
  db: Kysely<Tables>,
  { partnerId, environment }: Holder,
  { from, to, start, end }: Days,
  place = "",
): Promise<OwnTopUpPage> {
  const first = firstTransactionId(start);
  const range = { least: place > first ? place : first, beyond: firstTransactionId(end) };
  const found: TopUpRow[] = [];
  let read = 0;
  for await (const step of stepsOf(db, range, "asc", "txnId", STEP_ROWS)) {
    const own = inRange(topUps(db), step)
      .where("t.partnerId", "=", partnerId)
      .where("t.environment", "=", environment)
      .where("t.txnDate", ">=", from)
      .where("t.txnDate", "<=", `${to} 23:59:59`);
    const rows = own
      .selectAll("t")
      .orderBy("t.txnId")
      .limit(PAGE_ROWS + 1 - found.length);
    found.push(...(await rows.execute()));
    if (found.length > PAGE_ROWS) return pageOf(db, found, found[PAGE_ROWS]?.txnId);
    read += STEP_ROWS;
    if (read >= READ_ROWS && step.beyond !== range.beyond) return pageOf(db, found, timeOf(step.beyond, range));
  }
  return pageOf(db, found, undefined);
}

/** The time of a txnId, which may belong to another partner: the caller must not learn more of it. */
function timeOf(txnId: string, { least }: Range): string {
  const time = txnId.slice(0, firstTransactionId(0).length);
  return time > least ? time : txnId;
}

async function pageOf(db: Kysely<Tables>, found: readonly TopUpRow[], rest: string | undefined): Promise<OwnTopUpPage> {
  const page = rest === undefined ? found : found.filter(({ txnId }) => txnId < rest);
  const reversed = page.filter(({ status }) => status === "reversed").map(({ txnId }) => txnId);
  const reversals =
    reversed.length === 0
      ? []
      : await db.selectFrom("reversal").select(["txnId", "wall"]).where("txnId", "in", reversed).execute();
  const times = new Map(reversals.map(({ txnId, wall }) => [txnId, wall]));
  const topUps = page.map((row) => ({ transaction: transactionOfRow(row), reversedAt: times.get(row.txnId) }));
  return { topUps, rest };
}
