import { sql } from "kysely";
import { type ConnectionKey, ENVIRONMENTS } from "../domain/customer.ts";
import {
  changedFrom,
  EVENTS_KEPT_MS,
  eventOf,
  type NewEvent,
  type RecordedEvent,
  standingOf,
  TEST_SEQ,
} from "../domain/event.ts";
import { portionsOf } from "../domain/portions.ts";
import type { ServiceStep } from "../domain/service-step.ts";
import type { ToldUser } from "../domain/sessions.ts";
import { LOG_KEPT_MS, type LoggedAttempt, type Target, type WaitingDelivery } from "../domain/target.ts";
import { type Instant, secondBefore, type WallTime } from "../domain/wall-time.ts";
import { CONNECTION_KEY, findConnectionsWithHeads } from "./customers.ts";
import { logAttempts } from "./delivery-log.ts";
import type { Db, Engine } from "./engine.ts";
import {
  appendEvents,
  deliveries,
  eventsAfter,
  eventsOf,
  lastEvent,
  listTargets,
  placeOf,
  putDelivery,
  toTarget,
  toWaiting,
} from "./events.ts";
import { flag } from "./rows.ts";
import { putSteps } from "./service-steps.ts";
import { tellUsers } from "./sessions-due.ts";
import { putOnlyRow } from "./settings.ts";

/* The outbox: events are written in the transactions of their changes if there is a target, and kept until all have them. */

/** Rows that one statement names. */
const ROWS_AT_ONCE = 500;
/** Events that are deleted together. */
const FORGOTTEN_AT_ONCE = 1_000;

export interface HeldLease {
  readonly lease: string;
  readonly holder: string;
}

export interface SavedProgress extends HeldLease {
  readonly targetId: number;
  readonly place: number;
  /** Deliveries to insert or replace. */
  readonly waiting: readonly WaitingDelivery[];
  /** The numbers of events that no longer wait. */
  readonly done: readonly number[];
  /** Whether the target wants no more events: it is paused. */
  readonly isGone?: boolean;
  /** The last event of each connection that was sent since the previous save. */
  readonly steps: readonly ServiceStep[];
  /** The last attempts since the previous save. */
  readonly logged: readonly LoggedAttempt[];
  /** Users of RADIUS whose sessions may have to end; none of other targets. */
  readonly users?: readonly ToldUser[];
}

/** The moment at which a subscription of a connection begins or ends. */
export interface ConnectionTurn {
  readonly key: ConnectionKey;
  readonly kind: "start" | "end";
  readonly at: WallTime;
}

/** `toldUntil`: the time up to which all turns have events by then. */
export interface TurnsTold {
  readonly at: Instant;
  readonly toldUntil: WallTime;
}

/** The turns in a portion of some thousand subscriptions. */
export interface TurnsPage {
  readonly turns: readonly ConnectionTurn[];
  /** Last connection of this portion; undefined after the last portion. */
  readonly next: ConnectionKey | undefined;
}

export type Outbox = ReturnType<typeof outboxOf>;

/** The workers' reads and writes. Only the holder of a target's lease may deliver to the target. */
export function outboxOf(engine: Engine) {
  const { db } = engine;
  return {
    hold: (lease: string, holder: string, now: Instant, until: Instant) => holdLease(engine, lease, holder, now, until),
    release: (lease: string, holder: string): Promise<void> =>
      engine.transact(async (tx) => {
        await tx.deleteFrom("lease").where("name", "=", lease).where("holder", "=", holder).execute();
      }),
    /** The provider's targets, and the webhooks of partners. */
    targets: (): Promise<readonly Target[]> => listTargets(db),
    place: (targetId: number) => placeOf(db, targetId),
    async waiting(targetId: number): Promise<readonly WaitingDelivery[]> {
      return (await deliveries(db, targetId).execute()).map(toWaiting);
    },
    eventsAfter: (seq: number, limit: number): Promise<readonly RecordedEvent[]> => eventsAfter(db, seq, limit),
    eventsOf: (seqs: readonly number[]): Promise<readonly RecordedEvent[]> => eventsOf(db, seqs),
    lastEvent: () => lastEvent(db),
    saveProgress: (progress: SavedProgress) => saveProgress(engine, progress),
    forget: (now: Instant) => forgetEvents(engine, now),
    /** Events for turns were written up to this wall time; undefined if none was. */
    async turnsToldUntil(): Promise<WallTime | undefined> {
      return (await db.selectFrom("endsTold").select("toldUntil").executeTakeFirst())?.toldUntil;
    },
    /** A portion of the connections whose subscription begins or ends in a span. @param beyond the last portion's `next`. */
    async turnsBetween(after: WallTime, until: WallTime, beyond: ConnectionKey | undefined): Promise<TurnsPage> {
      const next = await boundAfter(db, beyond);
      return { turns: await turnsWithin(db, { after, until }, { from: beyond, upTo: next }), next };
    },
    tellTurns: (turns: readonly ConnectionTurn[], told: TurnsTold, lease: HeldLease) =>
      tellTurns(engine, turns, told, lease),
  };
}

