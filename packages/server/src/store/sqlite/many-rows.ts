import { CompiledQuery } from "kysely";
import type { Db, ManyRows } from "../engine.ts";
import { columnsOf, TABLES, type TableName } from "../tables.ts";
import { rowMaker, type Value } from "./database.ts";

/*
 * Any number of rows go to SQLite and come back as one JSON text: the driver takes longer to pass a value than SQLite takes
 * to read or write it. Unlike json_each, jsonb_each does not turn each row back into text.
 */

/** The rows that a statement is given, each a list of values. */
export const GIVEN_ROWS = "FROM jsonb_each(?1)";

/** A value of a given row. SQLite skips all values before it, so a short list is faster. */
export function givenValue(_: string, index: number): string {
  return `value ->> ${index}`;
}

export async function run<Row>(tx: Db, query: string, values: readonly Value[]): Promise<Row[]> {
  return (await tx.withoutPlugins().executeQuery(CompiledQuery.raw(query, [...values]))).rows as Row[];
}

/** Reads the rows of a query with these columns, in its order. */
export async function readMany<Row>(db: Db, query: string, columns: readonly string[], values: readonly Value[]) {
  const whole = `SELECT json_group_array(json_array(${columns.join(", ")})) AS found FROM (${query})`;
  const [all] = await run<{ found: string }>(db, whole, values);
  return (JSON.parse(all?.found ?? "[]") as unknown[][]).map(rowMaker<Row>(columns));
}

/** @param conflict follows the rows. Without WHERE, SQLite would read ON CONFLICT as the ON of a join. */
function insertion(table: TableName, conflict: string): string {
  const columns = columnsOf(table);
  return `INSERT INTO ${table} (${columns.join(", ")}) SELECT ${columns.map(givenValue).join(", ")} ${GIVEN_ROWS}
    WHERE true ON CONFLICT ${conflict}`;
}

export async function writeMany(
  tx: Db,
  sql: string,
  columns: readonly string[],
  rows: readonly object[],
): Promise<void> {
  if (rows.length === 0) return;
  const lists = (rows as readonly Readonly<Record<string, Value>>[]).map((row) => columns.map((column) => row[column]));
  await run(tx, sql, [JSON.stringify(lists)]);
}

export const MANY_ROWS: ManyRows = {
  find(db, table, column, environment, values) {
    // CROSS JOIN keeps the order of the tables, so that each row is found by an index.
    const query = `SELECT t.* FROM json_each(?1) AS k CROSS JOIN ${table} AS t ON t.${column} = k.value AND t.environment = ?2`;
    return readMany(db, query, columnsOf(table), [JSON.stringify(values), environment]);
  },
  put(tx, table, rows) {
    const key: readonly string[] = TABLES[table].key;
    const changed = columnsOf(table).flatMap((name) => (key.includes(name) ? [] : [`${name} = excluded.${name}`]));
    return writeMany(
      tx,
      insertion(table, `(${key.join(", ")}) DO UPDATE SET ${changed.join(", ")}`),
      columnsOf(table),
      rows,
    );
  },
  add: (tx, table, rows) => writeMany(tx, insertion(table, "DO NOTHING"), columnsOf(table), rows),
  remove(tx, table, rows) {
    const { key } = TABLES[table];
    const given = `SELECT ${key.map(givenValue).join(", ")} ${GIVEN_ROWS}`;
    return writeMany(tx, `DELETE FROM ${table} WHERE (${key.join(", ")}) IN (${given})`, key, rows);
  },
};
