import type { CatalogueRow } from "../../domain/catalogue-row.ts";
import type { ConnectionFileRow, CustomerFileRow } from "../../domain/customer-export.ts";

/*
 * What stands in a cell. A spreadsheet takes a text that begins with one of `= + - @`, also in the wide writing of East
 * Asia, for a formula, and would run what a customer's name says; and one such as `1E+05` for a number. Such a text gets
 * an apostrophe, which is taken off again when it is read.
 */

const FORMULA = /^'*[=+\-@\t\r＝＋－＠]/;
const NUMBER = /^'*[0-9](?:[.,][0-9]+)?E\+[0-9]{2,3}$/;

export function guardCell(text: string): string {
  return FORMULA.test(text) || NUMBER.test(text) ? `'${text}` : text;
}

export function unguardCell(cell: string): string {
  const isGuarded = cell.startsWith("'") && (FORMULA.test(cell) || NUMBER.test(cell));
  return isGuarded ? cell.slice(1) : cell;
}

/** Whether a spreadsheet has shortened a long number, in a column that was not text: what it left out is lost. */
export function isShortened(cell: string): boolean {
  return !cell.startsWith("'") && NUMBER.test(cell);
}

type Cells = readonly string[];

/** Rows as RFC 4180 has them. */
export function csvText(rows: readonly Cells[]): string {
  return rows.map((cells) => `${cells.map(quoted).join(",")}\r\n`).join("");
}

function quoted(cell: string): string {
  return /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

/** Of the customer, the same on each of its lines. */
export const PROFILE_COLUMNS = ["cuid", "first_name", "last_name", "mobile", "status"] as const;
/** In these, each subscription of the connection has a line of its own. */
export const SUBSCRIPTION_COLUMNS = ["code", "startdate", "enddate"] as const;
export const CONNECTION_COLUMNS = [
  ...(["service", "connection", "connection_status", "segment"] as const),
  ...SUBSCRIPTION_COLUMNS,
];
export const CUSTOMERS_HEADER: Cells = [...PROFILE_COLUMNS, ...CONNECTION_COLUMNS];
export const CATALOGUE_HEADER: Cells = ["service", "code", "name", "price", "segments", "plan", "retired"];

/** A line for each connection; a customer without any has one in which the connection's cells are empty. */
export function customerLines(row: CustomerFileRow): Cells[] {
  const { cuid, first_name, last_name, mobile = "", status, connections } = row;
  const profile = [cuid, first_name, last_name, mobile, status];
  const lines = Object.entries(connections).flatMap(([service, list]) =>
    list.map((connection) => [...profile, service, ...connectionCells(connection)]),
  );
  const found = lines.length > 0 ? lines : [[...profile, ...CONNECTION_COLUMNS.map(() => "")]];
  return found.map((cells) => cells.map(guardCell));
}

function connectionCells({ stb, username = "", status, segment = "", subscriptions }: ConnectionFileRow): string[] {
  const columns = SUBSCRIPTION_COLUMNS.map((column) => subscriptions.map((each) => each[column]).join("\n"));
  return [stb ?? username, status, segment, ...columns];
}

export function catalogueLine({ service, code, name, price, segments = [], plan, retired }: CatalogueRow): Cells {
  const cells = [service, code, name, String(price), segments.join("\n"), plan, retired ? "true" : ""];
  return cells.map(guardCell);
}
