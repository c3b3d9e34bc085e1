import type { Prepared, Query, Value } from "./session.ts";

const NUMBERS = new Set([
  "seq",
  "position",
  "partner_id",
  "amount",
  "commission",
  "balance",
  "day_top_ups",
  "day_amount",
  "at",
  "as_of",
  "reverses",
  "since",
  "run_since",
  "after_since",
  "blocked",
  "add_on",
  "after_add_on",
  "months",
  "days",
  "after_months",
  "after_days",
  "goodwill_days",
  "after_goodwill_days",
]);

type Rows<Column extends string> = readonly Readonly<Record<Column, Value>>[];

/** One statement that inserts any number of rows. @param conflict the ON CONFLICT clause. */
export function insertRows<Column extends string>(table: string, columns: readonly Column[], conflict = "") {
  const text = `INSERT INTO ${table} (${columns.join(", ")}) SELECT * FROM ${unnest(columns)} ${conflict}`;
  return withRows({ name: `${table}_insert`, text }, columns);
}

/** One statement that inserts any number of rows, or replaces those of the same key. */
export function putRows<Column extends string>(table: string, key: readonly Column[], columns: readonly Column[]) {
  const changes = columns.filter((name) => !key.includes(name)).map((name) => `${name} = excluded.${name}`);
  return insertRows(table, columns, `ON CONFLICT (${key.join(", ")}) DO UPDATE SET ${changes.join(", ")}`);
}

/** One statement that deletes any number of rows by their key. */
export function deleteRows<Column extends string>(table: string, key: readonly Column[]) {
  const text = `DELETE FROM ${table} AS t USING ${asked(key)} WHERE ${isAsked("t", key)}`;
  return withRows({ name: `${table}_delete`, text }, key);
}

/** A statement whose parameters are the columns of rows. */
export function withRows<Column extends string>(statement: Prepared, columns: readonly Column[]) {
  return (rows: Rows<Column>): Query => ({
    ...statement,
    values: columns.map((column) => arrayOf(rows, (row) => row[column])),
  });
}

/** The query for these rows, or none if there are no rows. */
export function unlessEmpty<Row>(query: (rows: readonly Row[]) => Query, rows: readonly Row[]): Query[] {
  return rows.length > 0 ? [query(rows)] : [];
}

/** An item of FROM: the rows that are passed to a statement, as `k`. */
export function asked(columns: readonly string[]): string {
  return `${unnest(columns)} AS k(${columns.join(", ")})`;
}

/** The condition that the row `alias` has the key of a passed row. */
export function isAsked(alias: string, key: readonly string[], other = "k"): string {
  return key.map((name) => `${alias}.${name} = ${other}.${name}`).join(" AND ");
}

/** Columns of a table, each with its alias in front. */
export function qualified(alias: string, columns: readonly string[]): string {
  return columns.map((name) => `${alias}.${name}`).join(", ");
}

/** The rows of a statement that gets one array parameter for each column. */
export function unnest(columns: readonly string[]): string {
  return `unnest(${columns.map((column, index) => `$${index + 1}::${NUMBERS.has(column) ? "bigint" : "text"}[]`).join(", ")})`;
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
