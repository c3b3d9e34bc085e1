import { type Columns, isAsked, namesOf } from "../table.ts";
import { type ColumnsOf, TABLES, type TableName } from "../tables.ts";
import type { Prepared, Query, Value } from "./session.ts";

type Rows<Of extends Columns> = readonly Readonly<Record<keyof Of & string, Value>>[];

/** One statement that inserts any number of rows. @param conflict the ON CONFLICT clause. */
export function insertRows<Of extends Columns>(table: TableName, columns: Of, conflict = "") {
  const text = `INSERT INTO ${table} (${namesOf(columns).join(", ")}) SELECT * FROM ${unnest(columns)} ${conflict}`;
  return withRows({ name: `${table}_insert`, text }, columns);
}

/** One statement that inserts any number of whole rows, or replaces those of the same key. */
export function putRows<Name extends TableName>(table: Name) {
  const { key, columns } = TABLES[table] as { readonly key: readonly string[]; readonly columns: ColumnsOf<Name> };
  const changes = namesOf(columns).flatMap((name) => (key.includes(name) ? [] : [`${name} = excluded.${name}`]));
  return insertRows(table, columns, `ON CONFLICT (${key.join(", ")}) DO UPDATE SET ${changes.join(", ")}`);
}

/** One statement that deletes any number of rows by their key. */
export function deleteRows(table: TableName, key: Columns) {
  const text = `DELETE FROM ${table} AS t USING ${asked(key)} WHERE ${isAsked("t", namesOf(key))}`;
  return withRows({ name: `${table}_delete`, text }, key);
}

/** A statement whose parameters are the columns of rows. */
export function withRows<Of extends Columns>(statement: Prepared, columns: Of) {
  const names = namesOf(columns);
  return (rows: Rows<Of>): Query => ({ ...statement, values: names.map((name) => arrayOf(rows, (row) => row[name])) });
}

/** The query for these rows, or none if there are no rows. */
export function unlessEmpty<Row>(query: (rows: readonly Row[]) => Query, rows: readonly Row[]): Query[] {
  return rows.length > 0 ? [query(rows)] : [];
}

/** An item of FROM: the rows that are passed to a statement, as `k`. */
export function asked(columns: Columns): string {
  return `${unnest(columns)} AS k(${namesOf(columns).join(", ")})`;
}

/** The rows of a statement that gets one array parameter for each column. */
export function unnest(columns: Columns): string {
  const arrays = Object.values(columns).map(({ kind }, index) => {
    return `$${index + 1}::${kind === "number" ? "bigint" : "text"}[]`;
  });
  return `unnest(${arrays.join(", ")})`;
}

/** An array literal with one value of each row. The driver would take several times as long to write it. */
export function arrayOf<Row>(rows: readonly Row[], value: (row: Row) => Value): string {
  let text = "";
  for (const row of rows) text += `${text === "" ? "" : ","}${element(value(row))}`;
  return `{${text}}`;
}

export function textArray(texts: readonly (string | null)[]): string {
  return arrayOf(texts, (text) => text);
}

function element(value: Value): string {
  if (value === null) return "NULL";
  if (typeof value === "number") return String(value);
  return `"${/["\\]/.test(value) ? value.replace(/["\\]/g, "\\$&") : value}"`;
}
