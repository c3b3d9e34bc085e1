import type { Service } from "./bouquet.ts";
import { done, type Result, refused } from "./failure.ts";
import type { Entry, LedgerHead } from "./ledger.ts";
import { isRunning, type Subscription } from "./subscription.ts";
import type { WallTime } from "./wall-time.ts";

export const ENVIRONMENTS = ["trial", "production"] as const;

/**
 * Trial and production customers never see each other (docs/decisions.md, "Environments, partners and access tokens").
 */
export type Environment = (typeof ENVIRONMENTS)[number];

/** The only two statuses that partners see (docs/decisions.md, "Customers and connections"). */
export type WireStatus = "active" | "inactive";

/** Status in the provider's records. A blocked connection is `inactive` for partners. */
export type ConnectionStatus = WireStatus | "blocked";

export interface CustomerProfile {
  readonly cuid: string;
  readonly firstName: string;
  readonly lastName: string;
  readonly mobile: string | undefined;
  readonly status: WireStatus;
  /** Only for staff: look-ups by partners do not read it. */
  readonly area?: string | undefined;
}

/** Texts of a connection in the provider's records. Files and the audit trail use these names. */
export const CONNECTION_TEXTS = ["segment"] as const;
export type ConnectionTexts<Value> = { readonly [Name in (typeof CONNECTION_TEXTS)[number]]: Value };

/** A set-top box, an internet username or an IPTV username, as in the last import. */
export interface BareConnection extends ConnectionTexts<string | undefined> {
  readonly service: Service;
  /** Set-top box number or username, compared exactly. */
  readonly reqId: string;
  readonly status: ConnectionStatus;
  /** A block by staff, independent of the provider's records. */
  readonly blocked: boolean;
}

export interface Connection extends BareConnection {
  /** One ledger head for each plan that the connection has or had. */
  readonly ledgers: readonly LedgerHead[];
}

export interface Customer extends CustomerProfile {
  readonly connections: readonly Connection[];
}

export type ConnectionName = Pick<BareConnection, "service" | "reqId">;

/** One connection of one customer. */
export interface ConnectionKey extends ConnectionName {
  readonly environment: Environment;
  readonly cuid: string;
}

/** The facts that decide the status that partners see. */
export interface ConnectionState extends Pick<BareConnection, "status" | "blocked"> {
  /** Latest end of the base subscriptions; undefined if there are none. */
  readonly baseEnd: WallTime | undefined;
}

/** A customer as a look-up by code shows it. */
export interface CustomerOverview extends CustomerProfile {
  readonly connections: readonly (ConnectionName & ConnectionState)[];
}

/**
 * Status that partners see. A blocked connection is inactive. With base subscriptions it is active if one runs;
 * otherwise the imported status counts (docs/decisions.md, "Customers and connections").
 */
export function wireStatus({ status, blocked, baseEnd }: ConnectionState, now: WallTime): WireStatus {
  if (blocked || status === "blocked") return "inactive";
  return baseEnd === undefined ? status : baseEnd > now ? "active" : "inactive";
}

/** Whether the provider blocked the connection, by its records or by staff. */
export function isBlocked({ status, blocked }: Pick<BareConnection, "status" | "blocked">): boolean {
  return blocked || status === "blocked";
}

/** Whether something can be sold to a customer and connection. Listings and top-ups use the same rules. */
export function openToSales<Profile extends Pick<CustomerProfile, "status">>(
  customer: Profile | undefined,
  connection: Connection | undefined,
): Result<{ readonly customer: Profile; readonly connection: Connection }> {
  if (customer === undefined) return refused("customer_not_found");
  if (customer.status === "inactive") return refused("customer_inactive");
  if (connection === undefined) return refused("connection_not_found");
  if (isBlocked(connection)) return refused("connection_blocked");
  return done({ customer, connection });
}

export function connectionState(connection: Connection): ConnectionState {
  let baseEnd: WallTime | undefined;
  for (const { bouquet, end } of subscriptionsOf(connection))
    if (!bouquet.addOn && (baseEnd === undefined || end > baseEnd)) baseEnd = end;
  return { status: connection.status, blocked: connection.blocked, baseEnd };
}

