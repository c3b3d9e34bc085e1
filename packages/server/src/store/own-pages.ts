import type { AccountKey } from "../domain/account.ts";
import { settledRange } from "../domain/settlement.ts";
import type { Transaction } from "../domain/transaction.ts";
import { dayAfter, type Instant, type WallTime, type Zone } from "../domain/wall-time.ts";
import type { Db } from "./engine.ts";
import { transactionOfRow } from "./rows.ts";
import type { TopUpRow } from "./tables.ts";
import { inRange, rangeOf, type TopUps, topUps } from "./top-up-ranges.ts";

/*
 * Pages of one partner's rows, oldest first. Each query begins with an index of partner and environment, so that its time
 * tells nothing of other partners.
 */

export const PAGE_ITEMS = 200;

/** Days of the provider's clock, both included. */
export interface OwnDays {
  readonly from: string;
  readonly to: string;
}

/** A text that the partner sent with its top-ups. */
export interface OwnReference {
  readonly udf1: string;
}

export interface OwnTopUp {
  readonly transaction: Transaction;
  /** Undefined if it was not reversed. */
  readonly reversedAt: WallTime | undefined;
}

export interface OwnTopUpPage {
  readonly topUps: readonly OwnTopUp[];
  /** The txnId of the last one; undefined if no top-ups follow. */
  readonly rest: string | undefined;
}

/**
 * A page of the partner's top-ups of some days, or of all days with a reference.
 * @param after goes on after this txnId: the rest of the previous page.
 */
export async function readOwnTopUps(
  db: Db,
  zone: Zone,
  key: AccountKey,
  asked: OwnDays | OwnReference,
  after = "",
): Promise<OwnTopUpPage> {
  const own = "udf1" in asked ? ofAccount(db, key).where("t.udf1", "=", asked.udf1) : ownTopUps(db, zone, key, asked);
  const found = await own
    .where("t.txnId", ">", after)
    .selectAll("t")
    .limit(PAGE_ITEMS + 1)
    .execute();
  const rows = found.slice(0, PAGE_ITEMS);
  return { topUps: await withReversals(db, rows), rest: found.length > rows.length ? rows.at(-1)?.txnId : undefined };
}

/** The time range of days, `until` excluded. The days must exist. */
export function timesOf(zone: Zone, { from, to }: OwnDays): { readonly from: Instant; readonly until: Instant } {
  const [first, last] = [settledRange(from, zone), settledRange(to, zone)];
  if (first === undefined || last === undefined) throw new Error("the calendar has no such day");
  return { from: first.from, until: last.until };
}

/** The top-ups of an account and of some days, oldest first. */
export function ownTopUps(db: Db, zone: Zone, key: AccountKey, days: OwnDays): TopUps {
  const times = timesOf(zone, days);
  const own = inRange(ofAccount(db, key), rangeOf(times.from, times.until));
  return own.where("t.txnDate", ">=", days.from).where("t.txnDate", "<", dayAfter(days.to));
}

function ofAccount(db: Db, { partnerId, environment }: AccountKey): TopUps {
  const own = topUps(db).where("t.partnerId", "=", partnerId).where("t.environment", "=", environment);
  return own.orderBy("t.txnId");
}

async function withReversals(db: Db, rows: readonly TopUpRow[]): Promise<OwnTopUp[]> {
  const txnIds = rows.filter(({ status }) => status === "reversed").map(({ txnId }) => txnId);
  const reversals = db.selectFrom("reversal").select(["txnId", "wall"]).where("txnId", "in", txnIds);
  const times = new Map((txnIds.length === 0 ? [] : await reversals.execute()).map(({ txnId, wall }) => [txnId, wall]));
  return rows.map((row) => ({ transaction: transactionOfRow(row), reversedAt: times.get(row.txnId) }));
}
