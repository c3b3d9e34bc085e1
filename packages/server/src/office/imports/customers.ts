import type { ConnectionName, Environment } from "../../domain/customer.ts";
import type { CustomerEffect, FieldChange } from "../../domain/customer-audit.ts";
import type { HeldBack } from "../../domain/customer-import.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { GoodwillReading } from "../../domain/ledger.ts";
import { listCustomers } from "../../store/customers.ts";
import { momentOf } from "../../store/ports.ts";
import type { ConfirmedCustomer, CustomerRowOfFile, FileRules } from "../../store/store.ts";
import type { GivenFile } from "../fields.ts";
import type { Decider } from "../office.ts";
import { Refused } from "../refused.ts";
import { fileChanged, type ImportHooks, isLargeChange, LARGE_FROM, type LargeChange, sourceRows } from "./file.ts";
import {
  AS_OF_REQUIRED,
  asOfRefused,
  type CheckedPart,
  CheckedRows,
  type Chunk,
  CUSTOMERS_AT_ONCE,
  customerRowReader,
  type NumberedRow,
  type RowsRequest,
  readChunks,
} from "./rows.ts";
import { countRunning, HeldBackRecords, recordRun, replaceHeldBack } from "./runs.ts";
import { badLines, CustomersTally, tooLarge } from "./tally.ts";

export interface CustomersImport extends RowsRequest {
  /** Its import is recorded if it has a name. */
  readonly file: Pick<GivenFile, "isCsv" | "open"> & Partial<Pick<GivenFile, "name">>;
  /** Takes the good lines although others are bad. */
  readonly skipInvalid?: boolean;
  /** Takes a file that would change too much: see {@link LargeChange}. */
  readonly allowLargeChange?: boolean;
  /** The customers whose runs may be ended though they were paid for. */
  readonly allowShorter?: readonly string[];
  /** A run that is stated to end by less than so many days earlier keeps its end; default 1. */
  readonly toleranceDays?: number;
}

export interface CustomersHooks extends ImportHooks {
  /** Called for each customer that is, or would be, added or changed. */
  readonly onChange?: (change: ChangedCustomer) => void;
  readonly onHeldBack: (heldBack: HeldBackSubscription, row: NumberedRow) => void;
  readonly onWarning: (warning: ImportWarning) => void;
}

export interface ChangedCustomer {
  readonly line: number;
  readonly cuid: string;
  readonly kind: "added" | "changed";
  readonly changes: readonly FieldChange[];
}

export interface HeldBackSubscription extends HeldBack {
  readonly line: number;
  readonly cuid: string;
}

/** A connection is stated inactive while a base subscription of it runs: to stop one, it is stated blocked. */
export interface ImportWarning extends ConnectionName {
  readonly kind: "running_though_inactive";
  readonly line: number;
  readonly cuid: string;
}

export interface CustomersReport {
  readonly accepted: number;
  readonly rejected: number;
  readonly added: number;
  readonly changed: number;
  readonly unchanged: number;
  /** Subscriptions, not customers. */
  readonly heldBack: number;
  /** Subscriptions held back because it is not known whether the records hold their goodwill. */
  readonly goodwillUnclear: number;
  /** Unchanged rows that are older than the last row taken for their customer. */
  readonly stale: number;
}

export interface CustomersImported {
  readonly report: CustomersReport;
  /** Only a preview that allows them finds any. */
  readonly largeChanges: readonly LargeChange[];
}

/** The part of the running subscriptions, of the active customers, and of the file's customers, that a file may change so. */
const MOST_CHANGED = 0.1;

/**
 * Lays a file of customers over those stored, by cuid (ledger's page, section 3). First all of it is checked and its
 * change weighed, then it is written, so that nothing is written of a file with a bad line. Memory holds the cuids of a file
 * and up to 5,000 rows that may change something; a file with more of these is read a second time. Imported again after an
 * interruption, it comes to the same. A row that the check finds to change nothing is not decided again: with what is topped
 * up or reversed meanwhile, it changes nothing either. A row that names another customer's connection is written after all
 * others, which may free it, and rejected if they do not.
 * A file with a name is recorded, and its held-back subscriptions replace those of the last file.
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
    const answer = await layOver(recorded, request, { ...hooks, onHeldBack });
    await replaceHeldBack(of.store.engine, environment, heldBack.list(), of.clock());
    return { answer, report: { ...answer.report } };
  });
}

async function layOver(of: Decider, request: CustomersImport, hooks: CustomersHooks): Promise<CustomersImported> {
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
  const checked = new CheckedRows();
  const divide = ({ rows, lines }: Chunk): CheckedPart => {
    const isUnchanged = ({ row }: NumberedRow) => isWeighed && weighed.isUnchanged(row.stated.cuid);
    const changing = rows.filter((row) => !isUnchanged(row));
    const unchanged = rows.filter(isUnchanged).map(({ row: { stated, asOf } }) => ({ cuid: stated.cuid, asOf }));
    return { changing, unchanged, lines };
  };
  let [good, bad] = [0, 0];
  for await (const chunk of readChunks(sourceRows(file, "readCustomersCsv"), reader)) {
    const { rows, rejected, lines } = chunk;
    for (const { row, problems } of rejected) {
      if (problems === AS_OF_REQUIRED) throw asOfRefused("required");
      onRejected({ line: row.line, problems });
    }
    [good, bad] = [good + rows.length, bad + rejected.length];
    if (isWeighed) await weighed.take(rows, preview);
    if (!isPreview) checked.add(divide(chunk));
    onProgress({ step: "checking", lines });
  }
  if (good === 0 || (bad > 0 && skipInvalid !== true)) throw badLines(bad, good > 0);
  if (isPreview) weighed.rejectShared(onRejected);
  const largeChanges = await findLargeChanges(of, environment, weighed, good);
  if (largeChanges.length > 0 && allowLargeChange !== true) throw tooLarge(largeChanges);
  if (isPreview) return doneWith(weighed.report(bad), largeChanges);

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
  return doneWith(written.report(bad), []);
}

/** @throws Refused if all rows were rejected, for the connections they name. */
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
  /** Default if the row has none. */
  readonly asOf?: string | undefined;
  /** Default if the row has none. */
  readonly goodwill?: GoodwillReading | undefined;
  /** Records of more than 35 days ago are meant. */
  readonly oldRecords?: boolean;
  /** The row may shorten paid subscriptions. */
  readonly allowShorter?: boolean;
}

/**
 * Writes one row of a customers file over what is stored of its customer, as {@link importCustomers} does with many.
 * @throws Refused if the row or its moment is bad.
 */
export async function importCustomer(of: Decider, request: CustomerImport): Promise<CustomerEffect> {
  const { store, by } = of;
  const { environment, row, allowShorter = false } = request;
  const reading = (await customerRowReader(of, request))({ line: 1, value: { ok: true, value: row } });
  if (!reading.ok) throw new Refused("invalid", "", reading.problems);
  const now = momentOf(of);
  const { cuid } = reading.value.stated;
  const rules: FileRules = { now, mode: "import", toleranceDays: 1, allowShorter: new Set(allowShorter ? [cuid] : []) };
  const [effect] = of.isPreview
    ? await store.previewCustomers(environment, [reading.value], rules)
    : await store.importCustomers(environment, [reading.value], { ...by, at: now.instant }, rules);
  if (effect === undefined) throw new Error("a row was settled, and nothing is said of it");
  return effect;
}
