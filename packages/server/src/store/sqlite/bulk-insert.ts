import type { Database } from "./database.ts";

export type Row = (string | number | null)[];

/**
 * Inserts any number of rows of one environment by one statement. They go to SQLite as one JSON text: the
 * driver takes much longer to hand over a value of a row than SQLite to store it.
 * @param insert how the statement begins: `INSERT` or `INSERT OR REPLACE`, as it were.
 * @param columns those beside the environment.
 */
export class BulkInsert {
  readonly #statement;

  constructor(database: Database, insert: string, table: string, columns: readonly string[]) {
    // jsonb_each, unlike json_each, does not write each row out as text, to be read again for each column.
    this.#statement = database.prepare(
      `${insert} INTO ${table} (environment, ${columns.join(", ")})
       SELECT ?2, ${columns.map((_, index) => `value ->> ${index}`).join(", ")} FROM jsonb_each(?1)`,
    );
  }

  run(environment: string, rows: readonly Row[]): void {
    if (rows.length > 0) this.#statement.run(JSON.stringify(rows), environment);
  }
}
