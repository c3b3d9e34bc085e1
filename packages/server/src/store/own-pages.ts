import type { AccountKey } from "../domain/account.ts";
import { settledRange } from "../domain/settlement.ts";
import type { Transaction } from "../domain/transaction.ts";
import { dayAfter, type Instant, type Moment, type Zone } from "../domain/wall-time.ts";
import type { Db } from "./engine.ts";
import { transactionOfRow } from "./rows.ts";
import type { TopUpRow } from "./tables.ts";
import { ofAccount, rangeAfter, rangeOf, topUps } from "./top-up-ranges.ts";

/*
 * Pages of one partner's rows. Each query reads an index that begins with partner and environment, so that its
 * time tells nothing of other partners.
 */

export const PAGE_ITEMS = 200;

/** Days of the provider's clock, both included. */
export interface OwnDays {
  readonly from: string;
  readonly to: string;
}

/** Which rows of a list to read: `most` of them after a place. "asc": oldest first. */
export interface OwnPage<Place> {
  readonly after: Place;
  readonly order: "asc" | "desc";
  readonly most: number;
}

/** A text that the partner sent with its top-ups. */
export interface OwnReference {
  readonly udf1: string;
}

export interface OwnTopUp {
  readonly transaction: Transaction;
  /** When it was reversed; undefined if it was not. */
  readonly reversed: Moment | undefined;
}

export interface OwnTopUpPage {
  readonly topUps: readonly OwnTopUp[];
  /** The txnId of the last one; undefined if no top-ups follow. */
  readonly rest: string | undefined;
}

/**
 * A page of the partner's top-ups, oldest first, of some days or of all days with a reference.
 * @param after goes on after this txnId: the rest of the previous page.
 */
export async function readOwnTopUps(
  db: Db,
  zone: Zone,
  key: AccountKey,
  asked: OwnDays | OwnReference,
  after = "",
): Promise<OwnTopUpPage> {
  const found = await ownTopUps(db, zone, key, asked, { after, order: "asc", most: PAGE_ITEMS + 1 });
  const rows = found.slice(0, PAGE_ITEMS);
  return { topUps: await withReversals(db, rows), rest: found.length > rows.length ? rows.at(-1)?.txnId : undefined };
}

/** Top-ups of the partner by their txnIds, in any order. */
export async function readOwnTopUpsOf(
  db: Db,
  { partnerId, environment }: AccountKey,
  txnIds: readonly string[],
): Promise<OwnTopUp[]> {
  if (txnIds.length === 0) return [];
  const rows = topUps(db).selectAll("t").where("t.txnId", "in", txnIds).where("t.partnerId", "=", partnerId);
  return withReversals(db, await rows.where("t.environment", "=", environment).execute());
}

/** The time range of days, `until` excluded. The days must exist. */
export function timesOf(zone: Zone, { from, to }: OwnDays): { readonly from: Instant; readonly until: Instant } {
  const [first, last] = [settledRange(from, zone), settledRange(to, zone)];
  if (first === undefined || last === undefined) throw new Error("the calendar has no such day");
  return { from: first.from, until: last.until };
}

/** The top-ups of an account after a txnId. */
export function ownTopUps(
  db: Db,
  zone: Zone,
  key: AccountKey,
  asked: OwnDays | OwnReference,
  { after, order, most }: OwnPage<string>,
): Promise<TopUpRow[]> {
  const times = "udf1" in asked ? undefined : timesOf(zone, asked);
  const range = rangeAfter(rangeOf(times?.from, times?.until), after, order);
  let own = ofAccount(topUps(db), key, range, order).selectAll("t");
  if ("udf1" in asked) own = own.where("t.udf1", "=", asked.udf1);
  else own = own.where("t.txnDate", ">=", asked.from).where("t.txnDate", "<", dayAfter(asked.to));
  return own.orderBy("t.txnId", order).limit(most).execute();
}

async function withReversals(db: Db, rows: readonly TopUpRow[]): Promise<OwnTopUp[]> {
  const txnIds = rows.filter(({ status }) => status === "reversed").map(({ txnId }) => txnId);
  const reversals = db.selectFrom("reversal").select(["txnId", "at as instant", "wall"]).where("txnId", "in", txnIds);
  const found = txnIds.length === 0 ? [] : await reversals.execute();
  const times = new Map(found.map(({ txnId, ...moment }) => [txnId, moment]));
  return rows.map((row) => ({ transaction: transactionOfRow(row), reversed: times.get(row.txnId) }));
}
