import type { FieldProblem, Reading } from "../domain/fields.ts";
import { isJsonObject, type JsonObject, JsonSyntaxError, readJson } from "../domain/json.ts";
import type { Line } from "./read-lines.ts";

/** A line that is not taken, and why. */
export interface RejectedLine {
  /** Counted from 1, as editors do. */
  readonly line: number;
  readonly problems: readonly FieldProblem[];
}

export interface ImportOptions {
  /** Take the good lines although others are bad. */
  readonly skipInvalid: boolean;
  readonly onRejected: (rejected: RejectedLine) => void;
  readonly onProgress: (progress: ImportProgress) => void;
}

export interface ImportProgress {
  readonly step: "checking" | "writing";
  readonly lines: number;
}

export interface ImportReport {
  readonly accepted: number;
  readonly rejected: number;
  /** The catalogue revision that was made, if one was. */
  readonly revision?: number;
}

/** The file is not the same at the second reading. What was written before stays; importing again mends it. */
export class FileChanged extends Error {
  override readonly name = "FileChanged";
}

/** Reads one line as a JSON object, and that by `read`. */
export function readRow<Row>(line: Line, read: (row: JsonObject) => Reading<Row>): Reading<Row> {
  if (line.text === undefined) return wholeLine(line.problem);
  try {
    const value = readJson(line.text);
    return isJsonObject(value) ? read(value) : wholeLine("is not a JSON object");
  } catch (error) {
    if (error instanceof JsonSyntaxError) return wholeLine(error.message);
    throw error;
  }
}

function wholeLine(problem: string): Reading<never> {
  return { ok: false, problems: [{ field: "(line)", problem }] };
}
