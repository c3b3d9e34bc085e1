import type { Kysely } from "kysely";
import { type Attribution, targetPausedSet } from "../domain/audit.ts";
import type { Target, WaitingDelivery } from "../domain/target.ts";
import { appendAudit } from "./audit.ts";
import type { Engine } from "./engine.ts";
import type { DeliveryRow, Tables, TargetRow } from "./tables.ts";

type Db = Kysely<Tables>;

export async function listTargets(db: Db): Promise<Target[]> {
  return (await db.selectFrom("target").selectAll().orderBy("id").execute()).map(toTarget);
}

/** Pauses all targets that run. Inside a transaction. @returns their names. */
export async function pauseTargets(engine: Engine, tx: Db, by: Attribution): Promise<string[]> {
  const running = (await listTargets(tx)).filter(({ paused }) => !paused);
  await tx.updateTable("target").set({ paused: 1 }).execute();
  for (const target of running) await appendAudit(engine, tx, targetPausedSet(target, true), by);
  return running.map(({ name }) => name);
}

/** The number of the event up to which a target has taken on each; those of them that failed wait. */
export async function placeOf(db: Db, id: number): Promise<number> {
  return (await db.selectFrom("target").select("place").where("id", "=", id).executeTakeFirst())?.place ?? 0;
}

/** Those that wait, in the order of their events. */
export function deliveries(db: Db, targetId: number) {
  return db.selectFrom("delivery").selectAll().where("target_id", "=", targetId).orderBy("seq");
}

export function toTarget({
  id,
  name,
  config,
  secrets,
  billing,
  paused,
  created_at: createdAt,
  resent_at,
}: TargetRow): Target {
  const parsed = { config: JSON.parse(config), secrets: JSON.parse(secrets) };
  return {
    id,
    name,
    ...parsed,
    billing: billing === 1,
    paused: paused === 1,
    createdAt,
    resentAt: resent_at ?? undefined,
  };
}

export function toWaiting({ seq, attempts, failed_at, next_at: nextAt, set_aside, problem }: DeliveryRow) {
  const times = { failedAt: failed_at ?? undefined, nextAt };
  return {
    seq,
    attempts,
    ...times,
    setAside: set_aside === 1,
    problem: problem ?? undefined,
  } satisfies WaitingDelivery;
}
