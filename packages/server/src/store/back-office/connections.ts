import { sql } from "kysely";
import type { Engine } from "../engine.ts";
import { CONNECTION_KEY, toConnectionKey, toProfile } from "../rows.ts";
import type { EndKey, Search } from "../search.ts";

type ConnectionSearch = Pick<
  Search,
  "findBlocks" | "findConnectionsNamed" | "listSegments" | "listConnectionsOfSegment" | "listEnds"
>;

/** Connections and subscriptions of whichever customers. */
export function connectionSearchOf({ db }: Engine): ConnectionSearch {
  return {
    async findConnectionsNamed(environment, reqIds) {
      if (reqIds.length === 0) return [];
      const query = db
        .selectFrom("customer_code as c")
        .innerJoin("connection as n", (join) =>
          join
            .onRef("n.cuid", "=", "c.cuid")
            .onRef("n.environment", "=", "c.environment")
            .onRef("n.req_id", "=", "c.code"),
        )
        .select(CONNECTION_KEY.map((column) => `n.${column}` as const))
        .where("c.code", "in", reqIds)
        .where("c.environment", "=", environment);
      return (await query.execute()).map(toConnectionKey);
    },

    async findBlocks(environment, cuid) {
      const query = db
        .selectFrom("connection_block as b")
        .innerJoin("connection as n", (join) =>
          join
            .onRef("n.cuid", "=", "b.cuid")
            .onRef("n.environment", "=", "b.environment")
            .onRef("n.service", "=", "b.service")
            .onRef("n.req_id", "=", "b.req_id"),
        )
        .select(["b.service", "b.req_id", "b.at", "b.wall", "b.author", "b.reason"])
        .where("b.cuid", "=", cuid)
        .where("b.environment", "=", environment)
        .where("n.blocked", "=", 1);
      const rows = await query.execute();
      return rows.map(({ service, req_id: reqId, at, wall, author, reason }) => {
        return { service, reqId, at, wall, author, reason };
      });
    },

    async listSegments(environment) {
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
    },

    async listConnectionsOfSegment(environment, segment, limit) {
      const query = db
        .selectFrom("connection")
        .select(CONNECTION_KEY)
        .where("environment", "=", environment)
        .where("segment", "=", segment)
        .orderBy(sql`cuid, service, req_id`)
        .limit(limit);
      return (await query.execute()).map(toConnectionKey);
    },

    async listEnds({ environment, service, after, until }, { beyond, limit }) {
      let query = db
        .selectFrom("subscription as s")
        .leftJoin("customer as c", (join) =>
          join.onRef("c.cuid", "=", "s.cuid").onRef("c.environment", "=", "s.environment"),
        )
        .select(["s.cuid", "s.service", "s.req_id", "s.plan", "s.code", "s.end_time"])
        .select(["c.first_name", "c.last_name", "c.mobile", "c.status"])
        .where("s.environment", "=", environment)
        .where("s.end_time", ">", after)
        .where("s.end_time", "<=", until)
        .orderBy(END_KEY)
        .limit(limit);
      if (service !== undefined) query = query.where("s.service", "=", service);
      if (beyond !== undefined) query = query.where(isBeyond(beyond));
      return (await query.execute()).map(({ first_name, last_name, mobile, status, ...row }) => ({
        ...{ cuid: row.cuid, service: row.service, reqId: row.req_id, plan: row.plan },
        ...{ end: row.end_time ?? "", bouquetCode: row.code ?? "" },
        profile:
          first_name === null || last_name === null || status === null
            ? undefined
            : toProfile({ cuid: row.cuid, first_name, last_name, mobile, status }),
      }));
    },
  };
}

const END_KEY = sql`s.end_time, s.cuid, s.service, s.req_id, s.plan`;

function isBeyond({ end, cuid, service, reqId, plan }: EndKey) {
  return sql<boolean>`(${END_KEY}) > (${end}, ${cuid}, ${service}, ${reqId}, ${plan})`;
}
