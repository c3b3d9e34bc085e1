import type { AccountEntry, AccountKey } from "../domain/account.ts";
import { settledRange } from "../domain/settlement.ts";
import type { Transaction } from "../domain/transaction.ts";
import { dayAfter, type WallTime, type Zone } from "../domain/wall-time.ts";
import { type EntriesRest, placeOf, readEntries } from "./account-entries.ts";
import type { Db } from "./engine.ts";
import { transactionOfRow } from "./rows.ts";
import type { TopUpRow } from "./tables.ts";
import { inRange, ofAccount, rangeOf, stepsOf, topUps } from "./top-up-ranges.ts";

/*
 * Pages of one partner's rows, oldest first. The top-ups of all partners share an index, so a page reads those of one day at
 * most. A page of a limited number of them would tell the partner how many others make.
 */

const PAGE_ITEMS = 200;
/** Top-ups that a step reads: other requests wait for a step only. */
const STEP_ROWS = 1_000;

/** Days of the provider's clock, both included. */
export interface OwnDays {
  readonly from: string;
  readonly to: string;
}

export interface OwnTopUp {
  readonly transaction: Transaction;
  /** Undefined if it was not reversed. */
  readonly reversedAt: WallTime | undefined;
}

export interface OwnTopUpPage {
  readonly topUps: readonly OwnTopUp[];
  /** Undefined if there is no rest. */
  readonly rest: OwnTopUpsRest | undefined;
}

/** The first day of the rest, and the least txnId of it. */
export interface OwnTopUpsRest {
  readonly day: string;
  readonly least: string;
}

/** @param place the rest of the previous page. */
export async function readOwnTopUps(
  db: Db,
  zone: Zone,
  key: AccountKey,
  { from, to }: OwnDays,
  { day, least }: OwnTopUpsRest = { day: from, least: "" },
): Promise<OwnTopUpPage> {
  const times = settledRange(day, zone);
  const ofDay = rangeOf(times?.from, times?.until);
  const range = { least: least > ofDay.least ? least : ofDay.least, beyond: ofDay.beyond };
  const found: TopUpRow[] = [];
  for await (const step of stepsOf(db, range, "asc", "txnId", STEP_ROWS, key)) {
    const own = ofAccount(inRange(topUps(db), step), key)
      .where("t.txnDate", ">=", day)
      .where("t.txnDate", "<", dayAfter(day));
    const left = PAGE_ITEMS + 1 - found.length;
    found.push(...(await own.selectAll("t").orderBy("t.txnId").limit(left).execute()));
    const beyond = found[PAGE_ITEMS];
    if (beyond !== undefined)
      return { topUps: await withReversals(db, found.slice(0, -1)), rest: { day, least: beyond.txnId } };
  }
  const rest = day < to ? { day: dayAfter(day), least: "" } : undefined;
  return { topUps: await withReversals(db, found), rest };
}

async function withReversals(db: Db, rows: readonly TopUpRow[]): Promise<OwnTopUp[]> {
  const txnIds = rows.filter(({ status }) => status === "reversed").map(({ txnId }) => txnId);
  const reversals = db.selectFrom("reversal").select(["txnId", "wall"]).where("txnId", "in", txnIds);
  const times = new Map((txnIds.length === 0 ? [] : await reversals.execute()).map(({ txnId, wall }) => [txnId, wall]));
  return rows.map((row) => ({ transaction: transactionOfRow(row), reversedAt: times.get(row.txnId) }));
}

export interface OwnEntryPage {
  readonly entries: readonly AccountEntry[];
  /** Undefined if there is no rest. */
  readonly rest: EntriesRest | undefined;
}

/**
 * @param after the rest of the previous page.
 * @param isOfDay whether a page has the entries of one day at most, as for partners.
 */
export async function readOwnEntries(
  db: Db,
  zone: Zone,
  key: AccountKey,
  { from, to }: OwnDays,
  after: EntriesRest | undefined,
  isOfDay: boolean,
): Promise<OwnEntryPage> {
  const found: AccountEntry[] = [];
  const firstDay = after?.day ?? from;
  for await (const { day, least, entries } of readEntries(db, zone, key, { from, to }, after, STEP_ROWS)) {
    const isOver = isOfDay && day > firstDay;
    if (!isOver) found.push(...entries);
    if (!isOver && found.length <= PAGE_ITEMS) continue;
    const page = found.slice(0, PAGE_ITEMS);
    const last = page.at(-1);
    return { entries: page, rest: { day, least, last: last === undefined ? after?.last : placeOf(last) } };
  }
  return { entries: found, rest: undefined };
}
