import type { Environment } from "../../domain/customer.ts";
import type { CustomerEffect } from "../../domain/customer-audit.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { GoodwillReading } from "../../domain/ledger.ts";
import { Refused } from "../../domain/refused.ts";
import { isRunning } from "../../domain/subscription.ts";
import type { WallTime } from "../../domain/wall-time.ts";
import { listCustomers } from "../../store/customers.ts";
import { momentOf } from "../../store/ports.ts";
import type { AlsoImported, ConfirmedCustomer, CustomerRowOfFile, FileRules } from "../../store/store.ts";
import type { Decider } from "../decide.ts";
import type { GivenFile } from "../fields.ts";
import { fileChanged, isLargeChange, LARGE_FROM, type LargeChange, sourceRows } from "./file.ts";
import type { CustomersHooks, CustomersReport, NumberedRow } from "./findings.ts";
import {
  AS_OF_REQUIRED,
  asOfRefused,
  type CheckedPart,
  CheckedRows,
  type Chunk,
  CUSTOMERS_AT_ONCE,
  customerRowReader,
  type RowReader,
  type RowsRequest,
  readChunks,
} from "./rows.ts";
import { countRunning, HeldBackRecords, recordRun, replaceHeldBack } from "./runs.ts";
import { badLines, CustomersTally, tooLarge } from "./tally.ts";
import { FileValues } from "./values.ts";

export interface CustomersImport extends RowsRequest {
  /** Name of the file. An import without a name is not recorded. */
  readonly file: Pick<GivenFile, "isCsv" | "open"> & Partial<Pick<GivenFile, "name">>;
  /** Whether to take the good lines although others are bad. */
  readonly skipInvalid?: boolean;
  /** Whether to take a file that would change too much: see {@link LargeChange}. */
  readonly allowLargeChange?: boolean;
  /** Customers whose paid runs may be shortened. */
  readonly allowShorter?: readonly string[];
  /** Days (default 1): a run that the file ends less than this much earlier keeps its end. */
  readonly toleranceDays?: number;
}

export interface CustomersImported {
  readonly report: CustomersReport;
  /** Large changes: only a preview that allows them reports any. */
  readonly largeChanges: readonly LargeChange[];
}

/** Largest part of running subscriptions, of active customers and of the file's customers that a file may change unasked. */
const MOST_CHANGED = 0.1;

/**
 * Imports a file of customers, by cuid. First it checks the whole file and measures the change, then it writes: nothing is
 * written of a file with a bad line. Memory holds the cuids of the file and up to 5,000 rows that may change stored data; a
 * file with more of them is read a second time. An import that was interrupted can be repeated with the same result. A row
 * that changes nothing in the check is not decided again: top-ups and reversals that come meanwhile do not change that. A row
 * that names another customer's connection is written after all others, which may free the connection, or else rejected.
 * An import of a file with a name is recorded, and its held-back subscriptions replace those of the customers that it names.
 * @throws Refused if nothing can be written, or if the file has changed.
 */
export function importCustomers(
  of: Decider,
  request: CustomersImport,
  hooks: CustomersHooks,
): Promise<CustomersImported> {
  const { environment, asOf } = request;
  const { name: file } = request.file;
  if (of.isPreview || file === undefined) return layOver(of, request, hooks);
  const heldBack = new HeldBackRecords(environment);
  const onHeldBack: CustomersHooks["onHeldBack"] = (held, row) => {
    hooks.onHeldBack(held, row);
    heldBack.add(held, row);
  };
  return recordRun(of, { kind: "customers", environment, file, asOf }, async (recorded) => {
    const named = new Set<string>();
    const answer = await layOver(recorded, request, { ...hooks, onHeldBack }, named);
    await replaceHeldBack(of.store.engine, environment, named, heldBack.list(), of.clock());
    return { answer, report: { ...answer.report } };
  });
}

/** @param named gets the cuids of the good rows. */
async function layOver(
  of: Decider,
  request: CustomersImport,
  hooks: CustomersHooks,
  named = new Set<string>(),
): Promise<CustomersImported> {
  const { environment, skipInvalid, allowLargeChange } = request;
  const importing = { of, request, hooks, reader: await customerRowReader(of, request) };
  const checked = await checkRows(importing, named);
  const { good, bad, counted, weighed } = checked;
  if (good === 0 || (bad > 0 && skipInvalid !== true)) throw badLines(bad, good > 0);
  if (of.isPreview) weighed.rejectShared(hooks.onRejected);
  const largeChanges = await findLargeChanges(of, environment, weighed, good);
  if (largeChanges.length > 0 && allowLargeChange !== true) throw tooLarge(largeChanges);
  if (of.isPreview) return doneWith({ ...weighed.report(bad), ...counted }, largeChanges);
  const written = await writeRows(importing, checked);
  return doneWith({ ...written.report(bad), ...counted }, []);
}

