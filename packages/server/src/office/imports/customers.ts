import type { Environment } from "../../domain/customer.ts";
import type { CustomerEffect } from "../../domain/customer-audit.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { GoodwillReading } from "../../domain/ledger.ts";
import { Refused } from "../../domain/refused.ts";
import { isRunning } from "../../domain/subscription.ts";
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
  const { store, by, isPreview } = of;
  const { environment, file, skipInvalid, allowLargeChange } = request;
  const { onRejected, onProgress } = hooks;
  const reader = await customerRowReader(of, request);
  const rulesNow = (): FileRules => {
    const { toleranceDays = 1, allowShorter = [] } = request;
    return { now: momentOf(of), mode: "import", toleranceDays, allowShorter: new Set(allowShorter) };
  };
  const preview = (rows: readonly CustomerRowOfFile[]) => store.previewCustomers(environment, rows, rulesNow());
  const write = (rows: readonly CustomerRowOfFile[]) => {
    const rules = rulesNow();
    return store.importCustomers(environment, rows, { ...by, at: rules.now.instant }, rules);
  };
  const confirm = (customers: readonly ConfirmedCustomer[]) => store.confirmCustomers(environment, customers);

  const isWeighed = isPreview || (allowLargeChange !== true && (await hasCustomers(of, environment)));
  const weighed = new CustomersTally(isPreview ? hooks : undefined);
  const values = new FileValues(hooks.onWarning, isPreview, store.provider.normaliseMobile);
  const checked = new CheckedRows();
  const divide = ({ rows, lines }: Chunk): CheckedPart => {
    const isUnchanged = ({ row }: NumberedRow) => isWeighed && weighed.isUnchanged(row.stated.cuid);
    const changing = rows.filter((row) => !isUnchanged(row));
    const unchanged = rows.filter(isUnchanged).map(({ row: { stated, asOf } }) => ({ cuid: stated.cuid, asOf }));
    return { changing, unchanged, lines };
  };
  const now = momentOf(of).wall;
  let [good, bad, running] = [0, 0, 0];
  for await (const chunk of readChunks(sourceRows(file, "readCustomersCsv"), reader)) {
    const { rows, rejected, lines } = chunk;
    for (const { row, problems } of rejected) {
      if (problems === AS_OF_REQUIRED) throw asOfRefused("required");
      onRejected({ line: row.line, problems });
    }
    [good, bad] = [good + rows.length, bad + rejected.length];
    for (const { row } of rows) {
      named.add(row.stated.cuid);
      for (const { subscriptions } of row.stated.connections)
        running += (subscriptions ?? []).filter((each) => isRunning(each, now)).length;
    }
    if (isWeighed) await weighed.take(rows, preview);
    values.take(rows);
    if (!isPreview) checked.add(divide(chunk));
    onProgress({ step: "checking", lines });
  }
  const counted = { ...values.report(), running };
  if (good === 0 || (bad > 0 && skipInvalid !== true)) throw badLines(bad, good > 0);
  if (isPreview) weighed.rejectShared(onRejected);
  const largeChanges = await findLargeChanges(of, environment, weighed, good);
  if (largeChanges.length > 0 && allowLargeChange !== true) throw tooLarge(largeChanges);
  if (isPreview) return doneWith({ ...weighed.report(bad), ...counted }, largeChanges);

  const readAgain = async function* (): AsyncGenerator<CheckedPart> {
    let [goodAgain, badAgain] = [0, 0];
    for await (const chunk of readChunks(sourceRows(file, "readCustomersCsv"), reader)) {
      [goodAgain, badAgain] = [goodAgain + chunk.rows.length, badAgain + chunk.rejected.length];
      if (goodAgain > good || badAgain > bad) throw fileChanged();
      yield divide(chunk);
    }
    if (goodAgain !== good) throw fileChanged();
  };
  const written = new CustomersTally(hooks);
  for await (const { changing, unchanged, lines } of checked.parts() ?? readAgain()) {
    await written.confirm(unchanged, confirm);
    await written.take(changing, write);
    onProgress({ step: "writing", lines });
  }
  await written.retryShared(write, CUSTOMERS_AT_ONCE);
  written.rejectShared(onRejected);
  return doneWith({ ...written.report(bad), ...counted }, []);
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
