import type { Service } from "./bouquet.ts";
import { type Connection, type Customer, subscriptionsOf } from "./customer.ts";

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
  readonly subscriptions: readonly SubscriptionFileRow[];
}

export interface SubscriptionFileRow {
  readonly code: string;
  readonly startdate: string;
  readonly enddate: string;
}

/** A row of plain records, which an import can read. Blocks by staff are not in it. */
export function customerRow(customer: Customer): CustomerFileRow {
  const { cuid, firstName, lastName, mobile, status } = customer;
  const of = (service: Service) => {
    const connections = customer.connections.filter((connection) => connection.service === service);
    return connections.length === 0 ? {} : { [service]: connections.map(connectionRow) };
  };
  return {
    ...{ cuid, first_name: firstName, last_name: lastName },
    ...(mobile === undefined ? {} : { mobile }),
    status,
    connections: { ...of("tv"), ...of("internet"), ...of("iptv") },
  };
}

function connectionRow(connection: Connection): ConnectionFileRow {
  const { service, reqId, status, segment } = connection;
  return {
    ...(service === "tv" ? { stb: reqId } : { username: reqId }),
    status,
    ...(segment === undefined ? {} : { segment }),
    subscriptions: subscriptionsOf(connection).map(({ bouquet, start, end }) => ({
      ...{ code: bouquet.code, startdate: start, enddate: end },
    })),
  };
}
