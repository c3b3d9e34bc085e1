import type { AccountKey } from "../domain/account.ts";
import { firstTransactionId } from "../domain/transaction.ts";
import type { Instant } from "../domain/wall-time.ts";
import type { Db } from "./engine.ts";

/* A txnId begins with the time of the record, so a range of times is a range of txnIds, and every list is in their order. */

/**
 * Transactions that one step reads: some milliseconds of work, then other requests get their turn. Each amount is less than
 * 10^15 minor units, so the sum of a step fits into 64 bits.
 */
export const STEP_ROWS = 5_000;

/** Greater than every txnId. */
const BEYOND_ALL = "~";

/** TxnIds of at least `least` and less than `beyond`. */
export interface Range {
  readonly least: string;
  readonly beyond: string;
}

export type Order = "asc" | "desc";

export function rangeOf(from: Instant | undefined, until: Instant | undefined): Range {
  return {
    least: from === undefined ? "" : firstTransactionId(from),
    beyond: until === undefined ? BEYOND_ALL : firstTransactionId(until),
  };
}

/** The part of a range that follows a txnId (or the beginning of one) in an order. */
export function rangeAfter(range: Range, place: string | undefined, order: Order): Range {
  if (place === undefined) return range;
  if (order === "desc") return { ...range, beyond: place < range.beyond ? place : range.beyond };
  // A blank sorts before every character of a txnId.
  const least = `${place} `;
  return { ...range, least: least > range.least ? least : range.least };
}

/** Divides a range into ranges of some thousand top-ups each, newest first. */
export async function* stepsOf(db: Db, range: Range): AsyncGenerator<Range> {
  for (let rest = range; ; ) {
    const end = await endOfStep(inRange(topUps(db), rest), "desc", STEP_ROWS);
    if (end === undefined) {
      yield rest;
      return;
    }
    yield { least: end, beyond: rest.beyond };
    rest = { least: rest.least, beyond: end };
  }
}

/** The txnId of the last top-up of a step; undefined if fewer are left. */
export async function endOfStep(left: TopUps, order: Order, rows: number): Promise<string | undefined> {
  const ids = left.select("t.txnId").orderBy("t.txnId", order);
  return (
    await ids
      .offset(rows - 1)
      .limit(1)
      .executeTakeFirst()
  )?.txnId;
}

export function topUps(db: Db) {
  return db.selectFrom("topUp as t");
}

export type TopUps = ReturnType<typeof topUps>;

export function inRange(query: TopUps, { least, beyond }: Range): TopUps {
  return query.where("t.txnId", ">=", least).where("t.txnId", "<", beyond);
}

/** The top-ups of an account. Their index has the order of txnIds. */
export function ofAccount(query: TopUps, { partnerId, environment }: AccountKey, range: Range, order: Order): TopUps {
  const own = query.where("t.partnerId", "=", partnerId).where("t.environment", "=", environment);
  const [than, end] = order === "asc" ? ([">", range.least] as const) : (["<", range.beyond] as const);
  // The same again: PostgreSQL then finds the index of all partners' txnIds dearer, even if it knows one partner only.
  return inRange(own, range).where((eb) =>
    eb(eb.refTuple("t.partnerId", "t.environment", "t.txnId"), than, eb.tuple(partnerId, environment, end)),
  );
}
