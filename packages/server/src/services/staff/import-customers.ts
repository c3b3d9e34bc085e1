import type { ConnectionName, Environment } from "../../domain/customer.ts";
import type { FieldChange } from "../../domain/customer-audit.ts";
import type { HeldBack } from "../../domain/customer-import.ts";
import { type RowContext, readCustomerRow } from "../../domain/customer-row.ts";
import type { Reading } from "../../domain/fields.ts";
import {
  AS_OF_PROBLEMS,
  type AsOfProblem,
  type AsOfRules,
  readAsOf,
  SETTLED_AFTER_MS,
} from "../../domain/ledger-import.ts";
import type { Moment } from "../../domain/wall-time.ts";
import type { CustomerRowOfFile, FileRules } from "../../store/store.ts";
import { type Actor, momentOf, type Ports } from "../ports.ts";
import { CustomersTally, type NumberedRow } from "./customers-tally.ts";
import {
  bouquetFinder,
  FileChanged,
  type ImportHooks,
  isLargeChange,
  LARGE_FROM,
  type LargeChange,
  type ReadRows,
  type RejectedLine,
  readNdjson,
  readRow,
  type SourceFile,
  type SourceRow,
} from "./import-file.ts";

export interface CustomersImport extends SourceFile {
  readonly environment: Environment;
  /** Up to when the records hold every top-up and reversal made here, as {@link readAsOf} reads it. */
  readonly asOf?: string | undefined;
  /** Records of more than 35 days ago are meant. */
  readonly oldRecords?: boolean;
  /** Takes the good lines although others are bad. */
  readonly skipInvalid?: boolean;
  /** Finds out what would change, and writes nothing. */
  readonly dryRun?: boolean;
  /** A tenth of the running subscriptions, or of the active customers, and more may go. */
  readonly allowLargeChange?: boolean;
  /** The customers whose runs may be ended though they were paid for. */
  readonly allowShorter?: readonly string[];
  /** A run that is stated to end by less than so many days earlier keeps its end; 1 where nothing is said. */
  readonly toleranceDays?: number;
}

export interface CustomersHooks extends ImportHooks {
  /** Hears of each customer that is, or would be, added or changed, with every value before and after. */
  readonly onChange?: (change: ChangedCustomer) => void;
  readonly onHeldBack: (heldBack: HeldBackSubscription) => void;
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
  /** Of the unchanged: rows of a moment before that of the last row taken for their customer. */
  readonly stale: number;
}

export type CustomersImported =
  | { readonly kind: "done"; readonly report: CustomersReport }
  /** Lines are bad, and nobody said to leave them out: nothing was written. */
  | { readonly kind: "bad_lines"; readonly rejected: number }
  /** Nothing was written; the report says what would have been done. */
  | { readonly kind: "large_change"; readonly report: CustomersReport; readonly changes: readonly LargeChange[] }
  /** `required`: something was topped up or granted here, and neither the file nor its rows say what they hold. */
  | { readonly kind: "as_of_refused"; readonly problem: AsOfProblem | "required" };

/** Few enough that top-ups of a running service wait a tenth of a second at most. */
const CUSTOMERS_AT_ONCE = 1000;

/** The part of the running subscriptions that a file may end, and of the active customers that it may make inactive. */
const MOST_CHANGED = 0.1;

/**
 * Lays a file of customers over those stored, by cuid (ledger's page, section 3). The file is read twice: first all of it
 * is checked and its change weighed, then it is written, so that nothing is written of a file with a bad line, and memory
 * stays flat for a file of any size. Imported again after an interruption, it comes to the same. A row of which the first
 * reading finds that nothing changes is not decided again: with what is topped up or reversed meanwhile, it changes nothing
 * either. A row that names another customer's connection is written after all others, which may free it, and rejected if
 * they do not.
 * @throws FileChanged
 */
export async function importCustomers(
  ports: Ports,
  actor: Actor,
  request: CustomersImport,
  hooks: CustomersHooks,
): Promise<CustomersImported> {
  const { store } = ports;
  const { environment, open, readRows = readNdjson, skipInvalid, dryRun = false, allowLargeChange } = request;
  const { onRejected, onProgress } = hooks;
  const reader = await rowReader(ports, request);
  if (typeof reader === "string") return { kind: "as_of_refused", problem: reader };
  const rulesNow = (): FileRules => {
    const { toleranceDays = 1, allowShorter = [] } = request;
    return { now: momentOf(ports), mode: "import", toleranceDays, allowShorter: new Set(allowShorter) };
  };
  const preview = (rows: readonly CustomerRowOfFile[]) => store.previewCustomers(environment, rows, rulesNow());
  const write = (rows: readonly CustomerRowOfFile[]) => {
    const rules = rulesNow();
    return store.importCustomers(environment, rows, { author: actor.name, at: rules.now.instant }, rules);
  };
  const confirm = (rows: readonly CustomerRowOfFile[]) => store.confirmCustomers(environment, rows);

  const isWeighed = dryRun || (allowLargeChange !== true && (await hasCustomers(ports, environment)));
  const weighed = new CustomersTally(dryRun ? hooks : undefined);
  let [good, bad] = [0, 0];
  for await (const { rows, rejected, lines } of readChunks(readRows(open()), reader)) {
    for (const { row, problems } of rejected) {
      if (problems === AS_OF_REQUIRED) return { kind: "as_of_refused", problem: "required" };
      onRejected({ line: row.line, problems });
    }
    [good, bad] = [good + rows.length, bad + rejected.length];
    if (isWeighed) await weighed.take(rows, preview);
    onProgress({ step: "checking", lines });
  }
  if (bad > 0 && skipInvalid !== true) return { kind: "bad_lines", rejected: bad };
  if (dryRun) weighed.rejectShared(onRejected);
  const changes = allowLargeChange === true ? [] : await largeChanges(ports, environment, weighed);
  if (changes.length > 0) return { kind: "large_change", report: weighed.report(bad), changes };
  if (dryRun) return { kind: "done", report: weighed.report(bad) };

  const written = new CustomersTally(hooks);
  let [goodAgain, badAgain] = [0, 0];
  for await (const { rows, rejected, lines } of readChunks(readRows(open()), reader)) {
    [goodAgain, badAgain] = [goodAgain + rows.length, badAgain + rejected.length];
    if (goodAgain > good || badAgain > bad) throw new FileChanged();
    const isPlain = ({ row }: NumberedRow) => isWeighed && weighed.isUnchanged(row.stated.cuid);
    await written.confirm(rows.filter(isPlain), confirm);
    await written.take(
      rows.filter((row) => !isPlain(row)),
      write,
    );
    onProgress({ step: "writing", lines });
  }
  if (goodAgain !== good) throw new FileChanged();
  await written.retryShared(write, CUSTOMERS_AT_ONCE);
  written.rejectShared(onRejected);
  return { kind: "done", report: written.report(bad) };
}

