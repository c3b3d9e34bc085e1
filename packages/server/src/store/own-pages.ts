import type { Kysely } from "kysely";
import type { AccountEntry, AccountKey } from "../domain/account.ts";
import { firstTransactionId, type Transaction } from "../domain/top-up.ts";
import type { Instant, WallTime, Zone } from "../domain/wall-time.ts";
import { type EntriesRest, placeOf, readEntries } from "./account-entries.ts";
import { ofAccount } from "./account-sums.ts";
import { transactionOfRow } from "./rows.ts";
import type { Tables, TopUpRow } from "./tables.ts";
import { inRange, stepsOf, topUps } from "./top-up-ranges.ts";

/*
 * Pages of one partner's rows, oldest first. The top-ups of all partners share an index, so a page reads a limited number
 * of them, and can be empty and still have a rest.
 */

type Db = Kysely<Tables>;

const PAGE_ITEMS = 200;
/** Steps of a page, and top-ups of all partners that a step may read. */
const PAGE_STEPS = 5;
const STEP_ROWS = 1_000;

/** Days of the provider's clock, both included, and all instants that they may contain. */
export interface OwnDays {
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

/** @param place the rest of the previous page. */
export async function readOwnTopUps(
  db: Db,
  key: AccountKey,
  { from, to, start, end }: OwnDays,
  place = "",
): Promise<OwnTopUpPage> {
  const first = firstTransactionId(start);
  const range = { least: place > first ? place : first, beyond: firstTransactionId(end) };
  const found: TopUpRow[] = [];
  let steps = 0;
  for await (const step of stepsOf(db, range, "asc", "txnId", STEP_ROWS)) {
    if (steps === PAGE_STEPS) return { topUps: await withReversals(db, found), rest: step.least };
    steps += 1;
    const own = ofAccount(inRange(topUps(db), step), key)
      .where("t.txnDate", ">=", from)
      .where("t.txnDate", "<=", `${to} 23:59:59`);
    const left = PAGE_ITEMS + 1 - found.length;
    found.push(...(await own.selectAll("t").orderBy("t.txnId").limit(left).execute()));
    const beyond = found[PAGE_ITEMS];
    if (beyond !== undefined) return { topUps: await withReversals(db, found.slice(0, -1)), rest: beyond.txnId };
  }
  return { topUps: await withReversals(db, found), rest: undefined };
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
 * @param mostSteps how many steps a page may have before it ends early.
 */
export async function readOwnEntries(
  db: Db,
  zone: Zone,
  key: AccountKey,
  { from, to }: Pick<OwnDays, "from" | "to">,
  after: EntriesRest | undefined,
  mostSteps = PAGE_STEPS,
): Promise<OwnEntryPage> {
  const found: AccountEntry[] = [];
  let steps = 0;
  for await (const { day, least, entries } of readEntries(db, zone, key, { from, to }, after, STEP_ROWS)) {
    if (steps < mostSteps) found.push(...entries);
    if (steps === mostSteps || found.length > PAGE_ITEMS) {
      const page = found.slice(0, PAGE_ITEMS);
      const last = page.at(-1);
      return { entries: page, rest: { day, least, last: last === undefined ? after?.last : placeOf(last) } };
    }
    steps += 1;
  }
  return { entries: found, rest: undefined };
}
