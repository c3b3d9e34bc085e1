import { type Static, type TObject, type TSchema, Type } from "typebox";

/* Schemas that mean more to a face than their types. */

/** What is said of a stream at its end. */
export type Trailer = Readonly<Record<string, string>>;
/** Pages of rows. */
export type Rows<Row> = AsyncGenerator<readonly Row[], Trailer | undefined>;
/** How rows are written as CSV, if a column for each field does not do. */
export interface CsvOf<Row> {
  readonly header: readonly string[];
  readonly lines: (row: Row) => readonly (readonly string[])[];
}
/** Marks an answer as a stream: CSV, by default with a column for each field, or NDJSON. */
export const rowsOf = <Row extends TObject>(rows: Row, csv?: CsvOf<Static<Row>>) =>
  Type.Unsafe<Rows<Static<Row>>>({ rows, csv });

export interface GivenFile {
  readonly name: string;
  readonly isCsv: boolean;
  /** Reads its bytes from the beginning. */
  readonly open: () => AsyncIterable<Uint8Array>;
  /** Keeps the file beyond the answer; the function that it returns deletes the file. Undefined in the shell. */
  readonly keep?: (() => () => Promise<void>) | undefined;
}
/** Marks an input as a file: the body of a request; in the shell a path, or `-` for stdin. @public */
export const fileOf = (description: string) => Type.Unsafe<GivenFile>({ isFile: true, description });

/** What faces read in the schema of a field. */
export type Said = TSchema & {
  readonly type?: string;
  readonly enum?: string[];
  readonly description?: string;
  readonly rows?: TObject;
  readonly csv?: CsvOf<Record<string, unknown>>;
  readonly isFile?: true;
};
