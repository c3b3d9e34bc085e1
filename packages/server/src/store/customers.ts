import type { Kysely } from "kysely";
import {
  type BareConnection,
  type Connection,
  type ConnectionKey,
  type Customer,
  ENVIRONMENTS,
  type Environment,
} from "../domain/customer.ts";
import type { ConnectionLedger } from "../domain/customer-import.ts";
import { headOf, type Ledger, type LedgerHead } from "../domain/ledger.ts";
import type { Instant } from "../domain/wall-time.ts";
import { type Engine, withRawNames } from "./engine.ts";
import {
  type BareConnectionRow,
  CONNECTION_STATE,
  HEAD_COLUMNS,
  keyColumns,
  CONNECTION_KEY as RAW_CONNECTION_KEY,
  toBareConnection,
  toHead,
  toProfile,
} from "./rows.ts";
import type { RawRow, Tables } from "./tables.ts";

export interface RecordedCustomer extends Customer {
  /** Time of the last imported row; undefined if no row had one. */
  readonly asOf: Instant | undefined;
  /** The mobile number in E.164 form; undefined if it is not a valid number. */
  readonly mobileForm: string | undefined;
}

export interface CustomerPage {
  /** The cuid of the previous page's last customer; undefined for the first page. */
  readonly after: string | undefined;
  readonly limit: number;
}

/** The key columns of a connection. */
export const CONNECTION_KEY = ["cuid", "environment", "service", "reqId"] as const;

/** The ledgers of one connection, from those of its customer. */
export function ledgersOfConnection<Of extends Pick<ConnectionKey, "service" | "reqId">>(
  ledgers: readonly Of[],
  { service, reqId }: ConnectionKey,
): Of[] {
  return ledgers.filter((ledger) => ledger.service === service && ledger.reqId === reqId);
}

/** @param ledgers the ledgers of the connection. */
export async function findConnection(
  tx: Kysely<Tables>,
  key: ConnectionKey,
  ledgers: readonly Ledger[],
): Promise<Connection | undefined> {
  const query = withRawNames(tx).selectFrom("connection").selectAll();
  const row = await query.where((eb) => eb.and(keyColumns(key))).executeTakeFirst();
  return row && { ...toBareConnection(row), ledgers: ledgers.map(headOf) };
}

/** A connection with the states of its ledgers, without their entries. */
export async function findConnectionWithHeads(tx: Kysely<Tables>, key: ConnectionKey): Promise<Connection | undefined> {
  const { environment, cuid, service, reqId } = key;
  const its = await findConnectionsWithHeads(tx, environment, [cuid]);
  return its.find((each) => each.service === service && each.reqId === reqId);
}

/** All connections of some customers with the states of their ledgers, in the order of their keys. */
export async function findConnectionsWithHeads(
  tx: Kysely<Tables>,
  environment: Environment,
  cuids: readonly string[],
): Promise<(Connection & { readonly cuid: string })[]> {
  if (cuids.length === 0) return [];
  const db = withRawNames(tx);
  const connections = db.selectFrom("connection").selectAll().where("environment", "=", environment);
  const subscriptions = db.selectFrom("subscription").selectAll().where("environment", "=", environment);
  const heads = await subscriptions.where("cuid", "in", cuids).execute();
  const rows = connections.where("cuid", "in", cuids).orderBy("cuid").orderBy("service").orderBy("req_id");
  return (await rows.execute()).map((row) => {
    const its = heads.filter((head) => RAW_CONNECTION_KEY.every((column) => head[column] === row[column]));
    return { ...toBareConnection(row), cuid: row.cuid, ledgers: its.map(toHead) };
  });
}

export async function findCustomer(
  db: Kysely<Tables>,
  environment: Environment,
  cuid: string,
): Promise<RecordedCustomer | undefined> {
  return (await findCustomers(db, environment, [cuid]))[0];
}

/** The customers of some ids, in the order of the ids. */
export async function findCustomers(
  db: Kysely<Tables>,
  environment: Environment,
  cuids: readonly string[],
): Promise<RecordedCustomer[]> {
  if (cuids.length === 0) return [];
  const some = allCustomers(db).where("cuid", "in", cuids).where("environment", "=", environment);
  return withConnections(db, some);
}

