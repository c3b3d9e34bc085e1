import type { CatalogueRow } from "../domain/catalogue.ts";
import type { ConnectionFileRow, CustomerFileRow } from "../domain/customer.ts";

/**
 * The start of a formula, also after blanks and in the wide writing of East Asia: a spreadsheet would run what a
 * customer's name says. Programs that split lines at semicolons see such a start behind each of them. Every start gets an
 * apostrophe, which is removed again when the file is read.
 */
const FORMULA = "'*\\s*[=+\\-@\\t\\r＝＋－＠]";
const START = new RegExp(`(^|;)(?=${FORMULA})`, "g");
const GUARDED_START = new RegExp(`(^|;)'(?=${FORMULA})`, "g");

export function guardCell(text: string): string {
  return text.replace(START, "$1'");
}

export function unguardCell(cell: string): string {
  return cell.replace(GUARDED_START, "$1");
}

type Cells = readonly string[];

/** Rows as RFC 4180 has them. */
export function csvText(rows: readonly Cells[]): string {
  const quoted = (cell: string) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
  return rows.map((cells) => `${cells.map(quoted).join(",")}\r\n`).join("");
}

/** Of the customer, the same on each of its lines. */
export const PROFILE_COLUMNS = ["cuid", "first_name", "last_name", "mobile", "status"] as const;
/** In these, each subscription of the connection has a line of its own. */
export const SUBSCRIPTION_COLUMNS = ["code", "startdate", "enddate", "goodwillDays"] as const;
export const CONNECTION_COLUMNS = [
  ...(["service", "connection", "connection_status", "segment"] as const),
  ...SUBSCRIPTION_COLUMNS,
];
export const CUSTOMERS_HEADER: Cells = [...PROFILE_COLUMNS, "asOf", ...CONNECTION_COLUMNS];
export const CATALOGUE_HEADER: Cells = ["service", "code", "name", "price", "segments", "plan", "retired"];

/** A line for each connection; a customer without any has one in which the connection's cells are empty. */
export function customerLines(row: CustomerFileRow): Cells[] {
  const { cuid, first_name, last_name, mobile = "", status, asOf, connections } = row;
  const profile = [cuid, first_name, last_name, mobile, status, asOf];
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
