import type { ReadRows, SourceRow } from "../../csv/rows.ts";
import { bouquetFinder } from "../../domain/bouquet.ts";
import type { Environment } from "../../domain/customer.ts";
import { type RowContext, readCustomerRow } from "../../domain/customer-row.ts";
import type { Reading } from "../../domain/fields.ts";
import type { GoodwillReading } from "../../domain/ledger.ts";
import {
  AS_OF_PROBLEMS,
  type AsOfProblem,
  type AsOfRules,
  readAsOf,
  SETTLED_AFTER_MS,
} from "../../domain/ledger-import.ts";
import { portionsOf } from "../../domain/portions.ts";
import { Refused } from "../../domain/refused.ts";
import type { Moment } from "../../domain/wall-time.ts";
import { knownBouquets } from "../../store/reference-cache.ts";
import { readHorizon } from "../../store/settings.ts";
import type { ConfirmedCustomer, CustomerRowOfFile } from "../../store/store.ts";
import type { Decider } from "../decide.ts";
import { type RejectedLine, readRow } from "./file.ts";
import type { NumberedRow } from "./findings.ts";
import { hasGrants } from "./runs.ts";

/** Rows written at once. Top-ups of a running service wait for at most a tenth of a second. */
export const CUSTOMERS_AT_ONCE = 1000;

/** Options for reading rows of customers. */
export interface RowsRequest {
  readonly environment: Environment;
  /** The records hold every top-up and reversal up to this time, as {@link readAsOf} reads it. */
  readonly asOf?: string | undefined;
  /** Default for rows without `goodwill`. */
  readonly goodwill?: GoodwillReading | undefined;
  /** Whether to take records of more than 35 days ago. */
  readonly oldRecords?: boolean;
}

export type RowReader = (row: SourceRow) => Reading<CustomerRowOfFile>;

/** Refuses a row without `asOf` if the file has none and one is needed. */
export const AS_OF_REQUIRED: Rejected["problems"] = [{ field: "asOf", problem: "is required" }];

export const asOfRefused = (problem: AsOfProblem) => Refused.field("asOf", AS_OF_PROBLEMS[problem]);

/** @throws Refused if the file's `asOf` is not allowed. */
export async function customerRowReader(
  { store, clock }: Pick<Decider, "store" | "clock">,
  request: RowsRequest,
): Promise<RowReader> {
  const { environment, goodwill, oldRecords = false } = request;
  const now = clock();
  const findBouquet = bouquetFinder(await knownBouquets(store.engine.db, environment, now));
  const context = { findBouquet, goodwill };
  const prunedBefore = await readHorizon(store.engine.db);
  const rules: AsOfRules = { zone: store.provider.zone, now, allowsOld: oldRecords, prunedBefore };
  if (request.asOf !== undefined) {
    const asOf = readAsOf(request.asOf, rules);
    if (typeof asOf === "string") throw asOfRefused(asOf);
    return readerOf(context, rules, asOf);
  }
  // Waits for top-ups that are still being committed: they count too.
  await store.engine.awaitCommits();
  if (await hasGrants(store.engine.db, environment)) return readerOf(context, rules, undefined);
  // There is no top-up or goodwill yet. The newest moment allows the first top-up to come during the import.
  return readerOf(context, rules, store.provider.zone.moment(now - SETTLED_AFTER_MS));
}

function readerOf(context: RowContext, rules: AsOfRules, ofFile: Moment | undefined): RowReader {
  // Rows with their own `asOf` usually have the same one.
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

export interface Chunk {
  readonly rows: readonly NumberedRow[];
  readonly rejected: readonly Rejected[];
  /** The last line of the portion. */
  readonly lines: number;
}

interface Rejected {
  readonly row: SourceRow;
  readonly problems: RejectedLine["problems"];
}

export async function* readChunks(source: ReturnType<ReadRows>, read: RowReader): AsyncGenerator<Chunk> {
  const lineOf = new Map<string, number>();
  let rows: NumberedRow[] = [];
  let rejected: Rejected[] = [];
  let lines = 0;
  for await (const some of source) {
    for (const row of some) {
      lines = row.line;
      const reading = refuseSecond(read(row), row.line, lineOf);
      if (!reading.ok) rejected.push({ row, problems: reading.problems });
      else if (row.value.ok) rows.push({ line: row.line, row: reading.value, source: row.value.value });
      if (rows.length + rejected.length < CUSTOMERS_AT_ONCE) continue;
      yield { rows, rejected, lines };
      [rows, rejected] = [[], []];
    }
  }
  if (rows.length + rejected.length > 0) yield { rows, rejected, lines };
}

/** Refuses a second row of a customer. @param lineOf the line of each cuid so far. */
function refuseSecond(
  reading: Reading<CustomerRowOfFile>,
  line: number,
  lineOf: Map<string, number>,
): Reading<CustomerRowOfFile> {
  if (!reading.ok) return reading;
  const { cuid } = reading.value.stated;
  const first = lineOf.get(cuid);
  if (first === undefined) {
    lineOf.set(cuid, line);
    return reading;
  }
  const problem = `${cuid} stands on line ${first} already: a file has each customer once, in CSV on lines next to each other`;
  return { ok: false, problems: [{ field: "cuid", problem }] };
}

/** Most rows to write that are kept in memory. */
export const MOST_KEPT = 5_000;

/** A part of a customers file that was checked. */
export interface CheckedPart {
  /** Rows that may change stored data. */
  readonly changing: readonly NumberedRow[];
  /** Customers whose rows equal the stored data. */
  readonly unchanged: readonly ConfirmedCustomer[];
  /** The last line of the portion. */
  readonly lines: number;
}

/** Keeps the rows to write of a checked file, unless they are so many that the file must be read again. */
export class CheckedRows {
  readonly #changing: NumberedRow[] = [];
  readonly #unchanged: ConfirmedCustomer[] = [];
  #lines = 0;
  #isWhole = true;

  add({ changing, unchanged, lines }: CheckedPart): void {
    if (!this.#isWhole) return;
    this.#changing.push(...changing);
    this.#unchanged.push(...unchanged);
    this.#lines = lines;
    if (this.#changing.length <= MOST_KEPT) return;
    this.#isWhole = false;
    this.#changing.length = 0;
    this.#unchanged.length = 0;
  }

  /** The parts to write; undefined if the file must be read again. */
  parts(): Iterable<CheckedPart> | undefined {
    return this.#isWhole ? this.#portions() : undefined;
  }

  *#portions(): Generator<CheckedPart> {
    for (const changing of portionsOf(this.#changing, CUSTOMERS_AT_ONCE))
      yield { changing, unchanged: [], lines: changing.at(-1)?.line ?? 0 };
    for (const unchanged of portionsOf(this.#unchanged, CUSTOMERS_AT_ONCE))
      yield { changing: [], unchanged, lines: this.#lines };
  }
}
