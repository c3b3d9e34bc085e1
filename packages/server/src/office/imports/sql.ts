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
    const id = (await lastId(tx, "importRun")) + 1;
    // One that still goes on, beside this one, says at its end how it ended.
    await tx
      .updateTable("importRun")
      .set({ outcome: "failed", endedAt: at })
      .where("outcome", "=", "running")
      .where("kind", "=", run.kind)
      .where("environment", "=", run.environment)
      .execute();
    const open = { endedAt: null, outcome: "running", report: null, problem: null } as const;
    await tx
      .insertInto("importRun")
      .values({ id, ...run, asOf: asOf ?? null, startedAt: at, ...open })
      .execute();
    await tx
      .deleteFrom("importRun")
      .where("id", "<=", id - IMPORTS_KEPT)
      .execute();
    return id;
  });
}

export function endRun(engine: Engine, id: number, { outcome, report, problem }: RunEnd, at: Instant): Promise<void> {
  return engine.transact(async (tx) => {
    const counts = report === undefined ? null : JSON.stringify(report);
    const values = { endedAt: at, outcome, report: counts, problem: problem ?? null };
    await tx.updateTable("importRun").set(values).where("id", "=", id).execute();
  });
}

/** Newest first; all that are kept. */
export async function listRuns(db: Db): Promise<Static<typeof ImportRunSchema>[]> {
  const rows = await db.selectFrom("importRun").selectAll().orderBy("id", "desc").execute();
  return rows.map(({ asOf, startedAt, endedAt, report, ...run }) => ({
    ...{ ...run, asOf, startedAt: isoTime(startedAt), endedAt: isoTimeOrNull(endedAt ?? undefined) },
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
    const first = Math.max((await lastId(tx, "heldBack")) + 1, at);
    await tx.deleteFrom("heldBack").where("environment", "=", environment).execute();
    const rows = heldBack.map((record, index) => heldBackRow(record, first + index));
    for (const some of portionsOf(rows, ROWS_AT_ONCE)) await tx.insertInto("heldBack").values(some).execute();
  });
}

/** Lists in the order of the file. */
export async function listHeldBack(
  db: Db,
  environment: Environment,
  { after = 0, limit }: { readonly after: number | undefined; readonly limit: number },
): Promise<NumberedHeldBack[]> {
  const query = db.selectFrom("heldBack").selectAll().where("environment", "=", environment);
  const rows = await query.where("id", ">", after).orderBy("id").limit(limit).execute();
  return rows.map(toHeldBack);
}

export async function countHeldBack(db: Db, environment: Environment): Promise<number> {
  const query = db.selectFrom("heldBack").where("environment", "=", environment);
  const counted = await query.select((eb) => eb.fn.countAll().as("count")).executeTakeFirstOrThrow();
  return Number(counted.count);
}

export async function findHeldBack(db: Db, id: number): Promise<NumberedHeldBack | undefined> {
  const row = await db.selectFrom("heldBack").selectAll().where("id", "=", id).executeTakeFirst();
  return row && toHeldBack(row);
}

/** All that is held back of a customer. */
export async function heldBackOf(db: Db, environment: Environment, cuid: string): Promise<NumberedHeldBack[]> {
  const query = db.selectFrom("heldBack").selectAll().where("environment", "=", environment).where("cuid", "=", cuid);
  return (await query.orderBy("id").execute()).map(toHeldBack);
}

export async function deleteHeldBack(tx: Db, environment: Environment, cuid: string): Promise<void> {
  await tx.deleteFrom("heldBack").where("environment", "=", environment).where("cuid", "=", cuid).execute();
}

async function lastId(tx: Db, table: "importRun" | "heldBack"): Promise<number> {
  return (await tx.selectFrom(table).select("id").orderBy("id", "desc").limit(1).executeTakeFirst())?.id ?? 0;
}

function heldBackRow(record: HeldBackRecord, id: number): HeldBackRow {
  const { bouquetCode: code, goodwill, goodwillDays, ...others } = record;
  return {
    ...others,
    id,
    code,
    keptEnd: record.keptEnd ?? null,
    statedEnd: record.statedEnd ?? null,
    txnId: record.txnId ?? null,
    goodwillDays: goodwill?.days ?? goodwillDays ?? null,
    goodwillAt: goodwill?.at ?? null,
    lackingEnd: goodwill?.lackingEnd ?? null,
  };
}

function toHeldBack(row: HeldBackRow): NumberedHeldBack {
  const { code: bouquetCode, goodwillDays: days, goodwillAt: at, lackingEnd, ...others } = row;
  const isGiven = days !== null && at !== null;
  return {
    ...others,
    bouquetCode,
    keptEnd: row.keptEnd ?? undefined,
    statedEnd: row.statedEnd ?? undefined,
    txnId: row.txnId ?? undefined,
    goodwillDays: isGiven ? undefined : (days ?? undefined),
    goodwill: isGiven ? { days, at, lackingEnd: lackingEnd ?? undefined } : undefined,
  };
}

/** Whether anything was topped up or granted: from then on, a customers file must say how far its records reach. */
export async function hasGrants(db: Db, environment: Environment): Promise<boolean> {
  const query = db.selectFrom("ledgerEntry").select("seq").where("environment", "=", environment);
  return (await query.where("kind", "in", ["top_up", "goodwill"]).limit(1).executeTakeFirst()) !== undefined;
}

/** Counts what a file's changes are weighed against. */
export async function countRunning(db: Db, environment: Environment, now: WallTime) {
  const subscriptions = db
    .selectFrom("subscription")
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .where("environment", "=", environment)
    .where("endTime", ">", now);
  const customers = db
    .selectFrom("customer")
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .where("environment", "=", environment)
    .where("status", "=", "active");
  const [running, active] = [await subscriptions.executeTakeFirst(), await customers.executeTakeFirst()];
  return { runningSubscriptions: Number(running?.count), activeCustomers: Number(active?.count) };
}
