import { hashSecret } from "../../domain/access-token.ts";
import type { AccountKey } from "../../domain/account.ts";
import { type EventNumber, type RecordedEvent, TEST_SEQ, testEvent } from "../../domain/event.ts";
import { Refused } from "../../domain/refused.ts";
import {
  isTargetKey,
  type LoggedAttempt,
  type Target,
  type TargetProgress,
  untried,
  type WaitingDelivery,
} from "../../domain/target.ts";
import type { Instant } from "../../domain/wall-time.ts";
import { loggedAttempts } from "../../store/delivery-log.ts";
import { countDue } from "../../store/due.ts";
import type { Db } from "../../store/engine.ts";
import { deliveries, eventsOf, lastEvent, placeOf, putDelivery, toTarget, toWaiting } from "../../store/events.ts";
import { flag } from "../../store/rows.ts";
import type { TargetRow } from "../../store/tables.ts";

export async function findTarget(db: Db, name: string): Promise<Target | undefined> {
  const row = await db.selectFrom("target").selectAll().where("name", "=", name).executeTakeFirst();
  return row && toTarget(row);
}

/** @returns undefined if no target has this key. */
export async function findTargetByKey(db: Db, key: string): Promise<Target | undefined> {
  if (!isTargetKey(key)) return undefined;
  const query = db.selectFrom("target").selectAll().where("keyHash", "=", hashSecret(key));
  const row = await query.executeTakeFirst();
  return row && toTarget(row);
}

/** @throws Refused if there is none of this name. */
export async function targetNamed(db: Db, name: string): Promise<Target> {
  const target = await findTarget(db, name);
  if (target === undefined) throw new Refused("not_found", `there is no target named ${name}: see the list of targets`);
  return target;
}

/** A number that no target had before: a service may still deliver to a removed target. */
export async function newTargetId(tx: Db, now: Instant): Promise<number> {
  const query = tx.selectFrom("target").select((eb) => eb.fn.max("id").as("last"));
  return Math.max(Number((await query.executeTakeFirst())?.last ?? 0) + 1, now);
}

/** The target gets the events that are written from now on. */
export async function insertTarget(tx: Db, target: Target): Promise<void> {
  const { id, name, createdAt, partner } = target;
  const [config, secrets] = [JSON.stringify(target.config), JSON.stringify(target.secrets)];
  const [billing, place] = [flag(target.billing), await lastEvent(tx)];
  const of = { partnerId: partner?.partnerId ?? null, environment: partner?.environment ?? null };
  const isOn = { paused: flag(false), gone: flag(false), keyHash: null };
  const row = { id, name, ...of, config, secrets, billing, ...isOn, createdAt, place };
  await tx.insertInto("target").values(row).execute();
}

export async function updateTarget(tx: Db, { id }: Target, values: Partial<TargetRow>): Promise<void> {
  await tx.updateTable("target").set(values).where("id", "=", id).execute();
}

export async function deleteTarget(tx: Db, { id }: Target): Promise<void> {
  await tx.deleteFrom("delivery").where("targetId", "=", id).execute();
  await tx.deleteFrom("deliveryLog").where("targetId", "=", id).execute();
  await tx.deleteFrom("serviceStep").where("targetId", "=", id).execute();
  await tx.deleteFrom("sessionDue").where("targetId", "=", id).execute();
  await tx.deleteFrom("target").where("id", "=", id).execute();
}

export async function countDeliveries(db: Db, { id }: Target): Promise<number> {
  const query = db
    .selectFrom("delivery")
    .select((eb) => eb.fn.countAll().as("count"))
    .where("targetId", "=", id);
  return Number((await query.executeTakeFirstOrThrow()).count);
}

/** Retries all events now that failed, are set aside, or wait behind such an event. */
export async function resendAll(tx: Db, target: Target, now: Instant): Promise<void> {
  await updateTarget(tx, target, { resentAt: now });
  const again = { setAside: flag(false), attempts: 0, failedAt: null, nextAt: now };
  await tx.updateTable("delivery").set(again).where("targetId", "=", target.id).execute();
}

/** Sends one event again, in the target's queue. */
export async function resendOne(tx: Db, target: Target, { seq }: RecordedEvent, now: Instant): Promise<void> {
  await updateTarget(tx, target, { resentAt: now });
  await putDelivery(tx, target.id, untried(seq, now));
}

