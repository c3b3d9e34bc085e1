import type { Reading } from "../domain/fields.ts";
import type { JsonObject } from "../domain/json.ts";

/** A row of a file of any format, or the problem of a bad row. */
export interface SourceRow {
  /** The line where the row begins, counted from 1. */
  readonly line: number;
  readonly value: Reading<JsonObject>;
}

/** Reads a file's rows in their order, some at a time. */
export type ReadRows = (pieces: AsyncIterable<Uint8Array>) => AsyncGenerator<readonly SourceRow[]>;