/** The parts that checking and writing a file need. */
interface Importing {
  readonly of: Decider;
  readonly request: CustomersImport;
  readonly hooks: CustomersHooks;
  readonly reader: RowReader;
}

/** A customers file that was read to its end. */
interface CheckedFile {
  /** Number of rows that can be taken. */
  readonly good: number;
  readonly bad: number;
  readonly counted: Pick<CustomersReport, "mobilePlaceholders" | "mobilesUnreadable" | "running">;
  /** Effects of the good rows, if they were measured. */
  readonly weighed: CustomersTally;
  /** The rows to write. */
  readonly kept: CheckedRows;
  /** Divides a portion that is read again. */
  readonly divide: (chunk: Chunk) => CheckedPart;
}

/** Reads the whole file, and measures the change if that is needed. @param named gets the cuids of the good rows. */
async function checkRows({ of, request, hooks, reader }: Importing, named: Set<string>): Promise<CheckedFile> {
  const { store, isPreview } = of;
  const { environment, file, allowLargeChange } = request;
  const isWeighed = isPreview || (allowLargeChange !== true && (await hasCustomers(of, environment)));
  const weighed = new CustomersTally(isPreview ? hooks : undefined);
  const values = new FileValues(hooks.onWarning, isPreview, store.provider.normaliseMobile);
  const kept = new CheckedRows();
  const divide = (chunk: Chunk) => dividePart(chunk, isWeighed ? weighed : undefined);
  const preview = (rows: readonly CustomerRowOfFile[]) =>
    store.previewCustomers(environment, rows, fileRules(of, request));
  const now = momentOf(of).wall;
  let [good, bad, running] = [0, 0, 0];
  for await (const chunk of readChunks(sourceRows(file, "readCustomersCsv"), reader)) {
    const { rows, rejected, lines } = chunk;
    reportRejected(chunk, hooks);
    good += rows.length;
    bad += rejected.length;
    running += countRunningRows(rows, now);
    for (const { row } of rows) named.add(row.stated.cuid);
    if (isWeighed) await weighed.take(rows, preview);
    values.take(rows);
    if (!isPreview) kept.add(divide(chunk));
    hooks.onProgress({ step: "checking", lines });
  }
  return { good, bad, counted: { ...values.report(), running }, weighed, kept, divide };
}

/** @throws Refused if a row needs an `asOf` that the file lacks. */
function reportRejected({ rejected }: Chunk, { onRejected }: CustomersHooks): void {
  for (const { row, problems } of rejected) {
    if (problems === AS_OF_REQUIRED) throw asOfRefused("required");
    onRejected({ line: row.line, problems });
  }
}

/** The number of subscriptions that run by the rows. */
function countRunningRows(rows: readonly NumberedRow[], now: WallTime): number {
  const connections = rows.flatMap(({ row }) => row.stated.connections);
  const subscriptions = connections.flatMap((connection) => connection.subscriptions ?? []);
  return subscriptions.filter((each) => isRunning(each, now)).length;
}

/** @param weighed undefined if the change was not measured: then all rows may change something. */
function dividePart({ rows, lines }: Chunk, weighed: CustomersTally | undefined): CheckedPart {
  const isUnchanged = ({ row }: NumberedRow) => weighed?.isUnchanged(row.stated.cuid) === true;
  const changing = rows.filter((row) => !isUnchanged(row));
  const unchanged = rows.filter(isUnchanged).map(({ row: { stated, asOf } }) => ({ cuid: stated.cuid, asOf }));
  return { changing, unchanged, lines };
}

function fileRules(of: Decider, { toleranceDays = 1, allowShorter = [] }: CustomersImport): FileRules {
  return { now: momentOf(of), mode: "import", toleranceDays, allowShorter: new Set(allowShorter) };
}

