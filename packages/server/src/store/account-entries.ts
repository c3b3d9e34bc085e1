import { type AccountEntry, type AccountKey, chargeOf, type StaffEntry } from "../domain/account.ts";
import { firstTransactionId } from "../domain/transaction.ts";
import { dayAfter, type Instant, type Zone } from "../domain/wall-time.ts";
import type { Db } from "./engine.ts";
import { type OwnDays, ownTopUps, PAGE_ITEMS, timesOf } from "./own-pages.ts";
import { transactionOfRow } from "./rows.ts";

/* The entries of an account in pages. Each page reads rows of this account only, by their indexes. */

/** The place of an entry in its account. Entries of the same time are ordered by kind, then by id. */
export interface EntryPlace {
  readonly at: Instant;
  readonly rank: number;
  /** The txnId, or the reference. */
  readonly id: string;
}

export interface EntryPage {
  readonly entries: readonly AccountEntry[];
  /** The place of the last entry; undefined if no entries follow. */
  readonly rest: EntryPlace | undefined;
}

const [BY_STAFF, TOP_UP, REVERSAL] = [0, 1, 2];

export function placeOf(entry: AccountEntry): EntryPlace {
  const { kind, at } = entry;
  if (!("of" in entry)) return { at, rank: BY_STAFF, id: entry.reference };
  return { at, rank: kind === "top_up" ? TOP_UP : REVERSAL, id: entry.of.txnId };
}

function comparePlaces(a: EntryPlace, b: EntryPlace): number {
  return a.at - b.at || a.rank - b.rank || (a.id === b.id ? 0 : a.id < b.id ? -1 : 1);
}

/**
 * A page of the entries of some days, oldest first.
 * @param after goes on after this place: the rest of the previous page.
 */
export async function readEntries(
  db: Db,
  zone: Zone,
  key: AccountKey,
  days: OwnDays,
  after: EntryPlace = { at: timesOf(zone, days).from, rank: BY_STAFF, id: "" },
  mostItems = PAGE_ITEMS,
): Promise<EntryPage> {
  const most = mostItems + 1;
  const found = [
    ...(await readByStaff(db, key, days)).filter((entry) => comparePlaces(placeOf(entry), after) > 0),
    ...(await topUps(db, zone, key, days, after, most)),
    ...(await reversals(db, zone, key, days, after, most)),
  ];
  found.sort((a, b) => comparePlaces(placeOf(a), placeOf(b)));
  const entries = found.slice(0, mostItems);
  const last = entries.at(-1);
  return { entries, rest: last === undefined || found.length < most ? undefined : placeOf(last) };
}

/** The entries by staff of some days, oldest first. An account has few of them. Engines may order references in another way. */
export async function readByStaff(
  db: Db,
  { partnerId, environment }: AccountKey,
  { from, to }: OwnDays,
): Promise<StaffEntry[]> {
  const rows = db.selectFrom("accountEntry").selectAll().where("partnerId", "=", partnerId);
  const own = rows.where("environment", "=", environment).where("wall", ">=", from).where("wall", "<", dayAfter(to));
  const entries = (await own.execute()).map((row): StaffEntry => ({ ...row, amount: BigInt(row.amount) }));
  return entries.sort((a, b) => comparePlaces(placeOf(a), placeOf(b)));
}

async function topUps(db: Db, zone: Zone, key: AccountKey, days: OwnDays, after: EntryPlace, most: number) {
  const { at, rank, id } = after;
  const least = rank === TOP_UP ? id : firstTransactionId(rank < TOP_UP ? at : at + 1);
  const rows = await ownTopUps(db, zone, key, days, least, most);
  return rows.map((row): AccountEntry => {
    const of = transactionOfRow(row);
    const { partnerId, environment } = of;
    return { kind: "top_up", partnerId, environment, amount: -chargeOf(of), of, at: of.at, wall: of.txnDate };
  });
}

async function reversals(db: Db, zone: Zone, key: AccountKey, days: OwnDays, after: EntryPlace, most: number) {
  const { partnerId, environment } = key;
  const id = after.rank === REVERSAL ? after.id : "";
  const rows = await db
    .selectFrom("reversal as r")
    .innerJoin("topUp as t", "t.txnId", "r.txnId")
    .selectAll("t")
    .select(["r.at as reversedAt", "r.wall as reversedWall"])
    .where("r.partnerId", "=", partnerId)
    .where("r.environment", "=", environment)
    .where((eb) => eb(eb.refTuple("r.at", "r.txnId"), ">", eb.tuple(after.at, id)))
    .where("r.at", "<", timesOf(zone, days).until)
    .where("r.wall", ">=", days.from)
    .where("r.wall", "<", dayAfter(days.to))
    // The same again, for PostgreSQL: see own-pages.ts.
    .where((eb) =>
      eb(eb.refTuple("r.partnerId", "r.environment", "r.at"), ">=", eb.tuple(partnerId, environment, after.at)),
    )
    .orderBy("r.at")
    .orderBy("r.txnId")
    .limit(most)
    .execute();
  return rows.map(({ reversedAt: at, reversedWall: wall, ...row }): AccountEntry => {
    const of = transactionOfRow(row);
    return { kind: "reversal", partnerId, environment, amount: chargeOf(of), of, at, wall };
  });
}
