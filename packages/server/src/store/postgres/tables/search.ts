import type { Service } from "../../../domain/bouquet.ts";
import type { Instant } from "../../../domain/calendar.ts";
import { customerDigest, customerDigestIn } from "../../../domain/checkout.ts";
import type { ConnectionKey, Customer, Environment } from "../../../domain/customer.ts";
import type { SettlementSum } from "../../../domain/settlement.ts";
import type { Transaction } from "../../../domain/top-up.ts";
import { JOINED_COLUMNS, type JoinedRow, toCustomers } from "../../common/customer-join.ts";
import { type ReversalRow, toReversals } from "../../common/history.ts";
import { codesToFind } from "../../common/provider-settings.ts";
import { type TopUpRow, toTransaction } from "../../common/rows.ts";
import {
  addUp,
  SUM_COLUMNS,
  type SumRow,
  sumCondition,
  sumInSteps,
  WITHIN_VALUES,
  withinValues,
} from "../../common/settlement-sums.ts";
import {
  FILTER_VALUES,
  filterCondition,
  filterValues,
  type LedgerRow,
  ledgersQuery,
  STEP_ROWS,
  searchInSteps,
  toRecordedLedgers,
  txnIdRange,
} from "../../common/transaction-search.ts";
import type {
  CustomerPage,
  RecordedLedger,
  RecordedReversal,
  RecordedWithin,
  Search,
  TransactionFilter,
  TransactionPage,
} from "../../search.ts";
import type { ProviderSettings } from "../../store.ts";
import type { Database } from "../session/database.ts";
import { IN_ORDER } from "../session/in-order.ts";
import { openWritesBefore } from "../session/open-writes.ts";
import type { Prepared } from "../session/session.ts";
import { columnsOf, unnest } from "./columns.ts";
import { CONNECTIONS, type CustomerTables, SUBSCRIPTIONS } from "./customers.ts";
import { connectionKey } from "./ledger.ts";
import { CHECKOUT_KEY } from "./top-ups.ts";

const [LEAST, BEYOND, LIMIT, DIGEST] = [1, 2, 3, 4].map((next) => `$${FILTER_VALUES + next}`);
const IN_RANGE = `t.txn_id >= ${LEAST} AND t.txn_id < ${BEYOND}
  AND ${filterCondition((index, type) => `$${index}::${type}`)} ORDER BY t.txn_id DESC LIMIT ${LIMIT}`;

const CUIDS: Prepared = {
  name: "search_cuids",
  text: `SELECT DISTINCT cuid FROM customer_code WHERE code IN ($1, $4) AND environment = $2 ORDER BY cuid LIMIT $3`,
};
export const LEDGERS: Prepared = {
  name: "search_ledgers",
  text: ledgersQuery(
    "g.customer_digest = $1 AND g.environment = $2 AND g.cuid = $3 AND g.service = $4 AND g.req_id = $5",
    { join: "AND t.customer_digest = g.customer_digest" },
  ),
};
const BY_TXN_ID: Prepared = { name: "search_txn_id", text: "SELECT * FROM top_up WHERE txn_id = $1" };
/** Less than every digest. */
const BEFORE_ALL = -1;

/** By the customer's key, in which the digest of the cuid stands first. */
export const PAGE: Prepared = {
  name: "search_customers",
  text: `SELECT ${JOINED_COLUMNS} FROM (SELECT * FROM customer
      WHERE (customer_digest, cuid) > ($1::bigint, $2::text) AND customer_digest >= $1 AND environment = $3
      ORDER BY customer_digest, environment, cuid LIMIT $4) AS c
    ${CONNECTIONS} ${SUBSCRIPTIONS} ORDER BY c.customer_digest, c.cuid, n.service, n.req_id`,
};
const REVERSALS: Prepared = {
  name: "search_reversals",
  text: `SELECT r.checkout_id, r.at, r.author, r.reason FROM ${unnest(CHECKOUT_KEY)} AS k(customer_digest, checkout_id)
    JOIN reversal AS r ON r.customer_digest = k.customer_digest AND r.checkout_id = k.checkout_id`,
};
/** The least txnId of a step. */
export const BOUNDARY: Prepared = {
  name: "search_boundary",
  text: `SELECT txn_id FROM top_up WHERE txn_id >= $1 AND txn_id < $2
    ORDER BY txn_id DESC LIMIT 1 OFFSET ${STEP_ROWS - 1}`,
};
export const MATCHES: Prepared = {
  name: "search_matches",
  text: `SELECT t.* FROM top_up AS t WHERE ${IN_RANGE}`,
};
// The customer's few are told apart first: otherwise PostgreSQL may go through all txnIds in their order.
export const MATCHES_OF_CUSTOMER: Prepared = {
  name: "search_matches_of_customer",
  text: `WITH t AS MATERIALIZED (SELECT * FROM top_up WHERE customer_digest = ${DIGEST})
    SELECT t.* FROM t WHERE ${IN_RANGE}`,
};
/** What the top-ups of a step come to. */
export const SUMS: Prepared = {
  name: "search_sums",
  text: `SELECT ${SUM_COLUMNS}, count(*)::int AS count, sum(amount)::text AS amount FROM top_up
    WHERE txn_id >= $${WITHIN_VALUES + 1} AND txn_id < $${WITHIN_VALUES + 2}
      AND ${sumCondition((index, type) => `$${index}::${type}`)} GROUP BY ${SUM_COLUMNS}`,
};
/** What the reversals of a stretch of time come to. Each is made by hand, so a day has few. */
export const REVERSAL_SUMS: Prepared = {
  name: "search_reversal_sums",
  text: `SELECT ${SUM_COLUMNS}, count(*)::int AS count, sum(amount)::text AS amount FROM reversal
    WHERE ${sumCondition((index, type) => `$${index}::${type}`)} GROUP BY ${SUM_COLUMNS}`,
};

