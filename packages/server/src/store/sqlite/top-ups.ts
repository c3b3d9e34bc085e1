import type { TokenState } from "../../domain/access-token.ts";
import type { AccountKey } from "../../domain/account.ts";
import type { ConnectionKey, CustomerOverview, Environment } from "../../domain/customer.ts";
import type { TopUpCommand, TopUpSnapshot } from "../../domain/top-up.ts";
import type { Transaction } from "../../domain/transaction.ts";
import type { Instant } from "../../domain/wall-time.ts";
import { type TokenStateRow, toTokenState } from "../access.ts";
import { BatchAccounts, GUARD_COLUMNS, type GuardRow, guardRow, toGuarded } from "../guarded-accounts.ts";
import { type OverviewRow, toOverviews } from "../overviews.ts";
import {
  CONNECTION_STATE,
  type CustomerConnectionRow,
  HEAD_COLUMNS,
  toFoundConnection,
  topUpRow,
  toTransaction,
} from "../rows.ts";
import { codesToFind } from "../settings.ts";
import {
  type RecordedTopUp,
  type Settled,
  type SettlingItem,
  type SettlingReads,
  type SettlingWrites,
  settleBatch,
} from "../settling.ts";
import type { FoundConnection, Outcome, ProviderSettings } from "../store.ts";
import { columnsOf, type RawRow } from "../tables.ts";
import type { Database } from "./database.ts";
import { bound, eventInsertion, FIND_TARGET, TOPPED_UP, topUpAppending } from "./ledgers.ts";
import type { SqliteReferenceCache } from "./reference-cache.ts";

const TOP_UP_COLUMNS = columnsOf("top_up");
const FIND = `SELECT ${TOP_UP_COLUMNS.join(", ")} FROM top_up WHERE checkout_id = ?`;
const INSERT = `INSERT INTO top_up (${TOP_UP_COLUMNS.join(", ")}) VALUES (${bound(TOP_UP_COLUMNS)})`;
const FIND_RETIRED = "SELECT at FROM retired_checkout WHERE checkout_id = ?";
const RETIRE =
  "INSERT INTO retired_checkout (checkout_id, at) VALUES (?, ?) ON CONFLICT DO UPDATE SET at = max(at, excluded.at)";
const FIND_TOKEN = `SELECT t.expires_at AS "expiresAt", t.revoked_at AS "revokedAt", p.status, p.limits, p.commission
  FROM access_token AS t JOIN partner AS p ON p.id = t.partner_id WHERE t.id = ?`;
const FIND_GUARDED = `SELECT ${GUARD_COLUMNS.join(", ")} FROM account
  WHERE partner_id = ? AND environment = ? AND balance IS NOT NULL`;
const CHARGE = `UPDATE account SET balance = @balance, day = @day, day_top_ups = @day_top_ups, day_amount = @day_amount
  WHERE partner_id = $partnerId AND environment = $environment`;
/** Finds whether a checkout has a top-up, is retired, or both. */
const ON_RECORD = `SELECT 'top_up' AS what FROM top_up WHERE checkout_id = ?1
  UNION ALL SELECT 'retired' FROM retired_checkout WHERE checkout_id = ?1`;
const HORIZON = "SELECT pruned_before FROM retention";

export interface TopUpParts {
  readonly database: Database;
  readonly provider: ProviderSettings;
  readonly clock: () => Instant;
  readonly customers: CustomerTables;
  readonly reference: SqliteReferenceCache;
}

interface Snapshot extends TopUpSnapshot {
  readonly lastEntryOf: ConnectionToTopUp["lastEntryOf"];
}

