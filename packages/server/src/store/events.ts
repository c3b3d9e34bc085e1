import type { Alert } from "../domain/alert.ts";
import type { Attribution } from "../domain/audit.ts";
import type { AlertEvent, ConnectionEvent, NewEvent, RecordedEvent } from "../domain/event.ts";
import { portionsOf } from "../domain/portions.ts";
import type { Target, WaitingDelivery } from "../domain/target.ts";
import { targetPausedSet } from "../domain/target-audit.ts";
import { appendAudits } from "./audit.ts";
import { type Db, type Engine, withRawNames } from "./engine.ts";
import { flag } from "./rows.ts";
import type { DeliveryRow, EventRow, RawRow, TargetRow } from "./tables.ts";

/** Events in one statement, whose parameters are limited. */
const ROWS_AT_ONCE = 500;

/**
 * Writes events if the provider has a target. Must be called last in a transaction, after its audit entry if it has one: adding a
 * target writes one too, so that a change cannot miss a target that was added before it.
 */
export async function appendEvents(engine: Engine, tx: Db, events: readonly NewEvent[]): Promise<void> {
  if (events.length === 0 || !(await hasTarget(tx))) return;
  await engine.lockEvents(tx);
  const last = await lastEvent(tx);
  const rows = events.map((event, index) => ({ seq: last + index + 1, ...eventRow(event) }));
  for (const some of portionsOf(rows, ROWS_AT_ONCE)) await withRawNames(tx).insertInto("event").values(some).execute();
}

/** Whether the provider has a target. */
export async function hasTarget(db: Db): Promise<boolean> {
  const systems = db.selectFrom("target").select("id").where("partnerId", "is", null);
  return (await systems.limit(1).executeTakeFirst()) !== undefined;
}

/** The number of the last event. */
export async function lastEvent(db: Db): Promise<number> {
  const query = db.selectFrom("event").select((eb) => eb.fn.max("seq").as("last"));
  return Number((await query.executeTakeFirst())?.last ?? 0);
}

/** The events after a number, in order. */
export async function eventsAfter(db: Db, seq: number, limit: number): Promise<RecordedEvent[]> {
  const rows = await withNames(db).where("e.seq", ">", seq).limit(limit).execute();
  return rows.map(toRecordedEvent);
}

/** Events by their numbers. */
export async function eventsOf(db: Db, seqs: readonly number[]): Promise<RecordedEvent[]> {
  if (seqs.length === 0) return [];
  const rows = await withNames(db).where("e.seq", "in", seqs).execute();
  return rows.map(toRecordedEvent);
}

function withNames(db: Db) {
  const events = db.selectFrom("event as e").leftJoin("partner as p", "p.id", "e.partnerId");
  return events.selectAll("e").select("p.name as partner").orderBy("e.seq");
}

/** The row of a new event, for hand-written SQL too. The store gives it its number. */
export function eventRow(event: NewEvent): Omit<RawRow<"event">, "seq"> {
  if ("alert" in event) return alertRow(event);
  const { kind, at, key, state, topUp, repeated } = event;
  const { environment, cuid, service, reqId: req_id } = key;
  const { txnId, checkoutId, bouquetCode } = topUp ?? {};
  const money = topUp && { amount: Number(topUp.amount), commission: Number(topUp.commission) };
  const json = JSON.stringify({ ...state, txnId, checkoutId, bouquetCode, ...money, repeated });
  return { kind, at, environment, cuid, service, req_id, partner_id: topUp?.partnerId ?? null, state: json };
}

/** Alerts name no connection. */
function alertRow({ kind, at, alert }: AlertEvent): Omit<RawRow<"event">, "seq"> {
  const { environment, partnerId, limit, low } = alert;
  const state = JSON.stringify({
    limit,
    low: low && { balance: Number(low.balance), below: Number(low.below) },
  });
  return { kind, at, environment, cuid: null, service: null, req_id: null, partner_id: partnerId, state };
}

type FoundRow = EventRow & { readonly partner: string | null };

function toRecordedEvent(row: FoundRow): RecordedEvent {
  const { seq, at, environment, cuid, service, reqId, partnerId } = row;
  const partner = row.partner ?? undefined;
  if (cuid === null || service === null || reqId === null) {
    const { limit, low } = JSON.parse(row.state);
    const kind = row.kind as Alert["kind"];
    const details = {
      limit,
      low: low && { balance: BigInt(low.balance), below: BigInt(low.below) },
    };
    return { seq, kind, at, partner, alert: { kind, at, environment, partnerId: partnerId as number, ...details } };
  }
  const kind = row.kind as ConnectionEvent["kind"];
  const { blocked, subscriptions, was, repeated, ...sold } = JSON.parse(row.state);
  const { txnId, checkoutId, bouquetCode, amount, commission } = sold;
  const topUp =
    partnerId === null
      ? undefined
      : { txnId, checkoutId, partnerId, bouquetCode, amount: BigInt(amount), commission: BigInt(commission) };
  const key = { environment, cuid, service, reqId };
  const state = { blocked, subscriptions, ...(was && { was }) };
  return { seq, kind, at, key, state, topUp, partner, ...(repeated && { repeated }) };
}

/** All targets, also webhooks of partners. */
export async function listTargets(db: Db): Promise<Target[]> {
  return (await db.selectFrom("target").selectAll().orderBy("id").execute()).map(toTarget);
}

/** Pauses all running targets, inside a transaction. @returns their names. */
export async function pauseTargets(engine: Engine, tx: Db, by: Attribution): Promise<string[]> {
  const running = (await listTargets(tx)).filter(({ paused }) => !paused);
  await tx.updateTable("target").set({ paused: 1 }).execute();
  const audits = running.map((target) => targetPausedSet(target, true));
  if (audits.length > 0) await appendAudits(engine, tx, audits, by);
  return running.map(({ name }) => name);
}

/** The number of the last event that was sent to a target. Failed events up to it wait. */
export async function placeOf(db: Db, id: number): Promise<number> {
  return (await db.selectFrom("target").select("place").where("id", "=", id).executeTakeFirst())?.place ?? 0;
}

/** The waiting deliveries of a target, in the order of their events. */
export function deliveries(db: Db, targetId: number) {
  return db.selectFrom("delivery").selectAll().where("targetId", "=", targetId).orderBy("seq");
}

export async function putDelivery(tx: Db, targetId: number, waiting: WaitingDelivery): Promise<void> {
  const { seq, attempts, failedAt = null, nextAt, setAside, problem = null } = waiting;
  const changes = { attempts, failedAt, nextAt, setAside: flag(setAside), problem };
  await tx
    .insertInto("delivery")
    .values({ targetId, seq, ...changes })
    .onConflict((on) => on.columns(["targetId", "seq"]).doUpdateSet(changes))
    .execute();
}

export function toTarget({ place: _, keyHash: __, partnerId, environment, ...row }: TargetRow): Target {
  return {
    ...row,
    partner: partnerId === null || environment === null ? undefined : { partnerId, environment },
    config: JSON.parse(row.config),
    secrets: JSON.parse(row.secrets),
    billing: row.billing === 1,
    paused: row.paused === 1,
    gone: row.gone === 1,
    resentAt: row.resentAt ?? undefined,
  };
}

export function toWaiting({ targetId: _, ...row }: DeliveryRow): WaitingDelivery {
  const { failedAt, setAside, problem } = row;
  return { ...row, failedAt: failedAt ?? undefined, setAside: setAside === 1, problem: problem ?? undefined };
}
