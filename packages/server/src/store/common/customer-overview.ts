import type { CustomerOverview } from "../../domain/customer.ts";
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
    n.service, n.req_id, n.position, n.status AS connection_status, n.topped_up, (${baseEnd}) AS base_end_at`;
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
    topped_up: values[9],
    base_end_at: values[10],
  } satisfies Record<keyof OverviewRow, unknown> as OverviewRow;
}

/** @param rows those of a customer together, each customer's in any order. */
export function toOverviews(rows: readonly OverviewRow[]): CustomerOverview[] {
  const customers: CustomerOverview[] = [];
  for (let start = 0; start < rows.length; ) {
    const first = rows[start] as OverviewRow;
    let end = start + 1;
    while (rows[end]?.cuid === first.cuid) end += 1;
    customers.push(toOverview(first, rows.slice(start, end)));
    start = end;
  }
  return customers;
}

function toOverview(first: OverviewRow, rows: OverviewRow[]): CustomerOverview {
  if (rows.length > 1) rows.sort((a, b) => a.position - b.position);
  const connections = rows.flatMap(({ service, req_id: reqId, connection_status: status, topped_up, base_end_at }) =>
    reqId === null ? [] : { service, reqId, status, toppedUp: Boolean(topped_up), baseEnd: base_end_at ?? undefined },
  );
  return { ...toProfile(first), connections };
}
