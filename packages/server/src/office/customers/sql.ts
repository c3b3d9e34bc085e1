import { sql } from "kysely";
import type { Service } from "../../domain/bouquet.ts";
import type { ConnectionName, ConnectionStatus, Environment } from "../../domain/customer.ts";
import type { StaffAct } from "../../domain/staff.ts";
import type { WallTime } from "../../domain/wall-time.ts";
import type { Db } from "../../store/engine.ts";
import { readWords } from "../customer-search.ts";

/** Conditions for listed connections. All must hold; an undefined field allows any value. */
export interface ConnectionFilter {
  readonly environment: Environment;
  readonly service?: Service | undefined;
  readonly segment?: string | undefined;
  readonly area?: string | undefined;
  /** `running`: not blocked; with `ends` after now. */
  readonly state?: "running" | "blocked" | "no_subscription" | undefined;
  /** Only subscriptions that end after `after` and not after `until`, by their ends. */
  readonly ends?: { readonly after: WallTime; readonly until: WallTime } | undefined;
}

/** A connection with one of its subscriptions, or with none. */
export interface ListedConnection extends ConnectionName {
  readonly cuid: string;
  readonly firstName: string;
  readonly lastName: string;
  readonly area: string | null;
  readonly status: ConnectionStatus;
  readonly blocked: boolean;
  readonly segment: string | null;
  readonly plan: string | null;
  readonly bouquetCode: string | null;
  readonly bouquetName: string | null;
  readonly start: WallTime | null;
  readonly end: WallTime | null;
}

/** The sort key of a listed connection. */
export type ConnectionPlace = Pick<ListedConnection, "cuid" | "service" | "reqId" | "plan" | "end">;

/** A block of a connection by staff. */
export interface StaffBlock extends StaffAct, ConnectionName {}

/** Finds the blocks by staff of a customer's connections that are still blocked. */
export function findBlocks(db: Db, environment: Environment, cuid: string): Promise<StaffBlock[]> {
  return db
    .selectFrom("connectionBlock as b")
    .innerJoin("connection as n", (join) =>
      join
        .onRef("n.cuid", "=", "b.cuid")
        .onRef("n.environment", "=", "b.environment")
        .onRef("n.service", "=", "b.service")
        .onRef("n.reqId", "=", "b.reqId"),
    )
    .select(["b.service", "b.reqId", "b.at", "b.wall", "b.author", "b.reason"])
    .where("b.cuid", "=", cuid)
    .where("b.environment", "=", environment)
    .where("n.blocked", "=", 1)
    .execute();
}

/** Lists connections by customer id, or by the ends of their subscriptions if the filter has ends. */
export async function listConnections(
  db: Db,
  { environment, service, segment, area, state, ends }: ConnectionFilter,
  { beyond, limit }: { readonly beyond: ConnectionPlace | undefined; readonly limit: number },
): Promise<ListedConnection[]> {
  let some = db
    .selectFrom("connection as n")
    .select(["n.cuid", "n.environment", "n.service", "n.reqId", "n.status", "n.blocked", "n.segment"])
    .where("n.environment", "=", environment);
  if (service !== undefined) some = some.where("n.service", "=", service);
  if (segment !== undefined) some = some.where("n.segment", "=", segment);
  if (area !== undefined)
    some = some.where("n.cuid", "in", (eb) =>
      eb
        .selectFrom("customer as c")
        .select("c.cuid")
        .where("c.environment", "=", environment)
        .where("c.area", "=", area),
    );
  if (state === "running") some = some.where("n.blocked", "=", 0).where("n.status", "<>", "blocked");
  if (state === "blocked") some = some.where((eb) => eb.or([eb("n.blocked", "=", 1), eb("n.status", "=", "blocked")]));
  if (state === "no_subscription")
    some = some.where(sql<boolean>`NOT EXISTS (SELECT 1 FROM subscription AS s WHERE ${isOfConnection})`);
  // Without ends, the key of connections gives the order: only a page of them is read. Each has a row at least.
  if (ends === undefined) some = some.orderBy(sql`n.cuid, n.service, n.req_id`).limit(limit + 1);
  if (ends === undefined && beyond !== undefined)
    some = some
      .where("n.cuid", ">=", beyond.cuid)
      .where(sql<boolean>`(n.cuid, n.service, n.req_id) >= (${beyond.cuid}, ${beyond.service}, ${beyond.reqId})`);
  let query = db
    .selectFrom(some.as("n"))
    .leftJoin("subscription as s", (join) => join.on(isOfConnection))
    .select(["n.cuid", "n.service", "n.reqId", "n.status", "n.blocked", "n.segment"])
    .select(["s.plan", "s.code as bouquetCode", "s.name as bouquetName"])
    .select(["s.startTime as start", "s.endTime as end"])
    .limit(limit);
  if (ends !== undefined) query = query.where("s.endTime", ">", ends.after).where("s.endTime", "<=", ends.until);
  if (beyond !== undefined) query = query.where(ends === undefined ? isBeyond(beyond) : endsBeyond(beyond));
  const rows = await query.orderBy(ends === undefined ? PLACE : sql`s.end_time, ${PLACE}`).execute();
  // Names and areas of the page alone: a list by ends sorts many more rows.
  const cuids = rows.map(({ cuid }) => cuid);
  const words = new Map((await readWords(db, environment, cuids)).map((each) => [each.cuid, each]));
  return rows.map((row) => {
    const { firstName = "", lastName = "", area: of = null } = words.get(row.cuid) ?? {};
    return { ...row, firstName, lastName, area: of, blocked: row.blocked === 1 };
  });
}

/** Lists areas by name, each with the number of its customers. */
export async function listAreas(db: Db, environment: Environment) {
  const query = db
    .selectFrom("customer")
    .select((eb) => ["area", eb.fn.countAll<number>().as("customers")])
    .where("environment", "=", environment)
    .where("area", "is not", null)
    .groupBy("area")
    .orderBy("area");
  return (await query.execute()).map(({ area, customers }) => {
    return { area: area ?? "", customers: Number(customers) };
  });
}

/** Whether the subscription `s` is a subscription of the connection `n` now. */
const isOfConnection = sql<boolean>`s.cuid = n.cuid AND s.environment = n.environment AND s.service = n.service
  AND s.req_id = n.req_id AND s.end_time IS NOT NULL`;

const PLACE = sql`n.cuid, n.service, n.req_id, s.plan`;

function isBeyond({ cuid, service, reqId, plan }: ConnectionPlace) {
  return sql<boolean>`(n.cuid, n.service, n.req_id, coalesce(s.plan, '')) > (${cuid}, ${service}, ${reqId}, ${plan ?? ""})`;
}

function endsBeyond({ end, cuid, service, reqId, plan }: ConnectionPlace) {
  return sql<boolean>`(s.end_time, ${PLACE}) > (${end}, ${cuid}, ${service}, ${reqId}, ${plan})`;
}
