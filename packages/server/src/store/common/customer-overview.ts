import type { CustomerOverview, CustomerProfile } from "../../domain/customer.ts";
import { type ConnectionRow, type CustomerRow, toProfile } from "./rows.ts";

/*
 * What a look-up by code needs of customers, a row for each connection: it is asked for more often than
 * anything else, and a whole customer would take twice the time.
 */

/**
 * Of customer as `c` and connection as `n`.
 * @param baseEnd the latest end of the connection's base subscriptions.
 */
export function overviewColumns(baseEnd: string): string {
  return `c.cuid, c.first_name, c.last_name, c.mobile, c.status,
    n.service, n.req_id, n.position, n.status AS connection_status, n.blocked, n.topped_up,
    (${baseEnd}) AS base_end_at`;
}

/** Where a customer has no connection, `req_id` and all that follows is null. */
export interface OverviewRow extends CustomerRow, Omit<ConnectionRow, "req_id" | "status" | "segment"> {
  req_id: string | null;
  position: number;
  connection_status: ConnectionRow["status"];
  base_end_at: number | null;
}

/** The row that the values of {@link overviewColumns} make, in their order. */
export function overviewRow(values: readonly unknown[]): OverviewRow {
  return {
    cuid: values[0],
    first_name: values[1],
    last_name: values[2],
    mobile: values[3],
    status: values[4],
    service: values[5],
    req_id: values[6],
    position: values[7],
    connection_status: values[8],
    blocked: values[9],
    topped_up: values[10],
    base_end_at: values[11],
  } satisfies Record<keyof OverviewRow, unknown> as OverviewRow;
}

/** @param rows those of a customer together, each customer's in any order. */
export function toOverviews(rows: readonly OverviewRow[]): CustomerOverview[] {
  const found: { readonly profile: CustomerProfile; readonly rows: OverviewRow[] }[] = [];
  for (const row of rows) {
    const last = found.at(-1);
    if (last?.profile.cuid === row.cuid) last.rows.push(row);
    else found.push({ profile: toProfile(row), rows: [row] });
  }
  return found.map(({ profile, rows: its }) => ({ connections: toConnections(its), ...profile }));
}

function toConnections(rows: OverviewRow[]): CustomerOverview["connections"] {
  const [first] = rows;
  if (first === undefined || first.req_id === null) return [];
  if (rows.length > 1) rows.sort((a, b) => a.position - b.position);
  return rows.map((row) => ({
    service: row.service,
    reqId: row.req_id as string,
    status: row.connection_status,
    blocked: Boolean(row.blocked),
    toppedUp: Boolean(row.topped_up),
    baseEnd: row.base_end_at ?? undefined,
  }));
}