/** The last event of an event's connection; the event itself if there is no later one. */
export async function lastOfConnection(db: Db, event: RecordedEvent): Promise<EventNumber> {
  const { seq, at } = event;
  if ("alert" in event) return { seq, at };
  const { environment, service, reqId } = event.key;
  const later = await db
    .selectFrom("event")
    .select(["seq", "at"])
    .where("seq", ">", seq)
    .where((eb) => eb.and({ environment, service, reqId }))
    .orderBy("seq", "desc")
    .limit(1)
    .executeTakeFirst();
  return later ?? { seq, at };
}

/** Moves the place of a feed forward, never back. */
export async function movePlace(tx: Db, { id }: Target, place: number): Promise<void> {
  await tx.updateTable("target").set({ place }).where("id", "=", id).where("place", "<", place).execute();
}

export async function readProgress(db: Db, target: Target): Promise<TargetProgress> {
  return target.partner === undefined ? progressOfSystem(db, target) : progressOfWebhook(db, target);
}

export async function partnerNameOf(db: Db, { partnerId }: AccountKey): Promise<string> {
  const { name } = await db.selectFrom("partner").select("name").where("id", "=", partnerId).executeTakeFirstOrThrow();
  return name;
}

/** Counts the facts that the webhook of a partner lacks. */
async function progressOfWebhook(db: Db, { id }: Target): Promise<TargetProgress> {
  const [counts] = await countDue(db, id);
  if (counts === undefined) return { behind: 0, failing: 0, setAside: 0, oldestAt: undefined, oldestDueAt: undefined };
  const { open, failing, aside, oldest, oldestDue } = counts;
  return { behind: open + aside, failing, setAside: aside, oldestAt: oldest, oldestDueAt: oldestDue };
}

async function progressOfSystem(db: Db, target: Target): Promise<TargetProgress> {
  const place = await placeOf(db, target.id);
  const unsent = await db
    .selectFrom("event")
    .select((eb) => [eb.fn.countAll().as("count"), eb.fn.min("at").as("oldest")])
    .where("seq", ">", place)
    .executeTakeFirstOrThrow();
  const waiting = await db
    .selectFrom("delivery as d")
    .innerJoin("event as e", "e.seq", "d.seq")
    .select((eb) => ["d.setAside", eb.fn.countAll().as("count"), eb.fn.min("e.at").as("oldest")])
    .where("d.targetId", "=", target.id)
    .groupBy("d.setAside")
    .execute();
  const [failing, setAside] = [0, 1].map((aside) => waiting.find((row) => row.setAside === aside));
  const countOf = (row: typeof failing) => Number(row?.count ?? 0);
  const oldestOf = (...rows: (typeof unsent | undefined)[]) => {
    const times = rows.flatMap((row) => (row?.oldest == null ? [] : [Number(row.oldest)]));
    return times.length === 0 ? undefined : Math.min(...times);
  };
  return {
    behind: Number(unsent.count) + countOf(failing) + countOf(setAside),
    failing: countOf(failing),
    setAside: countOf(setAside),
    oldestAt: oldestOf(unsent, failing, setAside),
    oldestDueAt: oldestOf(unsent, failing),
  };
}

export type FailedDelivery = WaitingDelivery & { readonly event: RecordedEvent };

/** Deliveries to a system that failed, or wait behind a failed one, oldest first. */
export async function failedDeliveries(db: Db, target: Target, limit: number): Promise<FailedDelivery[]> {
  return withEvents(db, (await deliveries(db, target.id).limit(limit).execute()).map(toWaiting));
}

export type Delivery = LoggedAttempt & { readonly event: RecordedEvent };

/** The last attempts at a system, newest first. */
export async function lastDeliveries(db: Db, target: Target): Promise<Delivery[]> {
  return withEvents(db, await loggedAttempts(db, target.id));
}

/** Leaves out rows whose event was deleted meanwhile. */
async function withEvents<Row extends { readonly seq: number; readonly at?: Instant }>(db: Db, rows: readonly Row[]) {
  const seqs = rows.map(({ seq }) => seq);
  const events = new Map((await eventsOf(db, seqs)).map((event) => [event.seq, event]));
  return rows.flatMap((row) => {
    const event = row.seq === TEST_SEQ ? testEvent(row.at ?? 0) : events.get(row.seq);
    return event === undefined ? [] : [{ ...row, event }];
  });
}
