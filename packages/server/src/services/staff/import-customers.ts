import type { ConnectionName, Environment } from "../../domain/customer.ts";
import type { FieldChange } from "../../domain/customer-audit.ts";
import type { HeldBack } from "../../domain/customer-import.ts";
import type { AsOfProblem } from "../../domain/ledger-import.ts";
import {
  fileChanged,
  type ImportHooks,
  isLargeChange,
  LARGE_FROM,
  type LargeChange,
  readNdjson,
  type SourceFile,
} from "../../office/imports/file.ts";
import type { ConfirmedCustomer, CustomerRowOfFile, FileRules } from "../../store/store.ts";
import { type Actor, attributionAt, momentOf, type Ports } from "../ports.ts";
import { type CheckedPart, CheckedRows } from "./checked-rows.ts";
import {
  AS_OF_REQUIRED,
  type Chunk,
  CUSTOMERS_AT_ONCE,
  customerRowReader,
  type NumberedRow,
  type RowsRequest,
  readChunks,
} from "./customer-rows.ts";
import { CustomersTally } from "./customers-tally.ts";
import { HeldBackRecords, recordRun } from "./import-runs.ts";

export interface CustomersImport extends SourceFile, RowsRequest {
  /** Takes the good lines although others are bad. */
  readonly skipInvalid?: boolean;
  /** Finds out what would change, and writes nothing. */
  readonly dryRun?: boolean;
  /** Takes a file that would change too much: see {@link LargeChange}. */
  readonly allowLargeChange?: boolean;
  /** The customers whose runs may be ended though they were paid for. */
  readonly allowShorter?: readonly string[];
  /** A run that is stated to end by less than so many days earlier keeps its end; 1 where nothing is said. */
  readonly toleranceDays?: number;
}

export interface CustomersHooks extends ImportHooks {
  /** Hears of each customer that is, or would be, added or changed, with every value before and after. */
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
  /** Of those held back: nobody said whether the records hold their goodwill. */
  readonly goodwillUnclear: number;
  /** Of the unchanged: rows of a moment before that of the last row taken for their customer. */
  readonly stale: number;
}

export type CustomersImported =
  | { readonly kind: "done"; readonly report: CustomersReport }
  /** Nothing was written. `hasGood`: other lines are good, and `skipInvalid` would take them. */
  | { readonly kind: "bad_lines"; readonly rejected: number; readonly hasGood: boolean }
  /** Nothing was written; the report says what would have been done. */
  | { readonly kind: "large_change"; readonly report: CustomersReport; readonly changes: readonly LargeChange[] }
  /** `required`: something was topped up or granted here, and neither the file nor its rows say what they hold. */
  | { readonly kind: "as_of_refused"; readonly problem: AsOfProblem };

/** The part of the running subscriptions, of the active customers, and of the file's customers, that a file may change so. */
const MOST_CHANGED = 0.1;

/**
 * Lays a file of customers over those stored, by cuid (ledger's page, section 3). First all of it is checked and its
 * change weighed, then it is written, so that nothing is written of a file with a bad line. Memory holds the cuids of a file
 * and up to 5,000 rows that may change something; a file with more of these is read a second time. Imported again after an
 * interruption, it comes to the same. A row that the check finds to change nothing is not decided again: with what is topped
 * up or reversed meanwhile, it changes nothing either. A row that names another customer's connection is written after all
 * others, which may free it, and rejected if they do not.
 * A file with a name is remembered, and what was held back of it takes the place of what was before.
 * @throws Refused if the file has changed.
 */
export function importCustomers(
  ports: Ports,
  actor: Actor,
  request: CustomersImport,
  hooks: CustomersHooks,
): Promise<CustomersImported> {
  if (request.dryRun === true || request.name === undefined) return layOver(ports, actor, request, hooks);
  const heldBack = new HeldBackRecords(request.environment);
  const onHeldBack: CustomersHooks["onHeldBack"] = (held, row) => {
    hooks.onHeldBack(held, row);
    heldBack.add(held, row);
  };
  return recordRun(ports, actor, { ...request, kind: "customers", file: request.name }, async (reason) => {
    const imported = await layOver(ports, actor, request, { ...hooks, onHeldBack }, reason);
    if (imported.kind === "done") await ports.store.importRuns.replaceHeldBack(request.environment, heldBack.list());
    return imported;
  });
}