async function writeRows(importing: Importing, checked: CheckedFile): Promise<CustomersTally> {
  const { of, request, hooks } = importing;
  const { store, by } = of;
  const { environment } = request;
  const write = (rows: readonly CustomerRowOfFile[]) => {
    const rules = fileRules(of, request);
    return store.importCustomers(environment, rows, { ...by, at: rules.now.instant }, rules);
  };
  const confirm = (customers: readonly ConfirmedCustomer[]) => store.confirmCustomers(environment, customers);
  const written = new CustomersTally(hooks);
  for await (const { changing, unchanged, lines } of checked.kept.parts() ?? readAgain(importing, checked)) {
    await written.confirm(unchanged, confirm);
    await written.take(changing, write);
    hooks.onProgress({ step: "writing", lines });
  }
  await written.retryShared(write, CUSTOMERS_AT_ONCE);
  written.rejectShared(hooks.onRejected);
  return written;
}

/** Reads a file that is too large to be kept in memory. @throws Refused if it has changed meanwhile. */
async function* readAgain(
  { request, reader }: Importing,
  { good, bad, divide }: CheckedFile,
): AsyncGenerator<CheckedPart> {
  let [goodAgain, badAgain] = [0, 0];
  for await (const chunk of readChunks(sourceRows(request.file, "readCustomersCsv"), reader)) {
    goodAgain += chunk.rows.length;
    badAgain += chunk.rejected.length;
    if (goodAgain > good || badAgain > bad) throw fileChanged();
    yield divide(chunk);
  }
  if (goodAgain !== good) throw fileChanged();
}

/** @throws Refused if all rows were rejected because of other customers' connections. */
function doneWith(report: CustomersReport, largeChanges: readonly LargeChange[]): CustomersImported {
  if (report.accepted === 0) throw badLines(report.rejected, false);
  return { report, largeChanges };
}

async function hasCustomers({ store }: Decider, environment: Environment): Promise<boolean> {
  return (await listCustomers(store.engine.db, environment, { after: undefined, limit: 1 })).length > 0;
}

async function findLargeChanges(
  of: Decider,
  environment: Environment,
  { endsRunning, deactivates, losesMobile, losesName }: CustomersTally,
  customers: number,
): Promise<readonly LargeChange[]> {
  if (Math.max(endsRunning, deactivates, losesMobile, losesName) < LARGE_FROM) return [];
  const now = momentOf(of);
  const { runningSubscriptions, activeCustomers } = await countRunning(of.store.engine.db, environment, now.wall);
  const changes: readonly LargeChange[] = [
    { what: "running_subscriptions_ended", count: endsRunning, of: runningSubscriptions },
    { what: "active_customers_deactivated", count: deactivates, of: activeCustomers },
    { what: "mobile_numbers_lost", count: losesMobile, of: customers },
    { what: "names_lost", count: losesName, of: customers },
  ];
  return changes.filter((change) => isLargeChange(change, MOST_CHANGED));
}

export interface CustomerImport {
  readonly environment: Environment;
  /** A row of a customers file. */
  readonly row: JsonObject;
  /** `asOf` for a row without one. */
  readonly asOf?: string | undefined;
  /** `goodwill` for a row without it. */
  readonly goodwill?: GoodwillReading | undefined;
  /** Whether to take records of more than 35 days ago. */
  readonly oldRecords?: boolean;
  /** Whether the row may shorten paid subscriptions. */
  readonly allowShorter?: boolean;
}

/**
 * Imports one row of a customers file, as {@link importCustomers} imports many.
 * @param also more work in the transaction. If it throws, nothing is written.
 * @throws Refused if the row or its `asOf` is bad.
 */
export async function importCustomer(
  of: Decider,
  request: CustomerImport,
  also?: AlsoImported,
): Promise<CustomerEffect> {
  const { store, by } = of;
  const { environment, row, allowShorter = false } = request;
  const reading = (await customerRowReader(of, request))({ line: 1, value: { ok: true, value: row } });
  if (!reading.ok) throw new Refused("invalid", "", reading.problems);
  const now = momentOf(of);
  const { cuid } = reading.value.stated;
  const rules: FileRules = { now, mode: "import", toleranceDays: 1, allowShorter: new Set(allowShorter ? [cuid] : []) };
  const [effect] = of.isPreview
    ? await store.previewCustomers(environment, [reading.value], rules)
    : await store.importCustomers(environment, [reading.value], { ...by, at: now.instant }, rules, also);
  if (effect === undefined) throw new Error("a row was settled, and nothing is said of it");
  return effect;
}