/** How far the clock of a holder may be ahead. A lease that ends later was taken before a clock was set back. */
const MOST_AHEAD_MS = 60_000;

/** Takes a free lease, or extends it. @returns whether this holder has it now. */
async function holdLease(engine: Engine, name: string, holder: string, now: Instant, until: Instant): Promise<boolean> {
  const latest = until + MOST_AHEAD_MS;
  const held = await engine.db.selectFrom("lease").selectAll().where("name", "=", name).executeTakeFirst();
  const isFree = held === undefined || held.heldUntil <= now || held.heldUntil > latest;
  if (!isFree && held.holder !== holder) return false;
  return engine.transact(async (tx) => {
    // If two processes find it free at once, the second is refused here.
    const { numInsertedOrUpdatedRows } = await tx
      .insertInto("lease")
      .values({ name, holder, heldUntil: until })
      .onConflict((on) =>
        on
          .column("name")
          .doUpdateSet({ holder, heldUntil: until })
          .where((eb) =>
            eb.or([
              eb("lease.holder", "=", holder),
              eb("lease.heldUntil", "<=", now),
              eb("lease.heldUntil", ">", latest),
            ]),
          ),
      )
      .executeTakeFirst();
    return Number(numInsertedOrUpdatedRows) === 1;
  });
}

/** Records how far a target is. @returns false, and writes nothing, if another process has the lease by now. */
function saveProgress(
  engine: Engine,
  { targetId, place, waiting, done, steps, logged, users = [], isGone, lease, holder }: SavedProgress,
): Promise<boolean> {
  return engine.transact(async (tx) => {
    if ((await engine.holderOf(tx, lease)) !== holder) return false;
    const values = { place, ...(isGone === true && { paused: flag(true), gone: flag(true) }) };
    const moved = await tx.updateTable("target").set(values).where("id", "=", targetId).executeTakeFirst();
    // The target was removed meanwhile.
    if (Number(moved.numUpdatedRows) === 0) return false;
    for (const some of portionsOf(done, ROWS_AT_ONCE))
      await tx.deleteFrom("delivery").where("targetId", "=", targetId).where("seq", "in", some).execute();
    for (const each of waiting) await putDelivery(tx, targetId, each);
    for (const some of portionsOf(steps, ROWS_AT_ONCE)) await putSteps(tx, targetId, some);
    await logAttempts(tx, targetId, logged);
    await tellUsers(tx, targetId, users);
    return true;
  });
}

/** Deletes old logged attempts, and some events that every target has, or that are old. @returns the number of events. */
function forgetEvents(engine: Engine, now: Instant): Promise<number> {
  return engine.transact(async (tx) => {
    await tx
      .deleteFrom("deliveryLog")
      .where("at", "<", now - LOG_KEPT_MS)
      .execute();
    const neededFrom = await firstNeeded(tx, now - EVENTS_KEPT_MS);
    const some = tx.selectFrom("event").select("seq").where("seq", "<", neededFrom).orderBy("seq");
    const last = (await some.limit(FORGOTTEN_AT_ONCE).execute()).at(-1)?.seq;
    if (last === undefined) return 0;
    await tx.deleteFrom("delivery").where("seq", "<=", last).execute();
    const logs = tx.deleteFrom("deliveryLog").where("targetId", "in", systems(tx).select("id"));
    await logs.where("seq", "<=", last).where("seq", ">", TEST_SEQ).execute();
    const { numDeletedRows } = await tx.deleteFrom("event").where("seq", "<=", last).executeTakeFirst();
    return Number(numDeletedRows);
  });
}

/** The provider's targets, which are told of events. */
function systems(tx: Db) {
  return tx.selectFrom("target").where("partnerId", "is", null);
}

/**
 * Writes an event for each connection that still has a subscription with this start or end, and records the time up to which
 * turns have events. @returns false, and writes nothing, if another process has the lease by now.
 */
