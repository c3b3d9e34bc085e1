import { sql } from "kysely";
import type { BareConnection, ConnectionKey, Environment } from "../../domain/customer.ts";
import { CONNECTION_KEY } from "../../store/customers.ts";
import type { Db } from "../office.ts";

/** Connections of all customers that have one of these names. */
export function findConnectionsNamed(
  db: Db,
  environment: Environment,
  reqIds: readonly string[],
): Promise<ConnectionKey[]> {
  return db
    .selectFrom("customerCode as c")
    .innerJoin("connection as n", (join) =>
      join.onRef("n.cuid", "=", "c.cuid").onRef("n.environment", "=", "c.environment").onRef("n.reqId", "=", "c.code"),
    )
    .select(CONNECTION_KEY.map((column) => `n.${column}` as const))
    .where("c.code", "in", reqIds)
    .where("c.environment", "=", environment)
    .execute();
}

export function listConnectionsOfSegment(
  db: Db,
  environment: Environment,
  segment: string,
  limit: number,
): Promise<ConnectionKey[]> {
  return db
    .selectFrom("connection")
    .select(CONNECTION_KEY)
    .where("environment", "=", environment)
    .where("segment", "=", segment)
    .orderBy(sql`cuid, service, req_id`)
    .limit(limit)
    .execute();
}

/** Segments by their names, each with the number of its connections. */
export async function listSegments(db: Db, environment: Environment) {
  const query = db
    .selectFrom("connection")
    .select((eb) => ["segment", eb.fn.countAll<number>().as("connections")])
    .where("environment", "=", environment)
    .where("segment", "is not", null)
    .groupBy("segment")
    .orderBy("segment");
  return (await query.execute()).map(({ segment, connections }) => {
    return { segment: segment ?? "", connections: Number(connections) };
  });
}

/** All connections of some customers. */
export async function readConnections(
  db: Db,
  environment: Environment,
  cuids: readonly string[],
): Promise<(BareConnection & { readonly cuid: string })[]> {
  const query = db
    .selectFrom("connection")
    .select(["cuid", "service", "reqId", "status", "blocked", "segment"])
    .where("environment", "=", environment)
    .where("cuid", "in", cuids);
  return (await query.execute()).map(({ blocked, segment, ...row }) => {
    return { ...row, blocked: blocked === 1, segment: segment ?? undefined };
  });
}
