import { sql } from "kysely";
import type { Service } from "../../domain/bouquet.ts";
import type { ConnectionKey, ConnectionName, CustomerProfile, Environment } from "../../domain/customer.ts";
import { portionsOf } from "../../domain/portions.ts";
import type { StaffAct } from "../../domain/staff.ts";
import type { WallTime } from "../../domain/wall-time.ts";
import { codesToFind } from "../../store/settings.ts";
import type { Store } from "../../store/store.ts";
import type { Db } from "../office.ts";

export interface EndsFilter {
  readonly environment: Environment;
  readonly service: Service | undefined;
  readonly after: WallTime;
  readonly until: WallTime;
}

export interface EndsPage {
  /** The last end of the previous page; undefined for the first page. */
  readonly beyond: EndKey | undefined;
  readonly limit: number;
}

/** The sort key of ends. */
export interface EndKey extends Pick<ConnectionKey, "cuid" | "service" | "reqId"> {
  readonly end: WallTime;
  readonly plan: string;
}

export interface SubscriptionEnd extends EndKey {
  /** Undefined if only ledgers are left of the customer. */
  readonly profile: CustomerProfile | undefined;
  readonly bouquetCode: string;
}

/** A block of a connection by staff. */
export interface StaffBlock extends StaffAct, ConnectionName {}

/** Ids that one statement may list: its parameters are limited. */
const IDS_AT_ONCE = 500;

/** Names of customers, by their ids. Unknown ids are left out. */
export async function readNames(
  db: Db,
  environment: Environment,
  cuids: readonly string[],
): Promise<ReadonlyMap<string, Pick<CustomerProfile, "firstName" | "lastName">>> {
  const names = new Map<string, Pick<CustomerProfile, "firstName" | "lastName">>();
  for (const some of portionsOf([...new Set(cuids)], IDS_AT_ONCE)) {
    const query = db.selectFrom("customer").select(["cuid", "firstName", "lastName"]);
    const rows = await query.where("environment", "=", environment).where("cuid", "in", some).execute();
    for (const { cuid, ...name } of rows) names.set(cuid, name);
  }
  return names;
}

/** Finds the ids of customers that have a whole code, in order. */
export async function findCuids(
  { engine: { db }, provider }: Pick<Store, "engine" | "provider">,
  environment: Environment,
  code: string,
  limit: number,
): Promise<string[]> {
  const query = db
    .selectFrom("customerCode")
    .select("cuid")
    .distinct()
    .where("environment", "=", environment)
    .where("code", "in", codesToFind(code, provider))
    .orderBy("cuid")
    .limit(limit);
  return (await query.execute()).map(({ cuid }) => cuid);
}

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

/** Lists subscriptions that end after `after` and not after `until`, by their ends. */
export async function listEnds(
  db: Db,
  { environment, service, after, until }: EndsFilter,
  { beyond, limit }: EndsPage,
): Promise<SubscriptionEnd[]> {
  let query = db
    .selectFrom("subscription as s")
    .leftJoin("customer as c", (join) =>
      join.onRef("c.cuid", "=", "s.cuid").onRef("c.environment", "=", "s.environment"),
    )
    .select(["s.cuid", "s.service", "s.reqId", "s.plan", "s.code", "s.endTime"])
    .select(["c.firstName", "c.lastName", "c.mobile", "c.status"])
    .where("s.environment", "=", environment)
    .where("s.endTime", ">", after)
    .where("s.endTime", "<=", until)
    .orderBy(END_KEY)
    .limit(limit);
  if (service !== undefined) query = query.where("s.service", "=", service);
  if (beyond !== undefined) query = query.where(isBeyond(beyond));
  return (await query.execute()).map(({ cuid, service: of, reqId, plan, code, endTime, ...customer }) => {
    const { firstName, lastName, mobile, status } = customer;
    const isKnown = firstName !== null && lastName !== null && status !== null;
    const profile = isKnown ? { cuid, firstName, lastName, mobile: mobile ?? undefined, status } : undefined;
    return { cuid, service: of, reqId, plan, end: endTime ?? "", bouquetCode: code ?? "", profile };
  });
}

const END_KEY = sql`s.end_time, s.cuid, s.service, s.req_id, s.plan`;

function isBeyond({ end, cuid, service, reqId, plan }: EndKey) {
  return sql<boolean>`(${END_KEY}) > (${end}, ${cuid}, ${service}, ${reqId}, ${plan})`;
}
