import type { Kysely } from "kysely";
import type { Attribution, AuditedChange } from "../../domain/audit.ts";
import * as audited from "../../domain/audit.ts";
import { rotateSecrets, type Target, type WaitingDelivery } from "../../domain/target.ts";
import type { Engine } from "../engine.ts";
import type { TargetProgress, Targets } from "../outbox.ts";
import { flag } from "../rows.ts";
import type { DeliveryRow, Tables, TargetRow } from "../tables.ts";
import { appendAudit } from "./audit.ts";
import { eventsOf, lastEvent } from "./events.ts";

type Db = Kysely<Tables>;

export function targetsOf(engine: Engine): Targets {
  const { db } = engine;

  /** Changes a target that is there, unless it is so already. */
  const change = (
    name: string,
    by: Attribution,
    decide: (
      target: Target,
    ) => { readonly values: Partial<TargetRow>; readonly to: Target; readonly audit: AuditedChange } | undefined,
  ) =>
    engine.change(async (tx) => {
      const target = await findTarget(tx, name);
      const changed = target && decide(target);
      if (changed === undefined) return target;
      await tx.updateTable("target").set(changed.values).where("name", "=", name).execute();
      await appendAudit(engine, tx, changed.audit, by);
      return changed.to;
    });

  return {
    async add({ name, config, books, secrets }, by) {
      const added = await engine.change(async (tx) => {
        if ((await findTarget(tx, name)) !== undefined) return "name_taken";
        const { last } = await tx
          .selectFrom("target")
          .select((eb) => eb.fn.max("id").as("last"))
          .executeTakeFirstOrThrow();
        // Not one that a target had before that is gone: whoever delivers to that one may not have heard of it yet.
        const id = Math.max(Number(last ?? 0) + 1, by.at);
        const target: Target = {
          id,
          name,
          config,
          books,
          paused: false,
          createdAt: by.at,
          resentAt: undefined,
          secrets,
        };
        const row = { id, name, books: flag(books), paused: 0 as const, created_at: by.at, place: await lastEvent(tx) };
        const texts = { config: JSON.stringify(config), secrets: JSON.stringify(secrets) };
        await tx
          .insertInto("target")
          .values({ ...row, ...texts })
          .execute();
        await appendAudit(engine, tx, audited.targetAdded(target), by);
        return target;
      });
      // A batch that began before may still commit, and does not know of it.
      if (added !== "name_taken") await engine.awaitCommits();
      return added;
    },

    find: (name) => findTarget(db, name),

    list: () => listTargets(db),

    setPaused: (name, paused, by) =>
      change(name, by, (target) =>
        target.paused === paused
          ? undefined
          : {
              values: { paused: flag(paused) },
              to: { ...target, paused },
              audit: audited.targetPausedSet(target, paused),
            },
      ),

    rotateSecret: (name, secret, by) =>
      change(name, by, (target) => {
        const secrets = rotateSecrets(target.secrets, secret, by.at);
        const to = { ...target, secrets };
        return { values: { secrets: JSON.stringify(secrets) }, to, audit: audited.targetRotated(to) };
      }),

    noteReconciling: (name, by) =>
      // Changes nothing that is kept in memory: `change` runs it after a removal of the target.
      engine.change(async (tx) => {
        const target = await findTarget(tx, name);
        if (target !== undefined) await appendAudit(engine, tx, audited.targetReconciled(target), by);
        return target;
      }),

    remove: (name, by) =>
      engine.change(async (tx) => {
        const target = await findTarget(tx, name);
        if (target === undefined) return undefined;
        await tx.deleteFrom("delivery").where("target_id", "=", target.id).execute();
        await tx.deleteFrom("target").where("id", "=", target.id).execute();
        await appendAudit(engine, tx, audited.targetRemoved(target), by);
        return target;
      }),

    progress: (id) => readProgress(db, id),

    async waiting(id, limit) {
      const rows = await deliveries(db, id).limit(limit).execute();
      const events = await eventsOf(
        db,
        rows.map(({ seq }) => seq),
      );
      const bySeq = new Map(events.map((event) => [event.seq, event]));
      return rows.flatMap((row) => {
        const event = bySeq.get(row.seq);
        return event === undefined ? [] : [{ ...toWaiting(row), event }];
      });
    },

    resend: (id, by) =>
      engine.change(async (tx) => {
        const target = (await listTargets(tx)).find((each) => each.id === id);
        if (target === undefined) return 0;
        await tx.updateTable("target").set({ resent_at: by.at }).where("id", "=", id).execute();
        const again = { set_aside: 0, attempts: 0, failed_at: null, next_at: by.at } as const;
        const changed = await tx.updateTable("delivery").set(again).where("target_id", "=", id).executeTakeFirst();
        const resent = Number(changed.numUpdatedRows);
        if (resent > 0) await appendAudit(engine, tx, audited.targetResent(target, resent), by);
        return resent;
      }),
  };
}

async function findTarget(db: Db, name: string): Promise<Target | undefined> {
  const row = await db.selectFrom("target").selectAll().where("name", "=", name).executeTakeFirst();
  return row && toTarget(row);
}

export async function listTargets(db: Db): Promise<Target[]> {
  return (await db.selectFrom("target").selectAll().orderBy("id").execute()).map(toTarget);
}

/** Pauses all targets that run. Inside a transaction. @returns their names. */
export async function pauseTargets(engine: Engine, tx: Db, by: Attribution): Promise<string[]> {
  const running = (await listTargets(tx)).filter(({ paused }) => !paused);
  await tx.updateTable("target").set({ paused: 1 }).execute();
  for (const target of running) await appendAudit(engine, tx, audited.targetPausedSet(target, true), by);
  return running.map(({ name }) => name);
}

/** Those that wait, in the order of their events. */
export function deliveries(db: Db, targetId: number) {
  return db.selectFrom("delivery").selectAll().where("target_id", "=", targetId).orderBy("seq");
}

async function readProgress(db: Db, id: number): Promise<TargetProgress> {
  const target = await db.selectFrom("target").select("place").where("id", "=", id).executeTakeFirst();
  const place = target?.place ?? 0;
  const behind = await db
    .selectFrom("event")
    .select((eb) => [eb.fn.countAll().as("count"), eb.fn.min("at").as("oldest")])
    .where("seq", ">", place)
    .executeTakeFirstOrThrow();
  const waiting = await db
    .selectFrom("delivery as d")
    .innerJoin("event as e", "e.seq", "d.seq")
    .select((eb) => ["d.set_aside", eb.fn.countAll().as("count"), eb.fn.min("e.at").as("oldest")])
    .where("d.target_id", "=", id)
    .groupBy("d.set_aside")
    .execute();
  const countOf = (aside: 0 | 1) => Number(waiting.find(({ set_aside }) => set_aside === aside)?.count ?? 0);
  const oldest = [behind, ...waiting].flatMap((each) => (each.oldest === null ? [] : [Number(each.oldest)]));
  return {
    ...{ place, behind: Number(behind.count), failing: countOf(0), setAside: countOf(1) },
    oldestAt: oldest.length === 0 ? undefined : Math.min(...oldest),
  };
}

function toTarget({ id, name, config, secrets, books, paused, created_at: createdAt, resent_at }: TargetRow): Target {
  const parsed = { config: JSON.parse(config), secrets: JSON.parse(secrets) };
  return { id, name, ...parsed, books: books === 1, paused: paused === 1, createdAt, resentAt: resent_at ?? undefined };
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
