import { sql } from "kysely";
import type { Static } from "typebox";
import type { Environment } from "../../domain/customer.ts";
import type { HeldBack } from "../../domain/customer-import.ts";
import { writeJson } from "../../domain/json.ts";
import { portionsOf } from "../../domain/portions.ts";
import { Refused } from "../../domain/refused.ts";
import { type Instant, isoTime, isoTimeOrNull, type WallTime } from "../../domain/wall-time.ts";
import type { Db, Engine } from "../../store/engine.ts";
import type { HeldBackRow, ImportRunRow } from "../../store/tables.ts";
import type { Decider } from "../decide.ts";
import { failureWords } from "../work.ts";
import type { HeldBackSubscription, NumberedRow } from "./findings.ts";
import type { HeldBackKind, ImportRunSchema } from "./schemas.ts";

/** Runs an import, and records it unless it is a preview. All audit entries of an import have the same reason. */
export async function recordRun<Of extends Decider, Answer>(
  of: Of,
  run: Omit<ImportRun, "author" | "asOf"> & { readonly asOf?: string | undefined },
  work: (of: Of) => Promise<{ readonly answer: Answer; readonly report: NonNullable<RunEnd["report"]> }>,
): Promise<Answer> {
  if (of.isPreview) return (await work(of)).answer;
  const { clock, by } = of;
  const { engine } = of.store;
  const { kind, environment, file, asOf } = run;
  const id = await beginRun(engine, { kind, environment, file, asOf, author: by.author }, clock());
  const reason = [`import ${id}: ${file}`, ...(by.reason === undefined ? [] : [by.reason])].join(", ");
  const { answer, report } = await work({ ...of, by: { ...by, reason } }).catch(async (error: unknown) => {
    const outcome = error instanceof Refused && error.code === "invalid" ? "refused" : "failed";
    // The caller gets the error in any case.
    await endRun(engine, id, { outcome, problem: failureWords(error) }, clock()).catch(() => {});
    throw error;
  });
  await endRun(engine, id, { outcome: "done", report }, clock());
  return answer;
}

/** Most records kept of a file. A file that holds back more is wrong as a whole and must be imported again. */
const MOST_HELD_BACK = 10_000;

/** Collects the subscriptions that a file holds back, each with its last row. */
export class HeldBackRecords {
  readonly #environment: Environment;
  readonly #records = new Map<string, HeldBackRecord>();

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  add(held: HeldBackSubscription, { row, source }: NumberedRow): void {
    const { cuid, service, reqId, plan } = held;
    const { goodwill } = row.stated;
    const key = JSON.stringify([cuid, service, reqId, plan]);
    if (this.#records.size >= MOST_HELD_BACK && !this.#records.has(key)) return;
    const asOf = isoTime(row.asOf.instant);
    this.#records.set(key, {
      ...held,
      environment: this.#environment,
      sourceRow: writeJson({ ...source, asOf, ...(goodwill && { goodwill }) }),
    });
  }

  list(): readonly HeldBackRecord[] {
    return [...this.#records.values()];
  }
}

/** Imports that stay on record. */
export const IMPORTS_KEPT = 50;
/** Rows in one statement, whose parameters are limited. */
const ROWS_AT_ONCE = 500;

/** An import of a file. */
export interface ImportRun extends Pick<ImportRunRow, "kind" | "environment" | "author"> {
  /** The file's name. */
  readonly file: string;
  /** The `asOf` of the whole file. */
  readonly asOf: string | undefined;
}

export interface RunEnd {
  readonly outcome: "done" | "refused" | "failed";
  /** Counts; undefined if the import was refused, since it changed nothing. */
  readonly report?: Readonly<Record<string, number | boolean>> | undefined;
  /** Reason of a refusal or failure. */
  readonly problem?: string | undefined;
}

