import type { Kysely } from "kysely";
import type { NewEvent, RecordedEvent } from "../domain/event.ts";
import { portionsOf } from "../domain/portions.ts";
import { type Engine, withRawNames } from "./engine.ts";
import type { EventRow, Raw, Tables } from "./tables.ts";

type Db = Kysely<Tables>;

/** How many events go into one statement: its parameters are limited. */
const ROWS_AT_ONCE = 500;

/**
 * Writes events, where anybody is to be told of them. To be called last in a transaction: whoever adds a target has its
 * entry in the audit trail too, so that no change misses a target that was there before it.
 */
export async function appendEvents(engine: Engine, tx: Db, events: readonly NewEvent[]): Promise<void> {
  if (events.length === 0 || !(await hasTarget(tx))) return;
  await engine.lockEvents(tx);
  const last = await lastEvent(tx);
  const rows = events.map((event, index) => ({ seq: last + index + 1, ...eventRow(event) }));
  for (const some of portionsOf(rows, ROWS_AT_ONCE)) await withRawNames(tx).insertInto("event").values(some).execute();
}

export async function hasTarget(db: Db): Promise<boolean> {
  return (await db.selectFrom("target").select("id").limit(1).executeTakeFirst()) !== undefined;
}

/** The number of the last event that was ever written. */
export async function lastEvent(db: Db): Promise<number> {
  const query = db.selectFrom("event").select((eb) => eb.fn.max("seq").as("last"));
  return Number((await query.executeTakeFirst())?.last ?? 0);
}

/** Those after a number, in their order. */
export async function eventsAfter(db: Db, seq: number, limit: number): Promise<RecordedEvent[]> {
  const rows = await events(db).where("e.seq", ">", seq).orderBy("e.seq").limit(limit).execute();
  return rows.map(toRecordedEvent);
}

export async function eventsOf(db: Db, seqs: readonly number[]): Promise<RecordedEvent[]> {
  if (seqs.length === 0) return [];
  return (await events(db).where("e.seq", "in", seqs).orderBy("e.seq").execute()).map(toRecordedEvent);
}

function events(db: Db) {
  return db
    .selectFrom("event as e")
    .leftJoin("partner as p", "p.id", "e.partnerId")
    .selectAll("e")
    .select("p.name as partner");
}

export const EVENT_COLUMNS = [
  "seq",
  "kind",
  "at",
  "environment",
  "cuid",
  "service",
  "req_id",
  "partner_id",
  "state",
] as const satisfies readonly (keyof Raw<EventRow>)[];

/** The row of a new event, for hand-written SQL too. The store gives it its number. */
export function eventRow({ kind, at, key, state, topUp }: NewEvent): Omit<Raw<EventRow>, "seq"> {
  const { environment, cuid, service, reqId: req_id } = key;
  const { txnId, checkoutId, bouquetCode, amount } = topUp ?? {};
  const json = JSON.stringify({ ...state, txnId, checkoutId, bouquetCode, amount: amount && Number(amount) });
  return { kind, at, environment, cuid, service, req_id, partner_id: topUp?.partnerId ?? null, state: json };
}

function toRecordedEvent(row: EventRow & { readonly partner: string | null }): RecordedEvent {
  const { seq, kind, at, environment, cuid, service, reqId, partnerId, partner } = row;
  const { blocked, subscriptions, txnId, checkoutId, bouquetCode, amount } = JSON.parse(row.state);
  const topUp = partnerId === null ? undefined : { txnId, checkoutId, partnerId, bouquetCode, amount: BigInt(amount) };
  const key = { environment, cuid, service, reqId };
  return { seq, kind, at, key, state: { blocked, subscriptions }, topUp, partner: partner ?? undefined };
}
