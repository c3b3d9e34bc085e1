import { setImmediate } from "node:timers/promises";
import type { ConnectionKey, Customer, Environment } from "../../../domain/customer.ts";
import type { SettlementSum } from "../../../domain/settlement.ts";
import type { Transaction } from "../../../domain/top-up.ts";
import { JOINED_COLUMNS, joinedRow, toCustomers } from "../../common/customer-join.ts";
import { type ReversalRow, toReversals } from "../../common/history.ts";
import { codesToFind } from "../../common/provider-settings.ts";
import { TOP_UP_COLUMNS, topUpRow, toTransaction } from "../../common/rows.ts";
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
import type { Database } from "../database.ts";
import { CONNECTIONS, type CustomerTables, SUBSCRIPTIONS } from "./customers.ts";
import { FIND } from "./history.ts";

const [LEAST, BEYOND, LIMIT] = [1, 2, 3].map((next) => `?${FILTER_VALUES + next}`) as [string, string, string];
const CONDITION = filterCondition((index) => `?${index}`);

/** The least txnId of a step. It is read from the index alone. */
export const BOUNDARY = `SELECT txn_id FROM top_up WHERE txn_id >= ?1 AND txn_id < ?2
  ORDER BY txn_id DESC LIMIT 1 OFFSET ${STEP_ROWS - 1}`;
export const MATCHES = `SELECT ${TOP_UP_COLUMNS} FROM top_up AS t
  WHERE t.txn_id >= ${LEAST} AND t.txn_id < ${BEYOND} AND ${CONDITION} ORDER BY t.txn_id DESC LIMIT ${LIMIT}`;
// The plus keeps SQLite from going through all txnIds in order, in place of the customer's few. What was imported has
// no grant, and an index of its own.
export const MATCHES_OF_CUSTOMER = `SELECT ${TOP_UP_COLUMNS} FROM top_up AS t
  WHERE t.checkout_id IN (SELECT checkout_id FROM ledger_grant
      WHERE cuid = ?4 AND environment = ?1 AND kind = 'top_up'
      UNION ALL SELECT checkout_id FROM top_up WHERE cuid = ?4 AND environment = ?1 AND imported = 1)
    AND +t.txn_id >= ${LEAST} AND +t.txn_id < ${BEYOND} AND ${CONDITION} ORDER BY +t.txn_id DESC LIMIT ${LIMIT}`;
/** The grants of a connection. */
export const LEDGERS = ledgersQuery("g.cuid = ? AND g.environment = ? AND g.service = ? AND g.req_id = ?", {
  grants: "ledger_grant",
});
/** What the top-ups of a step come to. */
export const SUMS = `SELECT ${SUM_COLUMNS}, count(*), CAST(sum(amount) AS TEXT) FROM top_up
  WHERE txn_id >= ?${WITHIN_VALUES + 1} AND txn_id < ?${WITHIN_VALUES + 2} AND ${sumCondition((index) => `?${index}`)}
  GROUP BY ${SUM_COLUMNS}`;
/** What the reversals of a stretch of time come to. Each is made by hand, so a day has few. */
export const REVERSAL_SUMS = `SELECT ${SUM_COLUMNS}, count(*), CAST(sum(amount) AS TEXT) FROM reversal
  WHERE ${sumCondition((index) => `?${index}`)} GROUP BY ${SUM_COLUMNS}`;

/**
 * Customers by their key, each with all that is known of them. From one cuid it goes to the next by the key. The one
 * order is that of `following`, as the joins are nested.
 */
export const PAGE = `WITH RECURSIVE following (cuid) AS (
    SELECT min(cuid) FROM customer_row WHERE cuid > ?1
    UNION ALL SELECT (SELECT min(r.cuid) FROM customer_row AS r WHERE r.cuid > f.cuid) FROM following AS f
      WHERE f.cuid IS NOT NULL ORDER BY 1)
  SELECT ${JOINED_COLUMNS}
  FROM (SELECT customer.* FROM following CROSS JOIN customer USING (cuid) WHERE environment = ?2 LIMIT ?3) AS c
  ${CONNECTIONS} ${SUBSCRIPTIONS}`;

/** The SQL of what a back office asks. */
export class SearchTables implements Search {
  readonly #database: Database;
  readonly #provider: ProviderSettings;
  readonly #customers: CustomerTables;
  readonly #cuids;
  readonly #page;
  readonly #ledgers;
  readonly #byTxnId;
  readonly #boundary;
  readonly #matches;
  readonly #matchesOfCustomer;
  readonly #sums;
  readonly #reversalSums;

