import type { FieldProblem, Reading } from "../../domain/fields.ts";
import { decodeUtf8, isJsonObject, type JsonObject, JsonSyntaxError, readJson } from "../../domain/json.ts";
import type { GivenFile } from "../fields.ts";
import { Refused } from "../refused.ts";

/*
 * Reading of a provider's file: rows of either format, and lines that are refused.
 */

/** A row of a file, whatever its format; or what keeps it from being one. */
export interface SourceRow {
  /** The line where it begins, counted from 1. */
  readonly line: number;
  readonly value: Reading<JsonObject>;
}

/** Reads a file's rows in their order, some at a time. */
export type ReadRows = (pieces: AsyncIterable<Uint8Array>) => AsyncGenerator<readonly SourceRow[]>;

/** A line that is not taken, and why. */
export interface RejectedLine {
  /** Counted from 1, as editors do. */
  readonly line: number;
  readonly problems: readonly FieldProblem[];
}

export interface ImportProgress {
  readonly step: "checking" | "writing";
  readonly lines: number;
}

/** So many changes, bad lines and other findings of a file are kept and shown, of each kind. */
export const MOST_SAID = 1_000;

/** Called while a file is imported. */
export interface ImportHooks {
  readonly onRejected: (rejected: RejectedLine) => void;
  readonly onProgress: (progress: ImportProgress) => void;
}

export const LARGE_CHANGES = [
  ...(["running_subscriptions_ended", "active_customers_deactivated"] as const),
  ...(["mobile_numbers_lost", "names_lost", "codes_dropped"] as const),
] as const;

/** A change so large that it must be allowed. */
export interface LargeChange {
  /** `codes_dropped`: bouquets that the catalogue does not have any more. */
  readonly what: (typeof LARGE_CHANGES)[number];
  readonly count: number;
  /** Out of how many. */
  readonly of: number;
}

/** Fewer are no large change, whatever part of all they are. */
export const LARGE_FROM = 5;

/** @param share the most that may change of all, as a part of 1. */
export function isLargeChange({ count, of }: LargeChange, share: number): boolean {
  return count >= LARGE_FROM && count > of * share;
}

/** Refuses the rest of a file. Portions that were written stay. */
export const fileChanged = () =>
  new Refused("conflict", "the file was changed while it was being imported: import it again");

/** Reads the rows of a file. The CSV reader is loaded only if it is needed. */
export async function* sourceRows(
  { isCsv, open }: Pick<GivenFile, "isCsv" | "open">,
  csv: "readCatalogueCsv" | "readCustomersCsv",
): ReturnType<ReadRows> {
  yield* isCsv ? (await import("../../csv/reading.ts"))[csv](open()) : readNdjson(open());
}

/** Reads a row by `read`, if it is one. */
export function readRow<Row>(row: SourceRow, read: (object: JsonObject) => Reading<Row>): Reading<Row> {
  return row.value.ok ? read(row.value.value) : row.value;
}

/** One JSON object on each line. */
export async function* readNdjson(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<readonly SourceRow[]> {
  for await (const lines of readLines(pieces))
    yield lines.map((line) => ({ line: line.number, value: readObject(line) }));
}

function readObject(line: Line): Reading<JsonObject> {
  if (line.text === undefined) return wholeLine(line.problem);
  try {
    const value = readJson(line.text);
    return isJsonObject(value) ? { ok: true, value } : wholeLine("is not a JSON object");
  } catch (error) {
    if (error instanceof JsonSyntaxError) return wholeLine(error.message);
    throw error;
  }
}

function wholeLine(problem: string): Reading<never> {
  return { ok: false, problems: [{ field: "(line)", problem }] };
}

/** A line of a file, or what is wrong with it as text. */
export type Line =
  | { readonly number: number; readonly text: string }
  | { readonly number: number; readonly text: undefined; readonly problem: string };

/** Far more than a customer with many connections takes, and what keeps memory flat for any file. */
export const LINE_MAX_BYTES = 256 * 1024;

const NEWLINE = 0x0a;
const BYTE_ORDER_MARK = "\ufeff";

/**
 * Splits bytes into lines and passes over blank ones. Holds the lines of one piece at a time, however large
 * the file; they come together, since to wait for each by itself takes longer than to find it.
 */
export async function* readLines(
  pieces: AsyncIterable<Uint8Array>,
  maxBytes = LINE_MAX_BYTES,
): AsyncGenerator<readonly Line[]> {
  let number = 1;
  let held: Uint8Array[] = [];
  let heldBytes = 0;
  let lines: Line[] = [];
  const hold = (bytes: Uint8Array) => {
    if (heldBytes <= maxBytes) held.push(bytes);
    heldBytes += bytes.length;
  };
  const flush = () => {
    const line = toLine(number, held, heldBytes, maxBytes);
    held = [];
    heldBytes = 0;
    number += 1;
    if (line !== undefined) lines.push(line);
  };
  for await (const piece of pieces) {
    let from = 0;
    for (let end = piece.indexOf(NEWLINE); end !== -1; end = piece.indexOf(NEWLINE, from)) {
      hold(piece.subarray(from, end));
      from = end + 1;
      flush();
    }
    hold(piece.subarray(from));
    if (lines.length > 0) yield lines;
    lines = [];
  }
  flush();
  if (lines.length > 0) yield lines;
}

function toLine(number: number, parts: readonly Uint8Array[], bytes: number, maxBytes: number): Line | undefined {
  if (bytes > maxBytes) return { number, text: undefined, problem: `is longer than ${maxBytes} bytes` };
  const text = decodeUtf8(parts.length === 1 ? (parts[0] as Uint8Array) : Buffer.concat(parts));
  if (text === undefined) return { number, text, problem: "is not UTF-8" };
  const content = number === 1 && text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text;
  return content.trim() === "" ? undefined : { number, text: content };
}