async function hasCustomers({ store }: Ports, environment: Environment): Promise<boolean> {
  return (await store.search.listCustomers(environment, { after: undefined, limit: 1 })).length > 0;
}

async function largeChanges(
  ports: Ports,
  environment: Environment,
  { endsRunning, deactivates }: CustomersTally,
): Promise<readonly LargeChange[]> {
  if (Math.max(endsRunning, deactivates) < LARGE_FROM) return [];
  const now = momentOf(ports);
  const { runningSubscriptions, activeCustomers } = await ports.store.search.countRunning(environment, now.wall);
  const changes: readonly LargeChange[] = [
    { what: "running_subscriptions_ended", count: endsRunning, of: runningSubscriptions },
    { what: "active_customers_deactivated", count: deactivates, of: activeCustomers },
  ];
  return changes.filter((change) => isLargeChange(change, MOST_CHANGED));
}

type RowReader = (row: SourceRow) => Reading<CustomerRowOfFile>;

/** Of a row that says nothing of it, in a file that must. */
const AS_OF_REQUIRED: Rejected["problems"] = [{ field: "asOf", problem: "is required" }];

/** Why the file's own moment is refused; or what reads its rows. */
async function rowReader(ports: Ports, request: CustomersImport): Promise<RowReader | AsOfProblem> {
  const { store, clock } = ports;
  const { environment, oldRecords = false } = request;
  const context = { findBouquet: bouquetFinder(await store.catalogues.known(environment)) };
  const now = clock();
  const prunedBefore = await store.retention.prunedBefore();
  const rules: AsOfRules = { zone: store.provider.zone, now, allowsOld: oldRecords, prunedBefore };
  if (request.asOf !== undefined) {
    const asOf = readAsOf(request.asOf, rules);
    return typeof asOf === "string" ? asOf : readerOf(context, rules, asOf);
  }
  // A top-up whose commit is still under way counts too, though nobody sees it yet.
  await store.search.awaitCommits();
  if (await store.search.hasGrants(environment)) return readerOf(context, rules, undefined);
  // Nothing was made here that the records could hold. The youngest moment there is lets the first top-up come meanwhile.
  return readerOf(context, rules, store.provider.zone.moment(now - SETTLED_AFTER_MS));
}

function readerOf(context: RowContext, rules: AsOfRules, ofFile: Moment | undefined): RowReader {
  // Rows that say their own moment mostly say the same one.
  let last: { readonly text: string; readonly asOf: Moment | AsOfProblem } | undefined;
  return (row) => {
    const reading = readRow(row, (object) => readCustomerRow(object, context));
    if (!reading.ok) return reading;
    const stated = reading.value;
    if (stated.asOf === undefined)
      return ofFile === undefined
        ? { ok: false, problems: AS_OF_REQUIRED }
        : { ok: true, value: { stated, asOf: ofFile } };
    if (last?.text !== stated.asOf) last = { text: stated.asOf, asOf: readAsOf(stated.asOf, rules) };
    const { asOf } = last;
    if (typeof asOf !== "string") return { ok: true, value: { stated, asOf } };
    return { ok: false, problems: [{ field: "asOf", problem: AS_OF_PROBLEMS[asOf] }] };
  };
}

interface Chunk {
  readonly rows: readonly NumberedRow[];
  readonly rejected: readonly Rejected[];
  /** Up to which line it goes. */
  readonly lines: number;
}

interface Rejected {
  readonly row: SourceRow;
  readonly problems: RejectedLine["problems"];
}

async function* readChunks(source: ReturnType<ReadRows>, read: RowReader): AsyncGenerator<Chunk> {
  let rows: NumberedRow[] = [];
  let rejected: Rejected[] = [];
  let lines = 0;
  for await (const some of source) {
    for (const row of some) {
      lines = row.line;
      const reading = read(row);
      if (reading.ok) rows.push({ line: row.line, row: reading.value });
      else rejected.push({ row, problems: reading.problems });
      if (rows.length + rejected.length < CUSTOMERS_AT_ONCE) continue;
      yield { rows, rejected, lines };
      [rows, rejected] = [[], []];
    }
  }
  if (rows.length + rejected.length > 0) yield { rows, rejected, lines };
}