/** The SQL of what a back office asks. */
export class SearchTables implements Search {
  readonly #database: Database;
  readonly #provider: ProviderSettings;
  readonly #customers: CustomerTables;

  constructor(database: Database, customers: CustomerTables, provider: ProviderSettings) {
    this.#provider = provider;
    this.#database = database;
    this.#customers = customers;
  }

  async findCuids(environment: Environment, code: string, limit: number): Promise<string[]> {
    const [, normal = code] = codesToFind(code, this.#provider);
    const found = await this.#database.ask<{ cuid: string }>(CUIDS, [code, environment, limit, normal]);
    return found.map(({ cuid }) => cuid);
  }

  findCustomer(environment: Environment, cuid: string): Promise<Customer | undefined> {
    return this.#customers.findByCuid(environment, cuid);
  }

  async listCustomers(environment: Environment, { after, limit }: CustomerPage): Promise<Customer[]> {
    const digest = after === undefined ? BEFORE_ALL : customerDigest({ environment, cuid: after });
    return toCustomers(await this.#step<JoinedRow>(PAGE, [digest, after ?? "", environment, limit]));
  }

  async findLedgers(connection: ConnectionKey): Promise<RecordedLedger[]> {
    return toRecordedLedgers(await this.#database.ask<LedgerRow>(LEDGERS, connectionKey(connection)), connection);
  }

  async findByTxnId(txnId: string): Promise<Transaction | undefined> {
    const [row] = await this.#database.ask<TopUpRow>(BY_TXN_ID, [txnId]);
    return row && toTransaction(row);
  }

  async findReversals(checkoutIds: readonly string[]): Promise<ReadonlyMap<string, RecordedReversal>> {
    const keys = checkoutIds.flatMap((checkoutId) => {
      const digest = customerDigestIn(checkoutId);
      return digest === undefined ? [] : [[digest, checkoutId]];
    });
    const values = columnsOf(CHECKOUT_KEY.length, keys);
    return toReversals(await this.#database.ask<ReversalRow>(REVERSALS, values));
  }

  async listTransactions(filter: TransactionFilter, page: TransactionPage): Promise<Transaction[]> {
    const values = filterValues(filter);
    const { environment, cuid } = filter;
    if (cuid !== undefined) {
      const { least, beyond } = txnIdRange(filter, page);
      const ofCustomer = [...values, least, beyond, page.limit, customerDigest({ environment, cuid })];
      return this.#find(MATCHES_OF_CUSTOMER, ofCustomer);
    }
    return searchInSteps(filter, page, {
      boundary: async (...range) => (await this.#step<{ txn_id: string }>(BOUNDARY, range))[0]?.txn_id,
      matches: (...range) => this.#find(MATCHES, [...values, ...range]),
    });
  }

  async sumTopUps(within: RecordedWithin): Promise<SettlementSum[]> {
    const values = withinValues(within);
    return sumInSteps(within, (least, beyond) =>
      this.#database.transact([[IN_ORDER], [BOUNDARY, [least, beyond]]], async ([, found], session) => {
        const boundary = (found as { txn_id: string }[])[0]?.txn_id;
        const rows = await session.run<SumsRow>(SUMS, [...values, boundary ?? least, beyond]);
        return { boundary, rows: rows.map(toSumRow) };
      }),
    );
  }

  async isBeingWritten(before: Instant, now: Instant): Promise<boolean> {
    return (await this.#database.ask(...openWritesBefore(before, now))).length > 0;
  }

  async sumReversals(within: RecordedWithin): Promise<SettlementSum[]> {
    const rows = await this.#database.ask<SumsRow>(REVERSAL_SUMS, withinValues(within));
    return addUp(rows.map(toSumRow));
  }

  async #find(statement: Prepared, values: readonly unknown[]): Promise<Transaction[]> {
    return (await this.#step<TopUpRow>(statement, values)).map(toTransaction);
  }

  /** In a transaction that is rolled back, since it only reads: how it is planned is of no concern to others. */
  #step<Row>(statement: Prepared, values: readonly unknown[]): Promise<Row[]> {
    return this.#database.transact([[IN_ORDER]], (_, session) => session.run<Row>(statement, values));
  }
}

interface SumsRow {
  readonly partner_id: number;
  readonly service: Service;
  readonly bouquet_code: string;
  readonly count: number;
  readonly amount: string;
}

function toSumRow({ partner_id, service, bouquet_code, count, amount }: SumsRow): SumRow {
  return [partner_id, service, bouquet_code, count, amount];
}
