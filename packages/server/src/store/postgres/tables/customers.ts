import { customerDigest } from "../../../domain/checkout.ts";
import type { ConnectionKey, Customer, CustomerOverview, Environment } from "../../../domain/customer.ts";
import { JOINED_COLUMNS, type JoinedRow, toConnections, toCustomers } from "../../common/customer-join.ts";
import { type OverviewRow, overviewColumns, toOverviews } from "../../common/customer-overview.ts";
import { codesToFind } from "../../common/provider-settings.ts";
import { toProfile } from "../../common/rows.ts";
import type { FoundConnection, ProviderSettings } from "../../store.ts";
import type { Database } from "../session/database.ts";
import type { Prepared } from "../session/session.ts";

const CUIDS: Prepared = {
  name: "cuids",
  text: "SELECT cuid FROM customer_code WHERE code = $1 AND environment = $2 LIMIT 2",
};
/** By a mobile number in two forms. Whom both fit is one customer. */
const CUIDS_OF_TWO: Prepared = {
  name: "cuids_of_two",
  text: "SELECT DISTINCT cuid FROM customer_code WHERE code IN ($1, $3) AND environment = $2 LIMIT 2",
};

const CUSTOMER = `SELECT ${JOINED_COLUMNS} FROM customer AS c`;
export const SUBSCRIPTIONS = `LEFT JOIN subscription AS s ON s.customer_digest = n.customer_digest
    AND s.environment = n.environment AND s.cuid = n.cuid AND s.service = n.service AND s.req_id = n.req_id`;
const BASE_END = `SELECT max(s.end_at) FROM subscription AS s WHERE s.customer_digest = n.customer_digest
    AND s.environment = n.environment AND s.cuid = n.cuid AND s.service = n.service AND s.req_id = n.req_id
    AND NOT s.add_on`;
const THIS_CUSTOMER = "WHERE c.customer_digest = $1 AND c.environment = $2 AND c.cuid = $3";

export const CONNECTIONS = `LEFT JOIN connection AS n ON n.customer_digest = c.customer_digest
      AND n.environment = c.environment AND n.cuid = c.cuid`;

export const OVERVIEW: Prepared = {
  name: "overview",
  text: `SELECT ${overviewColumns(BASE_END)} FROM customer AS c ${CONNECTIONS} ${THIS_CUSTOMER}`,
};
export const WHOLE_CUSTOMER: Prepared = {
  name: "customer",
  text: `${CUSTOMER}
    ${CONNECTIONS}
    ${SUBSCRIPTIONS} ${THIS_CUSTOMER} ORDER BY n.service, n.req_id`,
};
export const ONE_CONNECTION: Prepared = {
  name: "connection",
  text: `${CUSTOMER}
    LEFT JOIN connection AS n ON n.customer_digest = c.customer_digest
      AND n.environment = c.environment AND n.cuid = c.cuid AND n.service = $4 AND n.req_id = $5
    ${SUBSCRIPTIONS} ${THIS_CUSTOMER}`,
};

/** The SQL by which customers are found. */
export class CustomerTables {
  readonly #database: Database;
  readonly #provider: ProviderSettings;

  constructor(database: Database, provider: ProviderSettings) {
    this.#database = database;
    this.#provider = provider;
  }

  async lookUp(environment: Environment, code: string): Promise<CustomerOverview[]> {
    const [, normal] = codesToFind(code, this.#provider);
    const found = await (normal === undefined
      ? this.#database.ask<{ cuid: string }>(CUIDS, [code, environment])
      : this.#database.ask<{ cuid: string }>(CUIDS_OF_TWO, [code, environment, normal]));
    const rows = found.map(({ cuid }) =>
      this.#database.ask<OverviewRow>(OVERVIEW, [customerDigest({ environment, cuid }), environment, cuid]),
    );
    return toOverviews((await Promise.all(rows)).flat());
  }

  async findByCuid(environment: Environment, cuid: string): Promise<Customer | undefined> {
    const values = [customerDigest({ environment, cuid }), environment, cuid];
    return toCustomers(await this.#database.ask<JoinedRow>(WHOLE_CUSTOMER, values))[0];
  }

  async findConnection(key: ConnectionKey): Promise<FoundConnection | undefined> {
    const values = [customerDigest(key), key.environment, key.cuid, key.service, key.reqId];
    const rows = await this.#database.ask<JoinedRow>(ONE_CONNECTION, values);
    const [first] = rows;
    return first && { profile: toProfile(first), connection: toConnections(rows)[0] };
  }
}
