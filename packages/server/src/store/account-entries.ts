import { type AccountEntry, type AccountKey, chargeOf, type StaffEntry } from "../domain/account.ts";
import { firstTransactionId } from "../domain/transaction.ts";
import { dayAfter, type Instant, type Zone } from "../domain/wall-time.ts";
import type { Db } from "./engine.ts";
import { type OwnDays, type OwnPage, ownTopUps, PAGE_ITEMS, timesOf } from "./own-pages.ts";
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
 * A page of the entries of some days.
 * @param asked `after` goes on after this place: the rest of the previous page. `order` is "asc" (oldest first) by default.
 */
export async function readEntries(
  db: Db,
  zone: Zone,
  key: AccountKey,
  days: OwnDays,
  { order = "asc", most = PAGE_ITEMS, ...asked }: Partial<OwnPage<EntryPlace>> = {},
): Promise<EntryPage> {
  const { from, until } = timesOf(zone, days);
  const { after = { at: order === "asc" ? from : until, rank: BY_STAFF, id: "" } } = asked;
  const compare = (a: EntryPlace, b: EntryPlace) => (order === "asc" ? comparePlaces(a, b) : comparePlaces(b, a));
  const page = { after, order, most: most + 1 };
  const found = [
    ...(await readByStaff(db, key, days)).filter((entry) => compare(placeOf(entry), after) > 0),
    ...(await topUps(db, zone, key, days, page)),
    ...(await reversals(db, zone, key, days, page)),
  ];
  found.sort((a, b) => compare(placeOf(a), placeOf(b)));
  const entries = found.slice(0, most);
  const last = entries.at(-1);
  return { entries, rest: last === undefined || found.length <= most ? undefined : placeOf(last) };
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

/** An entry by staff; undefined if there is none with this reference. */
export async function findEntry(db: Db, key: AccountKey, reference: string): Promise<StaffEntry | undefined> {
  return (await findEntries(db, key, [reference]))[0];
}

/** Entries by staff, by their references. */
export async function findEntries(db: Db, key: AccountKey, references: readonly string[]): Promise<StaffEntry[]> {
  if (references.length === 0) return [];
  const { partnerId, environment } = key;
  const rows = db
    .selectFrom("accountEntry")
    .selectAll()
    .where((eb) => eb.and({ partnerId, environment }))
    .where("reference", "in", references);
  return (await rows.execute()).map((row) => ({ ...row, amount: BigInt(row.amount) }));
}

async function topUps(db: Db, zone: Zone, key: AccountKey, days: OwnDays, page: OwnPage<EntryPlace>) {
  const { at, rank, id } = page.after;
  const after = rank === TOP_UP ? id : firstTransactionId(rank < TOP_UP ? at : at + 1);
  const rows = await ownTopUps(db, zone, key, days, { ...page, after });
  return rows.map((row): AccountEntry => {
    const of = transactionOfRow(row);
    const { partnerId, environment } = of;
    return { kind: "top_up", partnerId, environment, amount: -chargeOf(of), of, at: of.at, wall: of.txnDate };
  });
}

async function reversals(db: Db, zone: Zone, key: AccountKey, days: OwnDays, page: OwnPage<EntryPlace>) {
  const { partnerId, environment } = key;
  const { after, order, most } = page;
  const { from, until } = timesOf(zone, days);
  const id = after.rank === REVERSAL ? after.id : "";
  const rows = await db
    .selectFrom("reversal as r")
    .innerJoin("topUp as t", "t.txnId", "r.txnId")
    .selectAll("t")
    .select(["r.at as reversedAt", "r.wall as reversedWall"])
    .where("r.partnerId", "=", partnerId)
    .where("r.environment", "=", environment)
    .where((eb) => eb(eb.refTuple("r.at", "r.txnId"), order === "asc" ? ">" : "<", eb.tuple(after.at, id)))
    .where("r.at", ">=", from)
    .where("r.at", "<", until)
    .where("r.wall", ">=", days.from)
    .where("r.wall", "<", dayAfter(days.to))
    // The same again, for PostgreSQL: see own-pages.ts.
    .where((eb) =>
      eb(
        eb.refTuple("r.partnerId", "r.environment", "r.at"),
        order === "asc" ? ">=" : "<=",
        eb.tuple(partnerId, environment, after.at),
      ),
    )
    .orderBy("r.at", order)
    .orderBy("r.txnId", order)
    .limit(most)
    .execute();
  return rows.map(({ reversedAt: at, reversedWall: wall, ...row }): AccountEntry => {
    const of = transactionOfRow(row);
    return { kind: "reversal", partnerId, environment, amount: chargeOf(of), of, at, wall };
  });
}
