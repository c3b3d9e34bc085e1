import type { Static } from "typebox";
import type { Environment } from "../../domain/customer.ts";
import type { HeldBack } from "../../domain/customer-import.ts";
import { portionsOf } from "../../domain/portions.ts";
import { type Instant, isoTime, isoTimeOrNull, type WallTime } from "../../domain/wall-time.ts";
import type { Engine } from "../../store/engine.ts";
import type { HeldBackRow, ImportRunRow } from "../../store/staff-tables.ts";
import type { Db } from "../office.ts";
import type { ImportRunSchema } from "./schemas.ts";

/** How many imports are kept on record. */
export const IMPORTS_KEPT = 50;
/** How many go into one statement: its parameters are limited. */
const ROWS_AT_ONCE = 500;

/** An import of a file. */
export interface ImportRun extends Pick<ImportRunRow, "kind" | "environment" | "author"> {
  /** The file's name. */
  readonly file: string;
  /** Given for the whole file. */
  readonly asOf: string | undefined;
}

export interface RunEnd {
  readonly outcome: "done" | "refused" | "failed";
  /** Its counts; undefined if it was refused, since it changed nothing. */
  readonly report?: Readonly<Record<string, number | boolean>> | undefined;
  /** Why it was refused or failed, in words. */
  readonly problem?: string | undefined;
}

/** Records that an import begins. @returns its number. */
export function beginRun(engine: Engine, { asOf, ...run }: ImportRun, at: Instant): Promise<number> {
  return engine.change(async (tx) => {
    const id = (await lastId(tx, "import_run")) + 1;
    // One that still goes on, beside this one, says at its end how it ended.
    await tx
      .updateTable("import_run")
      .set({ outcome: "failed", ended_at: at })
      .where("outcome", "=", "running")
      .where("kind", "=", run.kind)
      .where("environment", "=", run.environment)
      .execute();
    const open = { ended_at: null, outcome: "running", report: null, problem: null } as const;
    await tx
      .insertInto("import_run")
      .values({ id, ...run, as_of: asOf ?? null, started_at: at, ...open })
      .execute();
    await tx
      .deleteFrom("import_run")
      .where("id", "<=", id - IMPORTS_KEPT)
      .execute();
    return id;
  });
}

export function endRun(engine: Engine, id: number, { outcome, report, problem }: RunEnd, at: Instant): Promise<void> {
  return engine.transact(async (tx) => {
    const counts = report === undefined ? null : JSON.stringify(report);
    const values = { ended_at: at, outcome, report: counts, problem: problem ?? null };
    await tx.updateTable("import_run").set(values).where("id", "=", id).execute();
  });
}

/** Newest first; all that are kept. */
export async function listRuns(db: Db): Promise<Static<typeof ImportRunSchema>[]> {
  const rows = await db.selectFrom("import_run").selectAll().orderBy("id", "desc").execute();
  return rows.map(({ as_of: asOf, started_at, ended_at, report, ...run }) => ({
    ...{ ...run, asOf, startedAt: isoTime(started_at), endedAt: isoTimeOrNull(ended_at ?? undefined) },
    report: report === null ? null : (JSON.parse(report) as Record<string, number | boolean>),
  }));
}

/** A subscription that the last customers file held back. */
export interface HeldBackRecord extends HeldBack {
  readonly environment: Environment;
  readonly cuid: string;
  readonly line: number;
  /** The customer's row of the file, as JSON, with its `asOf`. */
  readonly sourceRow: string;
}

export type NumberedHeldBack = HeldBackRecord & { readonly id: number };

/** Replaces what was held back in the environment. */
export function replaceHeldBack(
  engine: Engine,
  environment: Environment,
  heldBack: readonly HeldBackRecord[],
  at: Instant,
): Promise<void> {
  return engine.change(async (tx) => {
    // Numbers are not used again: a page may still show a deleted record, and would settle another one.
    const first = Math.max((await lastId(tx, "held_back")) + 1, at);
    await tx.deleteFrom("held_back").where("environment", "=", environment).execute();
    const rows = heldBack.map((record, index) => heldBackRow(record, first + index));
    for (const some of portionsOf(rows, ROWS_AT_ONCE)) await tx.insertInto("held_back").values(some).execute();
  });
}

/** Lists in the order of the file. */
export async function listHeldBack(
  db: Db,
  environment: Environment,
  { after = 0, limit }: { readonly after: number | undefined; readonly limit: number },
): Promise<NumberedHeldBack[]> {
  const query = db.selectFrom("held_back").selectAll().where("environment", "=", environment);
  const rows = await query.where("id", ">", after).orderBy("id").limit(limit).execute();
  return rows.map(toHeldBack);
}

export async function countHeldBack(db: Db, environment: Environment): Promise<number> {
  const query = db.selectFrom("held_back").where("environment", "=", environment);
  const counted = await query.select((eb) => eb.fn.countAll().as("count")).executeTakeFirstOrThrow();
  return Number(counted.count);
}

export async function findHeldBack(db: Db, id: number): Promise<NumberedHeldBack | undefined> {
  const row = await db.selectFrom("held_back").selectAll().where("id", "=", id).executeTakeFirst();
  return row && toHeldBack(row);
}

/** All that is held back of a customer. */
export async function heldBackOf(db: Db, environment: Environment, cuid: string): Promise<NumberedHeldBack[]> {
  const query = db.selectFrom("held_back").selectAll().where("environment", "=", environment).where("cuid", "=", cuid);
  return (await query.orderBy("id").execute()).map(toHeldBack);
}

export async function deleteHeldBack(tx: Db, environment: Environment, cuid: string): Promise<void> {
  await tx.deleteFrom("held_back").where("environment", "=", environment).where("cuid", "=", cuid).execute();
}

async function lastId(tx: Db, table: "import_run" | "held_back"): Promise<number> {
  return (await tx.selectFrom(table).select("id").orderBy("id", "desc").limit(1).executeTakeFirst())?.id ?? 0;
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

function toHeldBack(row: HeldBackRow): NumberedHeldBack {
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

/** Whether anything was topped up or granted: from then on, a customers file must say how far its records reach. */
export async function hasGrants(db: Db, environment: Environment): Promise<boolean> {
  const query = db.selectFrom("ledger_entry").select("seq").where("environment", "=", environment);
  return (await query.where("kind", "in", ["top_up", "goodwill"]).limit(1).executeTakeFirst()) !== undefined;
}

/** Counts what a file's changes are weighed against. */
export async function countRunning(db: Db, environment: Environment, now: WallTime) {
  const subscriptions = db
    .selectFrom("subscription")
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .where("environment", "=", environment)
    .where("end_time", ">", now);
  const customers = db
    .selectFrom("customer")
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .where("environment", "=", environment)
    .where("status", "=", "active");
  const [running, active] = [await subscriptions.executeTakeFirst(), await customers.executeTakeFirst()];
  return { runningSubscriptions: Number(running?.count), activeCustomers: Number(active?.count) };
}
