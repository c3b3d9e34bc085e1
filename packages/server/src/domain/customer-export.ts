import type { Service } from "./bouquet.ts";
import { carriedOf } from "./carried-run.ts";
import type { Connection, Customer } from "./customer.ts";
import type { RowContext } from "./customer-row.ts";

/** One row of a customers file, in the order in which its fields are written. */
export interface CustomerFileRow {
  readonly cuid: string;
  readonly first_name: string;
  readonly last_name: string;
  readonly mobile?: string;
  readonly status: string;
  readonly connections: Readonly<Partial<Record<Service, readonly ConnectionFileRow[]>>>;
}

export interface ConnectionFileRow {
  readonly stb?: string;
  readonly username?: string;
  readonly status: string;
  readonly segment?: string;
  readonly topped_up?: true;
  readonly blocked_by_staff?: true;
  readonly subscriptions?: readonly SubscriptionFileRow[];
}

export interface SubscriptionFileRow {
  readonly code: string;
  readonly startdate: string;
  readonly enddate: string;
  readonly carried?: NonNullable<ReturnType<typeof carriedOf>>;
}

/** The row that {@link readCustomerRow} reads as this very customer. */
export function customerRow(customer: Customer, context: RowContext): CustomerFileRow {
  const { cuid, firstName, lastName, mobile, status } = customer;
  const of = (service: Service) => {
    const connections = customer.connections.filter((connection) => connection.service === service);
    return connections.length === 0 ? {} : { [service]: connections.map((each) => connectionRow(each, context)) };
  };
  return {
    ...{ cuid, first_name: firstName, last_name: lastName },
    ...(mobile === undefined ? {} : { mobile }),
    status,
    connections: { ...of("tv"), ...of("internet"), ...of("iptv") },
  };
}

function connectionRow(connection: Connection, context: RowContext): ConnectionFileRow {
  const { service, reqId, status, segment, toppedUp, blocked, subscriptions } = connection;
  return {
    ...(service === "tv" ? { stb: reqId } : { username: reqId }),
    status,
    ...(segment === undefined ? {} : { segment }),
    ...(toppedUp ? { topped_up: true as const } : {}),
    ...(blocked ? { blocked_by_staff: true as const } : {}),
    ...(subscriptions.length === 0
      ? {}
      : { subscriptions: subscriptions.map((each) => subscriptionRow(each, service, context)) }),
  };
}

function subscriptionRow(
  subscription: Connection["subscriptions"][number],
  service: Service,
  { calendar, findBouquet }: RowContext,
): SubscriptionFileRow {
  const { bouquet, start, end } = subscription;
  const carried = carriedOf(subscription, findBouquet(service, bouquet.code), calendar);
  const dates = { startdate: calendar.format(start), enddate: calendar.format(end) };
  return { code: bouquet.code, ...dates, ...(carried === undefined ? {} : { carried }) };
}