/** The connection with one of its ledger heads replaced. */
export function withHead<Of extends Pick<Connection, "ledgers">>(connection: Of, head: LedgerHead): Of {
  const others = connection.ledgers.filter(({ plan }) => plan !== head.plan);
  return { ...connection, ledgers: [...others, head] };
}

/** The connection after an entry of one of its ledgers. */
export function withEntry<Of extends Pick<Connection, "ledgers">>(
  connection: Of,
  { plan, entry: { seq, after } }: { readonly plan: string; readonly entry: Pick<Entry, "seq" | "after"> },
): Of {
  return withHead(connection, { plan, seq, subscription: after });
}

/** Subscriptions in the order that partners see: base subscriptions first, then by start. */
export function subscriptionsOf({ ledgers }: Pick<Connection, "ledgers">): Subscription[] {
  const found = ledgers.flatMap(({ subscription }) => (subscription === undefined ? [] : [subscription]));
  return found.length < 2 ? found : found.sort(compareSubscriptions);
}

function compareSubscriptions(a: Subscription, b: Subscription): number {
  if (a.bouquet.addOn !== b.bouquet.addOn) return a.bouquet.addOn ? 1 : -1;
  if (a.start !== b.start) return a.start < b.start ? -1 : 1;
  return a.plan < b.plan ? -1 : 1;
}

/** Plans of the running base subscriptions. */
export function runningBases({ ledgers }: Pick<Connection, "ledgers">, now: WallTime): string[] {
  return ledgers.flatMap(({ plan, subscription }) =>
    isRunning(subscription, now) && !subscription.bouquet.addOn ? [plan] : [],
  );
}

export function findConnection<Candidate extends ConnectionName>(
  connections: readonly Candidate[],
  name: ConnectionName,
): Candidate | undefined {
  return connections.find((connection) => isSameConnection(connection, name));
}

export function isSameConnection(a: ConnectionName, b: ConnectionName): boolean {
  return a.service === b.service && a.reqId === b.reqId;
}

/** One row of a customers file, in the order of its fields. */
export interface CustomerFileRow {
  readonly cuid: string;
  readonly first_name: string;
  readonly last_name: string;
  readonly mobile?: string;
  readonly status: string;
  readonly area?: string;
  /** Time of the row: it contains every top-up, goodwill and reversal made here up to then (ISO 8601, UTC). */
  readonly asOf: string;
  readonly connections: Readonly<Partial<Record<Service, readonly ConnectionFileRow[]>>>;
}

export interface ConnectionFileRow extends Partial<ConnectionTexts<string>> {
  readonly stb?: string;
  readonly username?: string;
  readonly status: string;
  readonly subscriptions: readonly SubscriptionFileRow[];
}

interface SubscriptionFileRow {
  readonly code: string;
  readonly startdate: string;
  readonly enddate: string;
  /** Days of goodwill included in `enddate`. Imports ignore this field. */
  readonly goodwillDays: number;
}

/** A row that an import can read. It contains no blocks by staff. */
export function customerRow(customer: Customer, asOf: string): CustomerFileRow {
  const { cuid, firstName, lastName, mobile, status, area } = customer;
  const of = (service: Service) => {
    const connections = customer.connections.filter((connection) => connection.service === service);
    return connections.length === 0 ? {} : { [service]: connections.map(connectionRow) };
  };
  return {
    ...{ cuid, first_name: firstName, last_name: lastName },
    ...(mobile === undefined ? {} : { mobile }),
    status,
    ...(area === undefined ? {} : { area }),
    asOf,
    connections: { ...of("tv"), ...of("internet"), ...of("iptv") },
  };
}

function connectionRow(connection: Connection): ConnectionFileRow {
  const { service, reqId, status } = connection;
  const texts = CONNECTION_TEXTS.map((name) => [name, connection[name]]).filter(([, value]) => value !== undefined);
  return {
    ...(service === "tv" ? { stb: reqId } : { username: reqId }),
    status,
    ...Object.fromEntries(texts),
    subscriptions: subscriptionsOf(connection).map(({ bouquet: { code }, start, end, goodwillDays }) => {
      return { code, startdate: start, enddate: end, goodwillDays };
    }),
  };
}

/** A new entry of the ledger of a plan on a connection. */
export interface NewEntry {
  readonly key: ConnectionKey;
  readonly plan: string;
  readonly entry: Entry;
}
