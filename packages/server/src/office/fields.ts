import { type Static, type TObject, type TSchema, Type } from "typebox";
import { type Cell, cellOf } from "../csv/writing.ts";

/* Schemas that tell a face more than their types. */

/** Values at the end of a stream. */
export type Trailer = Readonly<Record<string, string>>;
/** Pages of rows. */
export type Rows<Row> = AsyncGenerator<readonly Row[], Trailer | undefined>;
/** CSV of rows, unless each field is a column. */
export interface CsvOf<Row> {
  readonly header: readonly string[];
  readonly lines: (row: Row) => readonly (readonly string[])[];
}
/** CSV with a column for each field. */
export function csvOf<Row extends TObject>({ properties }: Row): CsvOf<Static<Row>> {
  const header = Object.keys(properties);
  return { header, lines: (row) => [header.map((name) => cellOf((row as Record<string, Cell>)[name] ?? null))] };
}
/** Marks an answer as a stream: CSV, by default with a column for each field, or NDJSON. */
export const rowsOf = <Row extends TObject>(rows: Row, csv?: CsvOf<Static<Row>>) =>
  Type.Unsafe<Rows<Static<Row>>>({ rows, csv });

export interface GivenFile {
  readonly name: string;
  readonly isCsv: boolean;
  /** Reads its bytes from the beginning. */
  readonly open: () => AsyncIterable<Uint8Array>;
  /** Keeps the file after the answer, and returns a function that deletes the file. Undefined in the shell. */
  readonly keep?: (() => () => Promise<void>) | undefined;
}
/** Marks an input as a file: the body of a request; in the shell a path, or `-` for stdin. @public */
export const fileOf = (description: string) => Type.Unsafe<GivenFile>({ isFile: true, description });

/** Parts of a field's schema that faces read. */
export type Said = TSchema & {
  readonly type?: string;
  readonly enum?: string[];
  readonly description?: string;
  readonly rows?: TObject;
  readonly csv?: CsvOf<Record<string, unknown>>;
  readonly isFile?: true;
};
