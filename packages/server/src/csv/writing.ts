import type { CatalogueRow } from "../domain/catalogue.ts";
import { CONNECTION_TEXTS, type ConnectionFileRow, type CustomerFileRow } from "../domain/customer.ts";
import { printable } from "../domain/names.ts";
import { taxesText } from "../domain/tax.ts";

/**
 * The start of a formula, also after blanks and in full-width characters: a spreadsheet would execute it, even in a
 * customer's name. Some programs split lines at semicolons, so starts after a semicolon count too. Each start gets an
 * apostrophe, which reading removes.
 */
const FORMULA = "'*\\s*[=+\\-@\\t\\r＝＋－＠]";
/** An apostrophe before a digit gets another one: reading removes it as a spreadsheet's text marker. */
const START = new RegExp(`(^|;)(?=${FORMULA})|^(?='+[0-9])`, "g");
const GUARDED_START = new RegExp(`(^|;)'(?=${FORMULA})|^'(?='*[0-9])`, "g");
/** The other text marker of spreadsheets. */
const AS_FORMULA = /^="(\+?[0-9][^"]*)"$/;

/** Numbers are no formulas: a negative one begins with a minus sign. */
const NUMBER = /^-?[0-9]+(?:\.[0-9]+)?$/;

export function guardCell(text: string): string {
  return NUMBER.test(text) ? text : text.replace(START, "$1'");
}

/** Removes what guards a cell, and a spreadsheet's text marker (`'00123`, `="00123"`) before a digit. */
export function unguardCell(cell: string): string {
  return cell.startsWith("=") ? cell.replace(AS_FORMULA, "$1") : cell.replace(GUARDED_START, "$1");
}

/** A value, or taxes. */
export type Cell = string | number | null | Parameters<typeof taxesText>[0];

export function cellOf(value: Cell): string {
  const text = typeof value === "object" && value !== null ? taxesText(value) : String(value ?? "");
  return guardCell(printable(text));
}

type Cells = readonly string[];

/** Rows in the format of RFC 4180. */
export function csvText(rows: readonly Cells[]): string {
  const quoted = (cell: string) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
  return rows.map((cells) => `${cells.map(quoted).join(",")}\r\n`).join("");
}

/** Columns of the customer, equal on all its lines. */
export const PROFILE_COLUMNS = ["cuid", "first_name", "last_name", "mobile", "status", "area"] as const;
/** Columns of subscriptions. A cell has one line for each subscription of the connection. */
export const SUBSCRIPTION_COLUMNS = ["code", "startdate", "enddate", "goodwillDays"] as const;
export const CONNECTION_COLUMNS = [
  "service",
  "connection",
  "connection_status",
  ...CONNECTION_TEXTS,
  ...SUBSCRIPTION_COLUMNS,
] as const;
export const CUSTOMERS_HEADER: Cells = [...PROFILE_COLUMNS, "asOf", ...CONNECTION_COLUMNS];
export const CATALOGUE_HEADER: Cells = ["service", "code", "name", "price", "segments", "plan", "retired"];

/** One line for each connection; a customer without connections gets one line with empty cells for them. */
export function customerLines(row: CustomerFileRow): Cells[] {
  const { cuid, first_name, last_name, mobile = "", status, area = "", asOf, connections } = row;
  const profile = [cuid, first_name, last_name, mobile, status, area, asOf];
  const lines = Object.entries(connections).flatMap(([service, list]) =>
    list.map((connection) => [...profile, service, ...connectionCells(connection)]),
  );
  const found = lines.length > 0 ? lines : [[...profile, ...CONNECTION_COLUMNS.map(() => "")]];
  return found.map((cells) => cells.map(guardCell));
}

function connectionCells({ stb, username = "", status, subscriptions, ...texts }: ConnectionFileRow): string[] {
  const columns = SUBSCRIPTION_COLUMNS.map((column) => subscriptions.map((each) => each[column]).join("\n"));
  return [stb ?? username, status, ...CONNECTION_TEXTS.map((name) => texts[name] ?? ""), ...columns];
}

export function catalogueLine({ service, code, name, price, segments = [], plan, retired }: CatalogueRow): Cells {
  const cells = [service, code, name, String(price), segments.join("\n"), plan, retired ? "true" : ""];
  return cells.map(guardCell);
}
