import type { ConnectionKey, CustomerOverview, Environment } from "../../../domain/customer.ts";
import { toBareConnection, toHead, toProfile } from "../../rows.ts";
import { codesToFind } from "../../settings.ts";
import type { FoundConnection, ProviderSettings } from "../../store.ts";
import type { ConnectionRow, CustomerRow } from "../../tables.ts";
import type { Database } from "../session/database.ts";
import type { Prepared } from "../session/session.ts";
import type { ConnectionRows } from "./batch-snapshot.ts";
import { isAsked, qualified } from "./columns.ts";
import { CONNECTION_KEY } from "./ledgers.ts";
import { CONNECTION_WITH_HEADS } from "./top-ups.ts";

const PROFILE = ["cuid", "first_name", "last_name", "mobile", "status"] as const;
type ProfileRow = Pick<CustomerRow, (typeof PROFILE)[number]>;

/** A row for each connection; where a customer has none, `req_id` and all that follows is null. */
const OVERVIEWS: Prepared = {
  name: "overviews",
  text: `SELECT ${qualified("c", PROFILE)}, n.service, n.req_id, n.status AS connection_status, n.blocked,
      (SELECT max(s.end_time) FROM subscription AS s WHERE ${isAsked("s", CONNECTION_KEY, "n")} AND s.add_on = 0) AS base_end
    FROM (SELECT DISTINCT cuid FROM customer_code WHERE code = ANY($1::text[]) AND environment = $2 LIMIT 2) AS k
    JOIN customer AS c ON c.cuid = k.cuid AND c.environment = $2
    LEFT JOIN connection AS n ON n.cuid = c.cuid AND n.environment = c.environment
    ORDER BY c.cuid, n.position`,
};
type OverviewRow = ProfileRow &
  (
    | (Pick<ConnectionRow, "service" | "req_id" | "blocked"> & {
        connection_status: ConnectionRow["status"];
        base_end: string | null;
      })
    | { req_id: null }
  );

/** A row for each ledger of the connection. */
const ONE_CONNECTION: Prepared = {
  name: "connection",
  text: `SELECT c.first_name, c.last_name, c.mobile, c.status AS customer_status, ${CONNECTION_WITH_HEADS}
    FROM customer AS c
    LEFT JOIN connection AS n ON n.cuid = c.cuid AND n.environment = c.environment AND n.service = $3 AND n.req_id = $4
    LEFT JOIN subscription AS s ON ${isAsked("s", CONNECTION_KEY, "n")}
    WHERE c.cuid = $1 AND c.environment = $2`,
};
type FoundRow = Omit<ProfileRow, "cuid" | "status"> & { customer_status: CustomerRow["status"] } & (
    | ConnectionRows
    | { req_id: null }
  );

/** The SQL by which partners' requests find customers. */
export class CustomerTables {
  readonly #database: Database;
  readonly #provider: ProviderSettings;

  constructor(database: Database, provider: ProviderSettings) {
    this.#database = database;
    this.#provider = provider;
  }

  async lookUp(environment: Environment, code: string): Promise<CustomerOverview[]> {
    const values = [codesToFind(code, this.#provider), environment];
    const rows = await this.#database.ask<OverviewRow>([OVERVIEWS, values]);
    const found = new Map<string, CustomerOverview & { connections: CustomerOverview["connections"][number][] }>();
    for (const row of rows) {
      const overview = found.get(row.cuid) ?? { ...toProfile(row), connections: [] };
      found.set(row.cuid, overview);
      if (row.req_id === null) continue;
      const { service, req_id: reqId, connection_status: status, base_end } = row;
      overview.connections.push({ service, reqId, status, blocked: row.blocked === 1, baseEnd: base_end ?? undefined });
    }
    return [...found.values()];
  }

  async findConnection({ cuid, environment, service, reqId }: ConnectionKey): Promise<FoundConnection | undefined> {
    const rows = await this.#database.ask<FoundRow>([ONE_CONNECTION, [cuid, environment, service, reqId]]);
    const [first] = rows;
    if (first === undefined) return undefined;
    const profile = toProfile({ ...first, cuid, status: first.customer_status });
    if (first.req_id === null) return { profile, connection: undefined };
    const ledgers = (rows as ConnectionRows[]).flatMap((row) => (row.plan === null ? [] : [toHead(row)]));
    return { profile, connection: { ...toBareConnection(first), ledgers } };
  }
}