  constructor(database: Database, customers: CustomerTables, provider: ProviderSettings) {
    this.#provider = provider;
    this.#database = database;
    this.#customers = customers;
    this.#cuids = database.prepareRows(
      `SELECT DISTINCT cuid FROM customer_code WHERE code IN (?1, ?4) AND environment = ?2 ORDER BY cuid LIMIT ?3`,
    );
    this.#page = database.prepareRows(PAGE);
    this.#ledgers = database.prepare(LEDGERS);
    this.#byTxnId = database.prepareRows(`SELECT ${TOP_UP_COLUMNS} FROM top_up WHERE txn_id = ?`);
    this.#boundary = database.prepareRows(BOUNDARY);
    this.#matches = database.prepareRows(MATCHES);
    this.#matchesOfCustomer = database.prepareRows(MATCHES_OF_CUSTOMER);
    this.#sums = database.prepareRows(SUMS);
    this.#reversalSums = database.prepareRows(REVERSAL_SUMS);
  }

  async findCuids(environment: Environment, code: string, limit: number): Promise<string[]> {
    const [, normal = code] = codesToFind(code, this.#provider);
    return this.#database.ask(() => this.#cuids(code, environment, limit, normal).map(([cuid]) => cuid as string));
  }

  async findCustomer(environment: Environment, cuid: string): Promise<Customer | undefined> {
    return this.#database.ask(() => this.#customers.findByCuid(environment, cuid));
  }

  async listCustomers(environment: Environment, { after = "", limit }: CustomerPage): Promise<Customer[]> {
    // This process may have top-ups to settle.
    await setImmediate();
    return this.#database.ask(() => toCustomers(this.#page(after, environment, limit).map(joinedRow)));
  }

  async findLedgers(connection: ConnectionKey): Promise<RecordedLedger[]> {
    const { cuid, environment, service, reqId } = connection;
    const rows = this.#database.ask(() => this.#ledgers.all(cuid, environment, service, reqId));
    return toRecordedLedgers(rows as unknown as LedgerRow[], connection);
  }

  async findByTxnId(txnId: string): Promise<Transaction | undefined> {
    return this.#database.ask(() => toTransactions(this.#byTxnId(txnId)))[0];
  }

  async findReversals(checkoutIds: readonly string[]): Promise<ReadonlyMap<string, RecordedReversal>> {
    const ids = JSON.stringify(checkoutIds);
    const rows = this.#database.ask(() => this.#database.prepare(FIND.reversals).all(ids));
    return toReversals(rows as unknown as ReversalRow[]);
  }

  async listTransactions(filter: TransactionFilter, page: TransactionPage): Promise<Transaction[]> {
    const values = filterValues(filter);
    const { least, beyond } = txnIdRange(filter, page);
    if (filter.cuid !== undefined)
      return this.#database.ask(() => toTransactions(this.#matchesOfCustomer(...values, least, beyond, page.limit)));
    return searchInSteps(filter, page, {
      boundary: (...range) => this.#nextBoundary(...range),
      matches: (...range) => this.#database.ask(() => toTransactions(this.#matches(...values, ...range))),
    });
  }

  async sumTopUps(within: RecordedWithin): Promise<SettlementSum[]> {
    const values = withinValues(within);
    return sumInSteps(within, async (least, beyond) => {
      const boundary = await this.#nextBoundary(least, beyond);
      const rows = this.#database.ask(() => this.#sums(...values, boundary ?? least, beyond));
      return { boundary, rows: rows as unknown as SumRow[] };
    });
  }

  /** A commit is seen as soon as it is on the disk, and what is older than a correction or a batch may be is refused. */
  async isBeingWritten(): Promise<boolean> {
    return false;
  }

  async sumReversals(within: RecordedWithin): Promise<SettlementSum[]> {
    const rows = this.#database.ask(() => this.#reversalSums(...withinValues(within)));
    return addUp(rows as unknown as SumRow[]);
  }

  async #nextBoundary(least: string, beyond: string): Promise<string | undefined> {
    // This process may have top-ups to settle.
    await setImmediate();
    return this.#database.ask(() => this.#boundary(least, beyond))[0]?.[0] as string | undefined;
  }
}

function toTransactions(rows: readonly unknown[][]): Transaction[] {
  return rows.map((values) => toTransaction(topUpRow(values)));
}
