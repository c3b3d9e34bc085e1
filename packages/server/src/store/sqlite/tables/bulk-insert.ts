import type { Database } from "../database.ts";

export type Row = (string | number | null)[];

/** Columns that have one value in all rows, and the value. */
export type Fixed = Readonly<Record<string, string | number>>;

/**
 * Inserts any number of rows of one environment by one statement. They go to SQLite as one JSON text: the
 * driver takes much longer to hand over a value of a row than SQLite to store it.
 * @param insert how the statement begins: `INSERT INTO` a table, as it were.
 * @param columns those beside the environment and what is fixed.
 */
export class BulkInsert {
  readonly #statement;

  constructor(database: Database, insert: string, columns: readonly string[], fixed: Fixed = {}) {
    // jsonb_each, unlike json_each, does not write each row out as text, to be read again for each column.
    this.#statement = database.prepare(
      `${insert} (${["environment", ...Object.keys(fixed), ...columns].join(", ")})
       SELECT ${["?2", ...Object.values(fixed).map(literal), ...columns.map((_, index) => `value ->> ${index}`)].join(", ")}
       FROM jsonb_each(?1)`,
    );
  }

  run(environment: string, rows: readonly Row[]): void {
    if (rows.length > 0) this.#statement.run(JSON.stringify(rows), environment);
  }
}

/** That a row has these values. */
export function conditionOf(fixed: Fixed): string {
  return Object.entries(fixed)
    .map(([column, value]) => `${column} = ${literal(value)}`)
    .join(" AND ");
}

/** @param value of topupd's own, and without a quote. */
function literal(value: string | number): string {
  return typeof value === "number" ? String(value) : `'${value}'`;
}