/** A page of the customers of an environment, in the order of their ids. */
export function listCustomers(
  db: Kysely<Tables>,
  environment: Environment,
  { after = "", limit }: CustomerPage,
): Promise<RecordedCustomer[]> {
  const page = allCustomers(db).where("cuid", ">", after).where("environment", "=", environment);
  return withConnections(db, page.orderBy("cuid").limit(limit));
}

type SomeCustomers = ReturnType<typeof allCustomers>;

function allCustomers(db: Kysely<Tables>) {
  return withRawNames(db).selectFrom("customer").selectAll();
}

/** Reads customers, connections and ledger states as of one moment: one statement, with a row for each ledger. */
async function withConnections(db: Kysely<Tables>, some: SomeCustomers): Promise<RecordedCustomer[]> {
  const query = withRawNames(db)
    .selectFrom(some.as("c"))
    .leftJoin("connection as n", (join) =>
      join.onRef("n.cuid", "=", "c.cuid").onRef("n.environment", "=", "c.environment"),
    )
    .leftJoin("subscription as s", (join) =>
      join
        .onRef("s.cuid", "=", "n.cuid")
        .onRef("s.environment", "=", "n.environment")
        .onRef("s.service", "=", "n.service")
        .onRef("s.req_id", "=", "n.req_id"),
    )
    .select(["c.cuid", "c.first_name", "c.last_name", "c.mobile", "c.status as customer_status", "c.area"])
    .select(["c.environment", "c.as_of", "c.mobile_e164", "n.service", "n.req_id"])
    .select(CONNECTION_STATE.map((column) => `n.${column}` as const))
    .select(["s.plan", ...HEAD_COLUMNS.map((column) => `s.${column}` as const)])
    .orderBy("c.cuid")
    .orderBy("n.position")
    .orderBy("s.plan");
  const customers: (Omit<RecordedCustomer, "connections"> & { readonly connections: GrowingConnection[] })[] = [];
  for (const row of await query.execute()) {
    if (customers.at(-1)?.cuid !== row.cuid)
      customers.push({
        ...toProfile({ ...row, status: row.customer_status }),
        asOf: row.as_of ?? undefined,
        mobileForm: row.mobile_e164 ?? undefined,
        connections: [],
      });
    if (row.service === null) continue;
    const connections = customers.at(-1)?.connections ?? [];
    const connection = toBareConnection(row as BareConnectionRow);
    const last = connections.at(-1);
    if (last?.service !== connection.service || last.reqId !== connection.reqId)
      connections.push({ ...connection, ledgers: [] });
    if (row.plan !== null) connections.at(-1)?.ledgers.push(toHead(row as RawRow<"subscription">));
  }
  return customers;
}

type GrowingConnection = BareConnection & { readonly ledgers: LedgerHead[] };

/** Customers whose ledgers are read together: a few milliseconds of work before other requests get their turn. */
export const CUSTOMERS_AT_ONCE = 200;

export interface LedgersOfSome {
  readonly environment: Environment;
  readonly cuids: readonly string[];
  readonly ledgers: readonly CustomerLedger[];
}

export interface CustomerLedger extends ConnectionLedger {
  readonly environment: Environment;
  readonly cuid: string;
}

/** Yields all ledgers, in portions of some customers of one environment. */
export async function* allLedgers(engine: Engine, db: Kysely<Tables>): AsyncGenerator<LedgersOfSome> {
  for (const environment of ENVIRONMENTS)
    for (let after: string | undefined = ""; after !== undefined; ) {
      const cuids = await nextCuids(db, environment, after);
      if (cuids.length > 0) yield { environment, cuids, ledgers: await readLedgers(engine, db, environment, cuids) };
      after = cuids.length < CUSTOMERS_AT_ONCE ? undefined : cuids.at(-1);
    }
}

export async function readLedgers(
  engine: Engine,
  db: Kysely<Tables>,
  environment: Environment,
  cuids: readonly string[],
): Promise<CustomerLedger[]> {
  return (await engine.readLedgers(db, environment, cuids)).map((ledger) => ({ ...ledger, environment }));
}

/** The next customers that have ledgers, in the order of their ids. */
export async function nextCuids(db: Kysely<Tables>, environment: Environment, after: string): Promise<string[]> {
  const query = db.selectFrom("subscription").select("cuid").distinct().where("environment", "=", environment);
  const page = query.where("cuid", ">", after).orderBy("cuid").limit(CUSTOMERS_AT_ONCE);
  return (await page.execute()).map(({ cuid }) => cuid);
}
