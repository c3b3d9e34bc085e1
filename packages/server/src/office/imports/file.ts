import type { ReadRows, SourceRow } from "../../csv/rows.ts";
import type { FieldProblem, Reading } from "../../domain/fields.ts";
import { decodeUtf8, isJsonObject, type JsonObject, JsonSyntaxError, readJson } from "../../domain/json.ts";
import { Refused } from "../../domain/refused.ts";
import type { GivenFile } from "../fields.ts";

/* Reading of a provider's file: rows of both formats, and lines that are refused. */

/** A rejected line and its problems. */
export interface RejectedLine {
  /** Counted from 1, as editors do. */
  readonly line: number;
  readonly problems: readonly FieldProblem[];
}

export interface ImportProgress {
  readonly step: "checking" | "writing";
  readonly lines: number;
}

/** Most findings of each kind that are kept and shown for a file. */
export const MOST_SAID = 1_000;

/** Called while a file is imported. */
export interface ImportHooks {
  readonly onRejected: (rejected: RejectedLine) => void;
  readonly onProgress: (progress: ImportProgress) => void;
}

export const LARGE_CHANGES = [
  "running_subscriptions_ended",
  "active_customers_deactivated",
  "mobile_numbers_lost",
  "names_lost",
  "codes_dropped",
] as const;

/** A change so large that it must be allowed. */
export interface LargeChange {
  /** `codes_dropped`: bouquets that the new catalogue lacks. */
  readonly what: (typeof LARGE_CHANGES)[number];
  readonly count: number;
  /** Number of all. */
  readonly of: number;
}

/** Fewer changes than this are never a large change. */
export const LARGE_FROM = 5;

/** @param share the largest part of all that may change, from 0 to 1. */
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

/** Reads a row with `read`, unless the row is bad. */
export function readRow<Row>(row: SourceRow, read: (object: JsonObject) => Reading<Row>): Reading<Row> {
  return row.value.ok ? read(row.value.value) : row.value;
}

/** Reads one JSON object on each line. */
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

/** A line of a file, or the problem of its text. */
export type Line =
  | { readonly number: number; readonly text: string }
  | { readonly number: number; readonly text: undefined; readonly problem: string };

/** Longest line. It is far more than a customer with many connections needs, and limits memory for any file. */
export const LINE_MAX_BYTES = 256 * 1024;

const NEWLINE = 0x0a;

/**
 * Splits bytes into lines, without blank ones. Memory holds the lines of one piece. They come together, since awaiting each
 * line takes longer than finding it.
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
  return text.trim() === "" ? undefined : { number, text };
}
