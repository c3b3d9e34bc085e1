import { sql } from "kysely";
import { SERVICES } from "../../domain/bouquet.ts";
import type { ConnectionKey, ConnectionName, Environment } from "../../domain/customer.ts";
import type { ServiceStep, StepFacts } from "../../domain/service-step.ts";
import { CONFIRMED_WITHIN_MS, NEVER } from "../../domain/sessions.ts";
import { LATE_MS, type Target } from "../../domain/target.ts";
import type { Instant } from "../../domain/wall-time.ts";
import type { Db } from "../../store/engine.ts";
import { eventsAfter, listTargets, placeOf } from "../../store/events.ts";
import { toStep } from "../../store/service-steps.ts";
import { toDueUser } from "../../store/sessions-due.ts";
import { failedDeliveries } from "../targets/sql.ts";

/** Reads the targets, and how far some connections are at each. */
export async function readFacts(
  db: Db,
  environment: Environment,
  connections: readonly ConnectionName[],
): Promise<(connection: ConnectionName) => Omit<StepFacts, "changed">[]> {
  const targets = await listTargets(db);
  const steps = await readSteps(db, targets, environment, connections);
  const sessions = await readSessions(db, targets, connections);
  const unread = new Map<Target, Instant | undefined>();
  for (const target of targets.filter(({ config }) => config.kind === "feed"))
    unread.set(target, await firstUnread(db, target));
  return ({ service, reqId }) =>
    targets.map((target) => {
      const step = steps.find(
        ({ targetId, key }) => targetId === target.id && key.service === service && key.reqId === reqId,
      );
      const session = sessions.find(({ targetId, username }) => targetId === target.id && username === reqId);
      return { target, step, unreadAt: unread.get(target), session };
    });
}

async function readSteps(
  db: Db,
  targets: readonly Target[],
  environment: Environment,
  connections: readonly ConnectionName[],
): Promise<(ServiceStep & { readonly targetId: number })[]> {
  if (targets.length === 0 || connections.length === 0) return [];
  const [ids, reqIds] = [targets.map(({ id }) => id), connections.map(({ reqId }) => reqId)];
  const rows = await db
    .selectFrom("serviceStep")
    .selectAll()
    .where("targetId", "in", ids)
    .where("environment", "=", environment)
    .where("service", "in", SERVICES)
    .where("reqId", "in", reqIds)
    .execute();
  return rows.map((row) => ({ ...toStep(row), targetId: row.targetId }));
}

async function readSessions(db: Db, targets: readonly Target[], connections: readonly ConnectionName[]) {
  const ids = targets.filter(({ config }) => config.kind === "radius").map(({ id }) => id);
  if (ids.length === 0 || connections.length === 0) return [];
  const rows = db.selectFrom("sessionDue").selectAll().where("targetId", "in", ids);
  const names = connections.map(({ reqId }) => reqId);
  return (await rows.where("username", "in", names).execute()).map((row) => ({ ...row, ...toDueUser(row) }));
}

/** Time of the first event that a feed has not read; undefined if it has read all. */
async function firstUnread(db: Db, { id }: Target): Promise<Instant | undefined> {
  const place = await placeOf(db, id);
  const query = db.selectFrom("event").select("at").where("seq", ">", place).orderBy("seq").limit(1);
  return (await query.executeTakeFirst())?.at;
}

/** Connections that are looked at for the list of late services: the unpaid among them are left out. */
const MOST_SUSPECTS = 1_000;
/** Events that a target lacks of which the oldest are read. */
const MOST_UNSENT = 1_000;

/** Kinds of events after which the service of a connection that is paid must be on. */
const GIVES: readonly ServiceStep["kind"][] = ["topup.recorded", "subscription.changed", "connection.unblocked"];

interface Suspects {
  readonly keys: ConnectionKey[];
  /** Whether there may be more: a list was as long as it may be. */
  readonly isCut: boolean;
}

/** Connections with a step that may have failed or be late at a running target, the newest steps first. */
export async function suspects(db: Db, environment: Environment, now: Instant): Promise<Suspects> {
  const before = now - LATE_MS;
  const running = (await listTargets(db)).filter(
    ({ paused, partner, config }) => !paused && partner === undefined && config.kind !== "feed",
  );
  if (running.length === 0) return { keys: [], isCut: false };
  const ids = running.map(({ id }) => id);
  const steps = await db
    .selectFrom("serviceStep")
    .selectAll()
    .where("environment", "=", environment)
    // Written as the index is.
    .where(sql<boolean>`outcome <> 'done'`)
    .where((eb) => eb.or([eb("outcome", "=", "failed"), eb("at", "<", before)]))
    .where("kind", "in", GIVES)
    .where("targetId", "in", ids)
    .orderBy("at", "desc")
    .limit(MOST_SUSPECTS)
    .execute();
  const users = await db
    .selectFrom("sessionDue as d")
    .innerJoin("serviceStep as s", (join) =>
      join.onRef("s.targetId", "=", "d.targetId").onRef("s.reqId", "=", "d.username"),
    )
    .selectAll("s")
    .where("d.targetId", "in", ids)
    .where("d.nextAt", "<", NEVER)
    .where("d.dueAt", "<", now - CONFIRMED_WITHIN_MS)
    .where("s.environment", "=", environment)
    // The key of steps begins with target, environment and service.
    .where("s.service", "in", SERVICES)
    .where("s.kind", "in", GIVES)
    .orderBy("d.dueAt", "desc")
    .limit(MOST_SUSPECTS)
    .execute();
  const keys = [...steps, ...users].map((row) => toStep(row).key);
  let isCut = steps.length === MOST_SUSPECTS || users.length === MOST_SUSPECTS;
  for (const target of running) {
    const unsent = await eventsAfter(db, await placeOf(db, target.id), MOST_UNSENT);
    const waiting = await failedDeliveries(db, target, MOST_SUSPECTS);
    isCut ||= unsent.length === MOST_UNSENT || waiting.length === MOST_SUSPECTS;
    for (const event of [...unsent, ...waiting.map((each) => each.event)])
      if (
        !("alert" in event) &&
        event.key.environment === environment &&
        event.at < before &&
        GIVES.includes(event.kind)
      )
        keys.push(event.key);
  }
  const byName = new Map(keys.map((key) => [JSON.stringify([key.cuid, key.service, key.reqId]), key]));
  const found = [...byName.values()];
  return { keys: found.slice(0, MOST_SUSPECTS), isCut: isCut || found.length > MOST_SUSPECTS };
}
