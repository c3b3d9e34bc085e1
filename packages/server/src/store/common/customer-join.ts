import type { Connection, Customer } from "../../domain/customer.ts";
import type { Subscription } from "../../domain/subscription.ts";
import {
  type ConnectionRow,
  type CustomerRow,
  qualified,
  SUBSCRIPTION_COLUMNS,
  type SubscriptionRow,
  toConnection,
  toProfile,
  toSubscription,
} from "./rows.ts";

/*
 * A customer with connections and subscriptions comes in one statement, which sees one moment: a row for
 * each subscription, what stands above it repeated.
 */

/** Of customer as `c`, connection as `n` and subscription as `s`. */
export const JOINED_COLUMNS = `c.cuid, c.first_name, c.last_name, c.mobile, c.status,
  n.service, n.req_id, n.position, n.status AS connection_status, n.topped_up, n.segment, n.blocked,
  s.plan, ${qualified("s", SUBSCRIPTION_COLUMNS)}`;

/** What is null is not there. */
export type JoinedRow = CustomerRow &
  Omit<ConnectionRow, "req_id"> &
  Omit<SubscriptionRow, "plan"> & {
    req_id: string | null;
    position: number;
    connection_status: ConnectionRow["status"];
    plan: string | null;
  };

/** The row that the values of {@link JOINED_COLUMNS} make: a driver hands out a list faster than an object. */
export function joinedRow(values: readonly unknown[]): JoinedRow {
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
    segment: values[10],
    blocked: values[11],
    plan: values[12],
    code: values[13],
    name: values[14],
    add_on: values[15],
    start_at: values[16],
    end_at: values[17],
    months: values[18],
    days: values[19],
    seconds: values[20],
    topped_up_months: values[21],
    topped_up_days: values[22],
    goodwill_days: values[23],
    granted_end_at: values[24],
  } satisfies Record<keyof JoinedRow, unknown> as JoinedRow;
}

/** @param rows those of a customer together, and of these those of a connection; the connections in any order. */
export function toCustomers(rows: readonly JoinedRow[]): Customer[] {
  const customers: Customer[] = [];
  for (let start = 0; start < rows.length; ) {
    const first = rows[start] as JoinedRow;
    let end = start + 1;
    while (rows[end]?.cuid === first.cuid) end += 1;
    customers.push({ connections: toConnections(rows.slice(start, end)), ...toProfile(first) });
    start = end;
  }
  return customers;
}

/** @param rows of one customer, as {@link toCustomers} wants them. */
export function toConnections(rows: readonly JoinedRow[]): Connection[] {
  const found: { readonly position: number; readonly connection: Connection }[] = [];
  for (let start = 0; start < rows.length; ) {
    const {
      service,
      req_id,
      position,
      connection_status: status,
      topped_up,
      segment,
      blocked,
    } = rows[start] as JoinedRow;
    const subscriptions: Subscription[] = [];
    let end = start;
    for (let row = rows[end]; row !== undefined && row.service === service && row.req_id === req_id; row = rows[end]) {
      if (row.plan !== null) subscriptions.push(toSubscription(row as JoinedRow & { plan: string }));
      end += 1;
    }
    if (req_id !== null) {
      const connection = toConnection({ service, req_id, status, topped_up, segment, blocked }, subscriptions);
      found.push({ position, connection });
    }
    start = end;
  }
  if (found.length > 1) found.sort((a, b) => a.position - b.position);
  return found.map(({ connection }) => connection);
}