/** Records the start of an import. @returns the number of the import. */
export function beginRun(engine: Engine, { asOf, ...run }: ImportRun, at: Instant): Promise<number> {
  return engine.change(async (tx) => {
    const id = (await lastId(tx, "importRun")) + 1;
    // If another import is really still running, it records its own end later.
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

/** Lists all recorded imports, newest first. */
export async function listRuns(db: Db): Promise<Static<typeof ImportRunSchema>[]> {
  const rows = await db.selectFrom("importRun").selectAll().orderBy("id", "desc").execute();
  return rows.map(({ asOf, startedAt, endedAt, report, ...run }) => ({
    ...run,
    asOf,
    startedAt: isoTime(startedAt),
    endedAt: isoTimeOrNull(endedAt ?? undefined),
    report: report === null ? null : (JSON.parse(report) as Record<string, number | boolean>),
  }));
}

/** A subscription that a customers file held back, until staff decide or a file names its customer again. */
export interface HeldBackRecord extends HeldBack {
  readonly environment: Environment;
  readonly cuid: string;
  readonly line: number;
  /** The customer's row of the file, as JSON, with its `asOf`. */
  readonly sourceRow: string;
}

export type NumberedHeldBack = HeldBackRecord & { readonly id: number; readonly kind: HeldBackKind };

/** Replaces the held-back records of some customers. */
export function replaceHeldBack(
  engine: Engine,
  environment: Environment,
  cuids: ReadonlySet<string>,
  heldBack: readonly HeldBackRecord[],
  at: Instant,
): Promise<void> {
  return engine.change(async (tx) => {
    // Numbers are not used again: a page may still show a deleted record, and must not settle another one.
    const first = Math.max((await lastId(tx, "heldBack")) + 1, at);
    const found = (await heldBackIn(tx, environment).select("cuid").execute()).map(({ cuid }) => cuid);
    for (const some of portionsOf(
      [...new Set(found)].filter((cuid) => cuids.has(cuid)),
      ROWS_AT_ONCE,
    ))
      await tx.deleteFrom("heldBack").where("environment", "=", environment).where("cuid", "in", some).execute();
    const rows = heldBack.map((record, index) => heldBackRow(record, first + index));
    for (const some of portionsOf(rows, ROWS_AT_ONCE)) await tx.insertInto("heldBack").values(some).execute();
  });
}

const KIND = sql<HeldBackKind>`CASE WHEN row_end IS NOT NULL THEN 'reversed'
  WHEN unclear_days IS NOT NULL THEN 'goodwill_unclear'
  WHEN goodwill_days IS NOT NULL OR txn_id IS NULL THEN 'goodwill' ELSE 'top_up' END`;

function heldBackIn(db: Db, environment: Environment) {
  return db.selectFrom("heldBack").where("environment", "=", environment);
}

/** Lists held-back records: older files first, each in its order. */
export async function listHeldBack(
  db: Db,
  environment: Environment,
  page: { readonly kind?: HeldBackKind | undefined; readonly after?: number | undefined; readonly limit?: number },
): Promise<NumberedHeldBack[]> {
  const { kind, after = 0, limit } = page;
  let query = heldBackIn(db, environment).selectAll().select(KIND.as("kind")).where("id", ">", after);
  if (kind !== undefined) query = query.where(KIND, "=", kind);
  if (limit !== undefined) query = query.limit(limit);
  return (await query.orderBy("id").execute()).map(toHeldBack);
}

/** Counts held-back records by kind. */
export async function totalsHeldBack(
  db: Db,
  environment: Environment,
): Promise<{ kind: HeldBackKind; count: number }[]> {
  const query = heldBackIn(db, environment).select((eb) => [KIND.as("kind"), eb.fn.countAll().as("count")]);
  const rows = await query.groupBy(KIND).orderBy("kind").execute();
  return rows.map(({ kind, count }) => ({ kind, count: Number(count) }));
}

/** The counts of the last customers file that was imported; undefined if there is none on record. */
export async function lastReport(db: Db, environment: Environment): Promise<Record<string, number> | undefined> {
  const query = db.selectFrom("importRun").select("report").where("kind", "=", "customers");
  const done = query.where("environment", "=", environment).where("outcome", "=", "done");
  const row = await done.orderBy("id", "desc").limit(1).executeTakeFirst();
  return JSON.parse(row?.report ?? "null") ?? undefined;
}

export async function countHeldBack(db: Db, environment: Environment): Promise<number> {
  const query = heldBackIn(db, environment).select((eb) => eb.fn.countAll().as("count"));
  return Number((await query.executeTakeFirstOrThrow()).count);
}

/** Held-back records of a customer. */
export async function heldBackOf(db: Db, environment: Environment, cuid: string): Promise<NumberedHeldBack[]> {
  const query = heldBackIn(db, environment).selectAll().select(KIND.as("kind")).where("cuid", "=", cuid);
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
    rowEnd: record.rowEnd ?? null,
    goodwillDays: goodwillDays ?? null,
    unclearDays: goodwill?.days ?? null,
    unclearAt: goodwill?.at ?? null,
    lackingEnd: goodwill?.lackingEnd ?? null,
  };
}

function toHeldBack(row: HeldBackRow & { readonly kind: HeldBackKind }): NumberedHeldBack {
  const { code: bouquetCode, unclearDays: days, unclearAt: at, lackingEnd, ...others } = row;
  return {
    ...others,
    bouquetCode,
    keptEnd: row.keptEnd ?? undefined,
    statedEnd: row.statedEnd ?? undefined,
    txnId: row.txnId ?? undefined,
    rowEnd: row.rowEnd ?? undefined,
    goodwillDays: row.goodwillDays ?? undefined,
    goodwill: days === null || at === null ? undefined : { days, at, lackingEnd: lackingEnd ?? undefined },
  };
}

/** Whether there is any top-up or goodwill. If so, a customers file must have an `asOf`. */
export async function hasGrants(db: Db, environment: Environment): Promise<boolean> {
  const query = db.selectFrom("ledgerEntry").select("seq").where("environment", "=", environment);
  return (await query.where("kind", "in", ["top_up", "goodwill"]).limit(1).executeTakeFirst()) !== undefined;
}

/** Counts running subscriptions and active customers, to see whether a file's change is large. */
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