async function layOver(
  ports: Ports,
  actor: Actor,
  request: CustomersImport,
  hooks: CustomersHooks,
  reason?: string,
): Promise<CustomersImported> {
  const { store } = ports;
  const { environment, open, readRows = readNdjson, skipInvalid, dryRun = false, allowLargeChange } = request;
  const { onRejected, onProgress } = hooks;
  const reader = await customerRowReader(ports, request);
  if (typeof reader === "string") return { kind: "as_of_refused", problem: reader };
  const rulesNow = (): FileRules => {
    const { toleranceDays = 1, allowShorter = [] } = request;
    return { now: momentOf(ports), mode: "import", toleranceDays, allowShorter: new Set(allowShorter) };
  };
  const preview = (rows: readonly CustomerRowOfFile[]) => store.previewCustomers(environment, rows, rulesNow());
  const write = (rows: readonly CustomerRowOfFile[]) => {
    const rules = rulesNow();
    return store.importCustomers(environment, rows, attributionAt(rules.now.instant, actor, reason), rules);
  };
  const confirm = (customers: readonly ConfirmedCustomer[]) => store.confirmCustomers(environment, customers);

  const isWeighed = dryRun || (allowLargeChange !== true && (await hasCustomers(ports, environment)));
  const weighed = new CustomersTally(dryRun ? hooks : undefined);
  const checked = new CheckedRows();
  const divide = ({ rows, lines }: Chunk): CheckedPart => {
    const isUnchanged = ({ row }: NumberedRow) => isWeighed && weighed.isUnchanged(row.stated.cuid);
    const changing = rows.filter((row) => !isUnchanged(row));
    const unchanged = rows.filter(isUnchanged).map(({ row: { stated, asOf } }) => ({ cuid: stated.cuid, asOf }));
    return { changing, unchanged, lines };
  };
  let [good, bad] = [0, 0];
  for await (const chunk of readChunks(readRows(open()), reader)) {
    const { rows, rejected, lines } = chunk;
    for (const { row, problems } of rejected) {
      if (problems === AS_OF_REQUIRED) return { kind: "as_of_refused", problem: "required" };
      onRejected({ line: row.line, problems });
    }
    [good, bad] = [good + rows.length, bad + rejected.length];
    if (isWeighed) await weighed.take(rows, preview);
    if (!dryRun) checked.add(divide(chunk));
    onProgress({ step: "checking", lines });
  }
  if (good === 0 || (bad > 0 && skipInvalid !== true)) return { kind: "bad_lines", rejected: bad, hasGood: good > 0 };
  if (dryRun) weighed.rejectShared(onRejected);
  const changes = allowLargeChange === true ? [] : await largeChanges(ports, environment, weighed, good);
  if (changes.length > 0) return { kind: "large_change", report: weighed.report(bad), changes };
  if (dryRun) return doneWith(weighed.report(bad));

  const readAgain = async function* (): AsyncGenerator<CheckedPart> {
    let [goodAgain, badAgain] = [0, 0];
    for await (const chunk of readChunks(readRows(open()), reader)) {
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
  return doneWith(written.report(bad));
}

/** Rows may all be rejected for the connections they name. */
function doneWith(report: CustomersReport): CustomersImported {
  const { accepted, rejected } = report;
  return accepted === 0 ? { kind: "bad_lines", rejected, hasGood: false } : { kind: "done", report };
}

async function hasCustomers({ store }: Ports, environment: Environment): Promise<boolean> {
  return (await store.search.listCustomers(environment, { after: undefined, limit: 1 })).length > 0;
}

async function largeChanges(
  ports: Ports,
  environment: Environment,
  { endsRunning, deactivates, losesMobile, losesName }: CustomersTally,
  customers: number,
): Promise<readonly LargeChange[]> {
  if (Math.max(endsRunning, deactivates, losesMobile, losesName) < LARGE_FROM) return [];
  const now = momentOf(ports);
  const { runningSubscriptions, activeCustomers } = await ports.store.search.countRunning(environment, now.wall);
  const changes: readonly LargeChange[] = [
    { what: "running_subscriptions_ended", count: endsRunning, of: runningSubscriptions },
    { what: "active_customers_deactivated", count: deactivates, of: activeCustomers },
    { what: "mobile_numbers_lost", count: losesMobile, of: customers },
    { what: "names_lost", count: losesName, of: customers },
  ];
  return changes.filter((change) => isLargeChange(change, MOST_CHANGED));
}