export function topUpTables({ database, provider, clock, customers, reference }: TopUpParts) {
  const findRow = database.prepareRows<RawRow<"top_up">>(FIND);
  const insertRow = database.prepareWrite<RawRow<"top_up">>(INSERT);
  const findRetired = database.prepareRows<{ at: Instant }>(FIND_RETIRED);
  const retire = database.prepare(RETIRE);
  const findToken = database.prepareRows<TokenStateRow>(FIND_TOKEN);
  const findGuardedRow = database.prepareRows<GuardRow>(FIND_GUARDED);
  const findGuarded = (key: AccountKey) => findGuardedRow(key.partnerId, key.environment).map(toGuarded)[0];
  const chargeAccount = database.prepareWrite<ReturnType<typeof guardRow>, AccountKey>(CHARGE);
  const horizon = database.prepareRows<{ pruned_before: Instant }>(HORIZON);
  const onRecord = database.prepareRows<{ what: "top_up" | "retired" }>(ON_RECORD);
  const append = topUpAppending(database);
  const insertEvent = eventInsertion(database);
  const findTarget = database.prepareRows(FIND_TARGET);
  const find = (checkoutId: string): Transaction | undefined => findRow(checkoutId).map(toTransaction)[0];
  const findRetiredAt = (checkoutId: string): Instant | undefined => findRetired(checkoutId)[0]?.at;
  const findHorizon = (): Instant | undefined => horizon()[0]?.pruned_before;

  /** Reads each token once in a batch: many top-ups share few tokens. */
  const tokensOfBatch = () => {
    const found = new Map<string, TokenState | undefined>();
    return (id: string): TokenState | undefined => {
      if (!found.has(id)) found.set(id, findToken(id).map(toTokenState)[0]);
      return found.get(id);
    };
  };

  const readsOfBatch = (accounts: BatchAccounts): SettlingReads<Snapshot> => {
    const token = tokensOfBatch();
    return {
      hasTarget: findTarget().length > 0,
      snapshot(command: TopUpCommand): Snapshot {
        const { checkoutId, checkout } = command;
        const { found, lastEntryOf } = customers.findToTopUp(command);
        const recorded = onRecord(checkoutId);
        return {
          recorded: recorded.some(({ what }) => what === "top_up") ? find(checkoutId) : undefined,
          token,
          account: () => accounts.find(command),
          retired: recorded.some(({ what }) => what === "retired"),
          customerStatus: found?.profile.status,
          connection: found?.connection,
          prunedBefore: findHorizon,
          catalogue: () => reference.readCatalogue(checkout.revision),
          lastEntryOf,
        };
      },
      transaction: find,
      retiredAt: findRetiredAt,
      prunedBefore: findHorizon,
    };
  };

  const writesOfBatch = (accounts: BatchAccounts): SettlingWrites<Snapshot> => ({
    record({ transaction, plan, entry, account }: RecordedTopUp, { lastEntryOf }) {
      if (account !== undefined) accounts.charge(transaction, account);
      append({ key: transaction, plan, entry }, lastEntryOf(plan));
      insertRow(topUpRow(transaction));
    },
    appendEvent: insertEvent,
    retire: (checkoutId, at) => void retire.run(checkoutId, at),
  });

  const settle = (items: readonly SettlingItem[]): Settled[] => {
    const accounts = new BatchAccounts(findGuarded);
    const [read, write] = [readsOfBatch(accounts), writesOfBatch(accounts)];
    const settled = settleBatch({ items, read, write, provider, clock });
    for (const { key, account } of accounts.charged) chargeAccount(guardRow(account), key);
    return settled;
  };

  return {
    find,

    /** Must be called outside of a view. Two reads are safe: a recorded top-up stays, and its checkout is never retired. */
    findOutcome(checkoutId: string): Outcome {
      const found = find(checkoutId);
      if (found !== undefined) return found;
      const retiredAt = findRetiredAt(checkoutId);
      return retiredAt === undefined ? undefined : { retiredAt };
    },

    /** Settles a batch in one write transaction: an outcome for each item, in order. */
    settle: (items: readonly SettlingItem[]): Promise<Settled[]> => database.write(() => settle(items)),
  };
}

