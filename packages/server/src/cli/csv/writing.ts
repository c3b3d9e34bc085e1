import type { CatalogueRow } from "../../domain/catalogue-row.ts";
import type { ConnectionFileRow, CustomerFileRow } from "../../domain/customer-export.ts";
import { CATALOGUE_COLUMNS, CONNECTION_COLUMNS, CUSTOMER_COLUMNS } from "./cells.ts";

type Cells = readonly string[];

export const CUSTOMERS_HEADER: Cells = [...CUSTOMER_COLUMNS, ...CONNECTION_COLUMNS];
export const CATALOGUE_HEADER: Cells = CATALOGUE_COLUMNS;

/** A line for each connection; a customer without any has one in which the connection's cells are empty. */
export function customerLines(row: CustomerFileRow): Cells[] {
  const { cuid, first_name, last_name, mobile = "", status, connections } = row;
  const profile = [cuid, first_name, last_name, mobile, status];
  const lines = Object.entries(connections).flatMap(([service, list]) =>
    list.map((connection) => [...profile, service, ...connectionCells(connection)]),
  );
  return lines.length > 0 ? lines : [[...profile, ...CONNECTION_COLUMNS.map(() => "")]];
}

function connectionCells(connection: ConnectionFileRow): string[] {
  const { stb, username = "", status, segment = "", topped_up, blocked_by_staff, subscriptions = [] } = connection;
  const carried = subscriptions.map((each) => (each.carried === undefined ? "" : JSON.stringify(each.carried)));
  return [
    ...[stb ?? username, status, segment, topped_up ? "true" : "", blocked_by_staff ? "true" : ""],
    ...[subscriptions.map(({ code }) => code), subscriptions.map(({ startdate }) => startdate)].map(inLines),
    ...[subscriptions.map(({ enddate }) => enddate), carried].map(inLines),
  ];
}

export function catalogueLine(row: CatalogueRow): Cells {
  const { service, code, name, price, segments = [], plan, retired } = row;
  return [service, code, name, price, inLines(segments), plan, retired ? "true" : ""];
}

/** No identifier holds a line break. What is empty throughout leaves an empty cell. */
function inLines(texts: readonly string[]): string {
  return texts.every((text) => text === "") ? "" : texts.join("\n");
}
