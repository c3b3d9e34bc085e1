import { type AccountEntry, type AccountKey, chargeOf } from "../domain/account.ts";
import { settledRange } from "../domain/settlement.ts";
import { firstTransactionId, type Transaction } from "../domain/transaction.ts";
import { dayAfter, type Instant, type Zone } from "../domain/wall-time.ts";
import type { Db } from "./engine.ts";
import { transactionOfRow } from "./rows.ts";
import { inRange, ofAccount, rangeOf, stepsOf, TIME_DIGITS, topUps } from "./top-up-ranges.ts";

/** The place of an entry in its account. Entries of the same time are ordered by kind, then by id. */
export interface EntryPlace {
  readonly at: Instant;
  readonly rank: number;
  /** The txnId, or the reference. */
  readonly id: string;
}

/** A place from which {@link readEntries} continues. */
export interface EntriesRest {
  readonly day: string;
  /** No top-up before this txnId is left. */
  readonly least: string;
  /** The last entry that was read; undefined if there was none. */
  readonly last: EntryPlace | undefined;
}

/** Some entries, in their order; maybe none. A step reads a bounded number of top-ups. */
export interface EntriesStep {
  readonly day: string;
  readonly least: string;
  readonly entries: readonly AccountEntry[];
}

export function placeOf(entry: AccountEntry): EntryPlace {
  const { kind, at } = entry;
  if (!("of" in entry)) return { at, rank: 0, id: entry.reference };
  return { at, rank: kind === "top_up" ? 1 : 2, id: entry.of.txnId };
}

export function comparePlaces(a: EntryPlace, b: EntryPlace): number {
  return a.at - b.at || a.rank - b.rank || (a.id === b.id ? 0 : a.id < b.id ? -1 : 1);
}

/**
 * The entries of an account from one day to another, both included, oldest first.
 * @param after goes on after this place.
 * @param stepRows top-ups that a step reads.
 */
export async function* readEntries(
  db: Db,
  zone: Zone,
  key: AccountKey,
  { from, to }: { readonly from: string; readonly to: string },
  after?: EntriesRest,
  stepRows?: number,
): AsyncGenerator<EntriesStep> {
  const isLeft = (entry: AccountEntry) => after?.last === undefined || comparePlaces(placeOf(entry), after.last) > 0;
  for (let day = after?.day ?? from; day <= to; day = dayAfter(day)) {
    const times = settledRange(day, zone);
    if (times === undefined) continue;
    const { least, beyond } = rangeOf(times.from, times.until);
    const begin = after?.day === day && after.least > least ? after.least : least;
    let others = [...(await byStaff(db, key, day)), ...(await reversals(db, key, day))];
    others.sort((a, b) => comparePlaces(placeOf(a), placeOf(b)));
    for await (const step of stepsOf(db, { least: begin, beyond }, "asc", "txnId", stepRows, key)) {
      // Top-ups of the same time may be in the next step.
      const isDue = ({ at }: AccountEntry) => firstTransactionId(at) < step.beyond.slice(0, TIME_DIGITS);
      const due = others.filter(isDue);
      others = others.slice(due.length);
      const rows = ofAccount(inRange(topUps(db), step), key).where("t.txnDate", ">=", day);
      const sold = await rows.where("t.txnDate", "<", dayAfter(day)).selectAll("t").orderBy("t.txnId").execute();
      const entries = [...due, ...sold.map((row) => topUpEntry(transactionOfRow(row)))];
      entries.sort((a, b) => comparePlaces(placeOf(a), placeOf(b)));
      yield { day, least: step.least, entries: entries.filter(isLeft) };
    }
  }
}

function topUpEntry(of: Transaction): AccountEntry {
  const { partnerId, environment, at, txnDate: wall } = of;
  return { kind: "top_up", partnerId, environment, amount: -chargeOf(of), of, at, wall };
}

async function byStaff(db: Db, { partnerId, environment }: AccountKey, day: string): Promise<AccountEntry[]> {
  const rows = db.selectFrom("accountEntry").selectAll().where("partnerId", "=", partnerId);
  const ofDay = rows.where("environment", "=", environment).where("wall", ">=", day).where("wall", "<", dayAfter(day));
  return (await ofDay.execute()).map((row) => ({ ...row, amount: BigInt(row.amount) }));
}

async function reversals(db: Db, { partnerId, environment }: AccountKey, day: string): Promise<AccountEntry[]> {
  const rows = await db
    .selectFrom("reversal as r")
    .innerJoin("topUp as t", "t.txnId", "r.txnId")
    .selectAll("t")
    .select(["r.at as reversedAt", "r.wall as reversedWall"])
    .where("r.partnerId", "=", partnerId)
    .where("r.environment", "=", environment)
    .where("r.wall", ">=", day)
    .where("r.wall", "<", dayAfter(day))
    .execute();
  return rows.map(({ reversedAt: at, reversedWall: wall, ...row }) => {
    const of = transactionOfRow(row);
    return { kind: "reversal", partnerId, environment, amount: chargeOf(of), of, at, wall };
  });
}
