import type { Kysely } from "kysely";
import { heldBackLeft } from "../../domain/audit.ts";
import { portionsOf } from "../../domain/portions.ts";
import type { Instant } from "../../domain/wall-time.ts";
import type { Engine } from "../engine.ts";
import { putOnlyRow } from "../only-row.ts";
import { type HeldBackRecord, IMPORTS_KEPT, type ImportRun, type ImportRuns } from "../staff.ts";
import type { HeldBackRow, ImportRunRow } from "../staff-tables.ts";
import type { Tables } from "../tables.ts";
import { appendAudit } from "./audit.ts";

type Db = Kysely<Tables>;

/** How many go into one statement: its parameters are limited. */
const ROWS_AT_ONCE = 500;

export function importRunsOf(engine: Engine, clock: () => Instant): ImportRuns {
  const { db } = engine;
  return {
    begin: ({ kind, environment, author, file, asOf, startedAt }) =>
      engine.change(async (tx) => {
        const id = (await lastId(tx, "import_run")) + 1;
        // One that still goes on, beside this one, says at its end how it ended.
        await tx
          .updateTable("import_run")
          .set({ outcome: "failed", ended_at: startedAt })
          .where("outcome", "=", "running")
          .where("kind", "=", kind)
          .where("environment", "=", environment)
          .execute();
        const run = { kind, environment, author, file, as_of: asOf ?? null, started_at: startedAt };
        const open = { ended_at: null, outcome: "running", report: null, problem: null } as const;
        await tx
          .insertInto("import_run")
          .values({ id, ...run, ...open })
          .execute();
        await tx
          .deleteFrom("import_run")
          .where("id", "<=", id - IMPORTS_KEPT)
          .execute();
        return id;
      }),

    end: (id, { endedAt, outcome, report, problem }) =>
      engine.transact(async (tx) => {
        const values = {
          ended_at: endedAt ?? null,
          outcome,
          report: report === undefined ? null : JSON.stringify(report),
          problem: problem ?? null,
        };
        await tx.updateTable("import_run").set(values).where("id", "=", id).execute();
      }),

    async list() {
      return (await db.selectFrom("import_run").selectAll().orderBy("id", "desc").execute()).map(toImportRun);
    },

    replaceHeldBack: (environment, heldBack) =>
      engine.change(async (tx) => {
        // Not one that a record had before that is gone: somebody may still have it before them, and settle another.
        const first = Math.max((await lastId(tx, "held_back")) + 1, clock());
        await tx.deleteFrom("held_back").where("environment", "=", environment).execute();
        const rows = heldBack.map((record, index) => heldBackRow(record, first + index));
        for (const some of portionsOf(rows, ROWS_AT_ONCE)) await tx.insertInto("held_back").values(some).execute();
      }),

    async listHeldBack(environment, { after = 0, limit }) {
      const query = db.selectFrom("held_back").selectAll().where("environment", "=", environment);
      const rows = await query.where("id", ">", after).orderBy("id").limit(limit).execute();
      return rows.map(toHeldBack);
    },

    async countHeldBack(environment) {
      const query = db.selectFrom("held_back").where("environment", "=", environment);
      const counted = await query.select((eb) => eb.fn.countAll().as("count")).executeTakeFirstOrThrow();
      return Number(counted.count);
    },

    async findHeldBack(id) {
      const row = await db.selectFrom("held_back").selectAll().where("id", "=", id).executeTakeFirst();
      return row && toHeldBack(row);
    },

    settleHeldBack: (environment, cuid, leftBy) =>
      engine.transact(async (tx) => {
        const all = tx.selectFrom("held_back").where("environment", "=", environment).where("cuid", "=", cuid);
        const rows = await all.select(["service", "req_id", "plan", "kept_end"]).execute();
        await tx.deleteFrom("held_back").where("environment", "=", environment).where("cuid", "=", cuid).execute();
        if (leftBy === undefined || rows.length === 0) return;
        const kept = rows.map((row) => [`${row.service} ${row.req_id}: ${row.plan}`, row.kept_end]);
        await appendAudit(engine, tx, heldBackLeft(environment, cuid, Object.fromEntries(kept)), leftBy);
      }),

    noteBackup: (at) => engine.transact((tx) => putOnlyRow(tx, "backup_taken", { at })),

    async lastBackupAt() {
      return (await db.selectFrom("backup_taken").select("at").executeTakeFirst())?.at;
    },
  };
}

async function lastId(tx: Db, table: "import_run" | "held_back"): Promise<number> {
  return (await tx.selectFrom(table).select("id").orderBy("id", "desc").limit(1).executeTakeFirst())?.id ?? 0;
}

function toImportRun(row: ImportRunRow): ImportRun {
  const { id, kind, environment, author, file, as_of, started_at: startedAt, ended_at, outcome, report, problem } = row;
  return {
    ...{ id, kind, environment, author, file, asOf: as_of ?? undefined, startedAt },
    ...{ endedAt: ended_at ?? undefined, outcome },
    report: report === null ? undefined : (JSON.parse(report) as ImportRun["report"]),
    problem: problem ?? undefined,
  };
}

function heldBackRow(record: HeldBackRecord, id: number): HeldBackRow {
  const { environment, cuid, service, reqId, plan, bouquetCode, goodwill, goodwillDays, line, sourceRow } = record;
  return {
    ...{ id, environment, cuid, service, req_id: reqId, plan, code: bouquetCode },
    ...{ kept_end: record.keptEnd ?? null, stated_end: record.statedEnd ?? null, txn_id: record.txnId ?? null },
    ...{ goodwill_days: goodwill?.days ?? goodwillDays ?? null, goodwill_at: goodwill?.at ?? null },
    ...{ lacking_end: goodwill?.lackingEnd ?? null, line, source_row: sourceRow },
  };
}

function toHeldBack(row: HeldBackRow): HeldBackRecord & { readonly id: number } {
  const {
    id,
    environment,
    cuid,
    service,
    req_id: reqId,
    plan,
    code: bouquetCode,
    line,
    goodwill_days,
    goodwill_at,
    lacking_end,
  } = row;
  const days = goodwill_days ?? undefined;
  const lackingEnd = lacking_end ?? undefined;
  return {
    ...{ id, environment, cuid, service, reqId, plan, bouquetCode },
    ...{ keptEnd: row.kept_end ?? undefined, statedEnd: row.stated_end ?? undefined, txnId: row.txn_id ?? undefined },
    ...(days === undefined || goodwill_at === null
      ? { goodwillDays: days, goodwill: undefined }
      : { goodwillDays: undefined, goodwill: { days, at: goodwill_at, lackingEnd } }),
    ...{ line, sourceRow: row.source_row },
  };
}
