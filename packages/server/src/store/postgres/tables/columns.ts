import type { Prepared, Query } from "../session/session.ts";

/** A column, and its type as PostgreSQL names it. */
export type Column = readonly [name: string, type: string];

/** Rows of parameters, as one array for each column, written out: the driver takes several times as long to do so. */
export function columnsOf(columns: number, rows: Rows): string[] {
  return Array.from({ length: columns }, (_, column) => arrayOf(rows, column));
}

/** As PostgreSQL reads an array. */
function arrayOf(rows: Rows, column: number): string {
  let text = "";
  for (const row of rows) text += `${text === "" ? "{" : ","}${element(row[column])}`;
  return text === "" ? "{}" : `${text}}`;
}

function element(value: unknown): string {
  switch (typeof value) {
    case "string":
      return `"${/["\\]/.test(value) ? value.replace(/["\\]/g, "\\$&") : value}"`;
    case "number":
    case "bigint":
    case "boolean":
      return String(value);
    default:
      if (value === null || value === undefined) return "NULL";
      if (value instanceof Uint8Array) return `"\\\\x${Buffer.from(value).toString("hex")}"`;
      throw new TypeError("a parameter is of no type that a column has");
  }
}

/** `unnest($1::text[], ...)`: as many rows as the lists are long, in one parameter for each column. */
export function unnest(columns: readonly Column[]): string {
  return `unnest(${columns.map(([, type], index) => `$${index + 1}::${type}[]`).join(", ")})`;
}

/** One statement that inserts any number of rows. @param conflict what is done with those that are there. */
export function insertRows(table: string, columns: readonly Column[], conflict = ""): (rows: Rows) => Query {
  const names = columns.map(([name]) => name).join(", ");
  const statement: Prepared = {
    name: `${table}_insert`,
    text: `INSERT INTO ${table} (${names}) SELECT * FROM ${unnest(columns)} ${conflict}`,
  };
  return (rows) => [statement, columnsOf(columns.length, rows)];
}

/** One statement that deletes any number of rows by their key. */
export function deleteRows(table: string, key: readonly Column[]): (rows: Rows) => Query {
  const names = key.map(([name]) => name);
  const statement: Prepared = {
    name: `${table}_delete`,
    text: `DELETE FROM ${table} AS t USING ${unnest(key)} AS k(${names.join(", ")})
      WHERE ${names.map((name) => `t.${name} = k.${name}`).join(" AND ")}`,
  };
  return (rows) => [statement, columnsOf(key.length, rows)];
}

/** `ON CONFLICT ... DO UPDATE` of every column that is not in the key. */
export function replacing(key: readonly Column[], columns: readonly Column[]): string {
  const inKey = new Set(key.map(([name]) => name));
  const others = columns.map(([name]) => name).filter((name) => !inKey.has(name));
  const changes = others.map((name) => `${name} = excluded.${name}`).join(", ");
  return `ON CONFLICT (${[...inKey].join(", ")}) DO UPDATE SET ${changes}`;
}

type Rows = readonly (readonly unknown[])[];
