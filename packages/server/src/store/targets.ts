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
  return db.selectFrom("delivery").selectAll().where("targetId", "=", targetId).orderBy("seq");
}

export function toTarget({ place: _, ...row }: TargetRow): Target {
  return {
    ...row,
    config: JSON.parse(row.config),
    secrets: JSON.parse(row.secrets),
    billing: row.billing === 1,
    paused: row.paused === 1,
    resentAt: row.resentAt ?? undefined,
  };
}

export function toWaiting({ targetId: _, ...row }: DeliveryRow): WaitingDelivery {
  const { failedAt, setAside, problem } = row;
  return { ...row, failedAt: failedAt ?? undefined, setAside: setAside === 1, problem: problem ?? undefined };
}