/** Selects one row for each connection, unsorted. CROSS JOIN stops SQLite from starting with the customers. */
const overviewsOf = (cuids: string) => `SELECT c.cuid, c.first_name, c.last_name, c.mobile, c.status,
    n.service, n.req_id, n.position, n.status AS connection_status, n.blocked,
    (SELECT max(s.end_time) FROM subscription AS s WHERE s.cuid = n.cuid AND s.environment = n.environment
      AND s.service = n.service AND s.req_id = n.req_id AND s.add_on = 0) AS base_end
  FROM (${cuids}) AS k
  CROSS JOIN customer AS c ON c.cuid = k.cuid AND c.environment = ?2
  LEFT JOIN connection AS n ON n.cuid = c.cuid AND n.environment = c.environment`;
const OF_CODE = "SELECT cuid FROM customer_code WHERE code = ?1 AND environment = ?2 LIMIT 2";
/** Finds a mobile number in two forms; a customer found by both counts once. */
const OF_TWO_CODES = "SELECT DISTINCT cuid FROM customer_code WHERE code IN (?1, ?3) AND environment = ?2 LIMIT 2";

/** Selects one row for each ledger of a connection, even if the connection was removed; one without a ledger if none. */
const CONNECTION = `SELECT c.first_name, c.last_name, c.mobile, c.status AS customer_status,
    n.service, n.req_id, ${CONNECTION_STATE.map((column) => `n.${column}`).join(", ")},
    s.plan, s.last_entry, ${HEAD_COLUMNS.map((column) => `s.${column}`).join(", ")}
  FROM customer AS c
  LEFT JOIN connection AS n ON n.cuid = ?1 AND n.environment = ?2 AND n.service = ?3 AND n.req_id = ?4
  LEFT JOIN subscription AS s ON s.cuid = ?1 AND s.environment = ?2 AND s.service = ?3 AND s.req_id = ?4
  WHERE c.cuid = ?1 AND c.environment = ?2`;

export interface ConnectionToTopUp {
  readonly found: FoundConnection | undefined;
  /** The row of the last entry of a plan's ledger; undefined if there is none. */
  readonly lastEntryOf: (plan: string) => number | undefined;
}

export type CustomerTables = ReturnType<typeof customerTables>;

/** Finds customers for partners' requests. It reads no ledgers, which would take longer every year. */
export function customerTables(database: Database, provider: ProviderSettings) {
  type Row = OverviewRow & { readonly position: number | null };
  type LedgerRow = CustomerConnectionRow & { readonly plan: string | null; readonly last_entry: number };
  const ofCode = database.prepareRows<Row>(overviewsOf(OF_CODE));
  const ofTwoCodes = database.prepareRows<Row>(overviewsOf(OF_TWO_CODES));
  const connection = database.prepareRows<LedgerRow>(CONNECTION);
  const toppedUp = database.prepareRows<unknown>(TOPPED_UP);
  return {
    lookUp(environment: Environment, code: string): CustomerOverview[] {
      const [first, second] = codesToFind(code, provider);
      const rows = second === undefined ? ofCode(first, environment) : ofTwoCodes(first, environment, second);
      if (rows.length > 1) rows.sort((a, b) => (a.position ?? 0) - (b.position ?? 0));
      return toOverviews(rows);
    },

    findConnection({ cuid, environment, service, reqId }: ConnectionKey): FoundConnection | undefined {
      return toFoundConnection(cuid, connection(cuid, environment, service, reqId));
    },

    hasToppedUp(partnerId: number, environment: Environment, cuid: string): boolean {
      return toppedUp(cuid, environment, partnerId).length > 0;
    },

    /** Finds a connection and the ledger entries that a top-up follows. */
    findToTopUp({ cuid, environment, service, reqId }: ConnectionKey): ConnectionToTopUp {
      const rows = connection(cuid, environment, service, reqId);
      const lastEntryOf = (plan: string) => rows.find((row) => row.plan === plan)?.last_entry;
      return { found: toFoundConnection(cuid, rows), lastEntryOf };
    },
  };
}