function tellTurns(
  engine: Engine,
  turns: readonly ConnectionTurn[],
  { at, toldUntil }: TurnsTold,
  { lease, holder }: HeldLease,
): Promise<boolean> {
  return engine.transact(async (tx) => {
    if ((await engine.holderOf(tx, lease)) !== holder) return false;
    await engine.lockCustomers(tx, customersOf(turns));
    const events: NewEvent[] = [];
    for (const environment of ENVIRONMENTS) {
      const its = turns.filter(({ key }) => key.environment === environment);
      const cuids = customersOf(its).map(({ cuid }) => cuid);
      const connections = await findConnectionsWithHeads(tx, environment, cuids);
      for (const { key, kind, at: turn } of its) {
        const connection = connections.find(
          ({ cuid, service, reqId }) => cuid === key.cuid && service === key.service && reqId === key.reqId,
        );
        const isStill = connection?.ledgers.some(({ subscription }) => subscription?.[kind] === turn) === true;
        if (!isStill) continue;
        const event = eventOf(kind === "end" ? "subscription.ended" : "subscription.changed", at, key, connection);
        events.push(changedFrom(standingOf(event.state, beforeTurn(kind, turn)), event, turn));
      }
    }
    await putOnlyRow(tx, "endsTold", { toldUntil });
    await appendEvents(engine, tx, events);
    return true;
  });
}

/** A start counts from the second before it (see hasBegun). */
function beforeTurn(kind: ConnectionTurn["kind"], turn: WallTime): WallTime {
  const before = secondBefore(turn);
  return kind === "end" ? before : secondBefore(before);
}

/** Subscriptions that are searched for turns together: a millisecond of work. */
const SUBSCRIPTIONS_AT_ONCE = 2_000;

/** The connection that ends the next portion of subscriptions; undefined for the last portion. */
function boundAfter(db: Db, from: ConnectionKey | undefined): Promise<ConnectionKey | undefined> {
  let query = db.selectFrom("subscription").select(CONNECTION_KEY).orderBy(KEY).offset(SUBSCRIPTIONS_AT_ONCE).limit(1);
  if (from !== undefined) query = query.where(isBeyond(from));
  return query.executeTakeFirst();
}

async function turnsWithin(
  db: Db,
  { after, until }: { readonly after: WallTime; readonly until: WallTime },
  { from, upTo }: { readonly from: ConnectionKey | undefined; readonly upTo: ConnectionKey | undefined },
): Promise<ConnectionTurn[]> {
  const isWithin = ({ at }: ConnectionTurn) => at > after && at <= until;
  let query = db
    .selectFrom("subscription")
    .select([...CONNECTION_KEY, "startTime", "endTime"])
    .where((eb) =>
      eb.or([
        eb("startTime", ">", after).and("startTime", "<=", until),
        eb("endTime", ">", after).and("endTime", "<=", until),
      ]),
    )
    .orderBy(KEY);
  if (from !== undefined) query = query.where(isBeyond(from));
  if (upTo !== undefined) query = query.where((eb) => eb.not(isBeyond(upTo)));
  return (await query.execute()).flatMap(({ startTime, endTime, ...key }) => {
    const start = { key, kind: "start" as const, at: startTime as WallTime };
    const end = { key, kind: "end" as const, at: endTime as WallTime };
    return [start, end].filter(isWithin);
  });
}

const KEY = sql`cuid, environment, service, req_id`;

function isBeyond({ cuid, environment, service, reqId }: ConnectionKey) {
  return sql<boolean>`(${KEY}) > (${cuid}, ${environment}, ${service}, ${reqId})`;
}

function customersOf(turns: readonly ConnectionTurn[]) {
  return [...new Map(turns.map(({ key }) => [`${key.environment} ${key.cuid}`, key])).values()];
}

/**
 * The number of the first event to keep: the first young event that a target lacks or that is logged, or that billing lacks;
 * the last event if there is none.
 */
async function firstNeeded(tx: Db, before: Instant): Promise<number> {
  const last = await lastEvent(tx);
  const young = tx.selectFrom("event").select("seq").where("at", ">=", before).orderBy("seq").limit(1);
  const firstYoung = (await young.executeTakeFirst())?.seq ?? last;
  const logs = tx.selectFrom("deliveryLog").select("seq").where("targetId", "in", systems(tx).select("id"));
  const logged = await logs.where("seq", ">", TEST_SEQ).orderBy("seq").limit(1).executeTakeFirst();
  let first = Math.min(last, Math.max(logged?.seq ?? last, firstYoung));
  // Read the places first: a delivery that starts to wait later then has a number after its target's place.
  for (const row of await systems(tx).selectAll().execute()) {
    const { id, billing } = toTarget(row);
    const waiting = await deliveries(tx, id).limit(1).executeTakeFirst();
    const next = tx.selectFrom("event").select("seq").where("seq", ">", row.place).orderBy("seq").limit(1);
    const unsent = await next.executeTakeFirst();
    const lacked = Math.min(waiting?.seq ?? last, unsent?.seq ?? last);
    first = Math.min(first, billing ? lacked : Math.max(lacked, firstYoung));
  }
  return first;
}
