import { firstTransactionId } from "../domain/transaction.ts";
import type { Instant } from "../domain/wall-time.ts";
import type { Db } from "./engine.ts";

/* A txnId begins with the time of the record, so a range of times is a range of txnIds. One index serves every list. */

/**
 * Transactions that one step reads: some milliseconds of work, then other requests get their turn. Each amount is less than
 * 10^15 minor units, so the sum of a step fits into 64 bits.
 */
const STEP_ROWS = 5_000;

/** Greater than every txnId and checkoutId. */
const BEYOND_ALL = "~";

/** Ids of at least `least` and less than `beyond`. */
export interface Range {
  readonly least: string;
  readonly beyond: string;
}

/** A column whose index divides top-ups into ranges. The table itself is in the order of checkoutIds. */
type Id = "txnId" | "checkoutId";

export type Order = "asc" | "desc";

export function rangeOf(from: Instant | undefined, until: Instant | undefined, before = BEYOND_ALL): Range {
  const beyond = until === undefined ? BEYOND_ALL : firstTransactionId(until);
  return {
    least: from === undefined ? "" : firstTransactionId(from),
    beyond: before < beyond ? before : beyond,
  };
}

/** Divides a range into ranges of some thousand top-ups each, in order. */
export async function* stepsOf(db: Db, range: Range, order: Order = "desc", id: Id = "txnId"): AsyncGenerator<Range> {
  for (let rest = range; ; ) {
    const boundary = await inRange(topUps(db), rest, id)
      .select(`t.${id} as id`)
      .orderBy(`t.${id}`, order)
      .offset(STEP_ROWS - 1)
      .limit(1)
      .executeTakeFirst();
    if (boundary === undefined) {
      yield rest;
      return;
    }
    const [older, newer] = [
      { least: rest.least, beyond: boundary.id },
      { least: boundary.id, beyond: rest.beyond },
    ];
    yield order === "asc" ? older : newer;
    rest = order === "asc" ? newer : older;
  }
}

export function topUps(db: Db) {
  return db.selectFrom("topUp as t");
}

export type TopUps = ReturnType<typeof topUps>;

export function inRange(query: TopUps, { least, beyond }: Range, id: Id = "txnId"): TopUps {
  return query.where(`t.${id}`, ">=", least).where(`t.${id}`, "<", beyond);
}
