import type { TokenState } from "../../domain/access-token.ts";
import type { AccountKey } from "../../domain/account.ts";
import type { RetiredCheckout } from "../../domain/checkout.ts";
import type { Taker } from "../../domain/news.ts";
import type { RecordedTopUp, TopUpCommand, TopUpSnapshot } from "../../domain/top-up.ts";
import type { Transaction } from "../../domain/transaction.ts";
import type { Instant } from "../../domain/wall-time.ts";
import { type TokenStateRow, toTokenState } from "../access.ts";
import { BatchAccounts, GUARD_COLUMNS, type GuardRow, toGuarded } from "../guarded-accounts.ts";
import { connectionQuery } from "../partner-reads.ts";
import {
  type CustomerConnectionRow,
  retiredRow,
  saleRow,
  toFoundConnection,
  topUpRow,
  toRetired,
  toTransaction,
} from "../rows.ts";
import { addSalesSql, SOLD } from "../sales.ts";
import { type Settled, type SettlingItem, type SettlingReads, type SettlingWrites, settleBatch } from "../settling.ts";
import type { ProviderSettings } from "../store.ts";
import { columnsOf, type RawRow, type SaleRow } from "../tables.ts";
import { type TakerRow, toTaker } from "../takers.ts";
import type { Database } from "./database.ts";
import { bound, dueChanging, eventInsertion, FIND_TARGET, FIND_WEBHOOK, topUpAppending } from "./ledgers.ts";
import { inSqlite } from "./reader.ts";
import type { SqliteReferenceCache } from "./reference-cache.ts";

const TOP_UP_COLUMNS = columnsOf("top_up");
const FIND = `SELECT ${TOP_UP_COLUMNS.join(", ")} FROM top_up WHERE checkout_id = ?`;
const INSERT = `INSERT INTO top_up (${TOP_UP_COLUMNS.join(", ")}) VALUES (${bound(TOP_UP_COLUMNS)})`;
const RETIRED_COLUMNS = columnsOf("retired_checkout");
const FIND_RETIRED = `SELECT ${RETIRED_COLUMNS.join(", ")} FROM retired_checkout WHERE checkout_id = ?`;
const RETIRE = `INSERT INTO retired_checkout (${RETIRED_COLUMNS.join(", ")}) VALUES (${bound(RETIRED_COLUMNS)})
  ON CONFLICT DO UPDATE SET at = max(at, excluded.at)`;
const FIND_TOKEN = `SELECT t.expires_at AS "expiresAt", t.revoked_at AS "revokedAt", p.status, p.limits, p.commission
  FROM access_token AS t JOIN partner AS p ON p.id = t.partner_id WHERE t.id = ?`;
const FIND_GUARDED = `SELECT ${GUARD_COLUMNS.join(", ")} FROM account
  WHERE partner_id = ? AND environment = ? AND balance IS NOT NULL`;
const CHARGE = "UPDATE account SET balance = @balance WHERE partner_id = @partner_id AND environment = @environment";
const SALE_COLUMNS = columnsOf("sale");
const INSERT_SALE = `INSERT INTO sale (${SALE_COLUMNS.join(", ")}) VALUES (${bound(SALE_COLUMNS)})`;
const SOLD_TODAY = `SELECT coalesce(sum(top_ups), 0) AS top_ups, coalesce(sum(top_ups * amount), 0) AS gross FROM sales_day
  WHERE partner_id = ? AND environment = ? AND day = ?`;
/** Finds whether a checkout has a top-up, is retired, or both. */
const ON_RECORD = `SELECT 'top_up' AS what FROM top_up WHERE checkout_id = ?1
  UNION ALL SELECT 'retired' FROM retired_checkout WHERE checkout_id = ?1`;
const HORIZON = "SELECT pruned_before FROM retention";

export interface TopUpParts {
  readonly database: Database;
  readonly provider: ProviderSettings;
  readonly clock: () => Instant;
  readonly reference: SqliteReferenceCache;
}

interface Snapshot extends TopUpSnapshot {
  /** The row id of the last entry of a plan's ledger; undefined if there is none. */
  readonly lastEntryOf: (plan: string) => number | undefined;
}

export function topUpTables({ database, provider, clock, reference }: TopUpParts) {
  type LedgerRow = CustomerConnectionRow & { readonly plan: string | null; readonly last_entry: number };
  const findConnection = database.prepareRows<LedgerRow>(inSqlite(connectionQuery(", s.last_entry")));
  const findRow = database.prepareRows<RawRow<"top_up">>(FIND);
  const insertRow = database.prepareWrite<RawRow<"top_up">>(INSERT);
  const findRetiredRow = database.prepareRows<RawRow<"retired_checkout">>(FIND_RETIRED);
  const retire = database.prepareWrite<RawRow<"retired_checkout">>(RETIRE);
  const findToken = database.prepareRows<TokenStateRow>(FIND_TOKEN);
  const findGuardedRow = database.prepareRows<GuardRow>(FIND_GUARDED);
  const findGuarded = (key: AccountKey) => findGuardedRow(key.partnerId, key.environment).map(toGuarded)[0];
  const chargeAccount = database.prepareWrite<BatchAccounts["charged"][number]>(CHARGE);
  const addSales = database.prepareWrite<SaleRow>(addSalesSql("0", bound(SOLD)));
  const insertSale = database.prepareWrite<RawRow<"sale">>(INSERT_SALE);
  const soldToday = database.prepareRows<{ top_ups: number; gross: number }>(SOLD_TODAY);
  const horizon = database.prepareRows<{ pruned_before: Instant }>(HORIZON);
  const onRecord = database.prepareRows<{ what: "top_up" | "retired" }>(ON_RECORD);
  const append = topUpAppending(database);
  const insertEvent = eventInsertion(database);
  const findTarget = database.prepareRows(FIND_TARGET);
  const findWebhook = database.prepareRows<TakerRow>(FIND_WEBHOOK);
  const changeDue = dueChanging(database);
  const find = (checkoutId: string): Transaction | undefined => findRow(checkoutId).map(toTransaction)[0];
  const findRetired = (checkoutId: string): RetiredCheckout | undefined => findRetiredRow(checkoutId).map(toRetired)[0];
  const findHorizon = (): Instant | undefined => horizon()[0]?.pruned_before;

  /** Reads each token once in a batch: many top-ups share few tokens. */
  const tokensOfBatch = () => {
    const found = new Map<string, TokenState | undefined>();
    return (id: string): TokenState | undefined => {
      if (!found.has(id)) found.set(id, findToken(id).map(toTokenState)[0]);
      return found.get(id);
    };
  };

  /** Reads the webhook of each account once in a batch. */
  const takersOfBatch = () => {
    const found = new Map<string, readonly Taker[]>();
    return ({ partnerId, environment }: AccountKey): readonly Taker[] => {
      const name = `${partnerId} ${environment}`;
      const known = found.get(name) ?? findWebhook(partnerId, environment).map(toTaker);
      found.set(name, known);
      return known;
    };
  };

  const readsOfBatch = (accounts: BatchAccounts): SettlingReads<Snapshot> => {
    const token = tokensOfBatch();
    return {
      hasTarget: findTarget().length > 0,
      takersOf: takersOfBatch(),
      snapshot(command: TopUpCommand): Snapshot {
        const { checkoutId, checkout } = command;
        const rows = findConnection(command.cuid, command.environment, command.service, command.reqId);
        const found = toFoundConnection(command.cuid, rows);
        const recorded = onRecord(checkoutId);
        return {
          recorded: recorded.some(({ what }) => what === "top_up") ? find(checkoutId) : undefined,
          token,
          account: () => accounts.find(command),
          soldToday: () => accounts.soldToday(command),
          retired: recorded.some(({ what }) => what === "retired") ? findRetired(checkoutId) : undefined,
          customerStatus: found?.profile.status,
          connection: found?.connection,
          prunedBefore: findHorizon,
          catalogue: () => reference.readCatalogue(checkout.revision),
          lastEntryOf: (plan) => rows.find((row) => row.plan === plan)?.last_entry,
        };
      },
      transaction: find,
      retirement: findRetired,
      prunedBefore: findHorizon,
    };
  };

  const writesOfBatch = (accounts: BatchAccounts): SettlingWrites<Snapshot> => ({
    record(topUp: RecordedTopUp, { lastEntryOf }) {
      const { transaction, plan, entry } = topUp;
      accounts.record(topUp);
      append({ key: transaction, plan, entry }, lastEntryOf(plan));
      insertRow(topUpRow(transaction));
    },
    recordSale: (transaction, sale) => void insertSale(saleRow(transaction, sale)),
    appendEvent: insertEvent,
    tell: (change) => changeDue([change]),
    retire: (checkoutId, retired) => void retire(retiredRow(checkoutId, retired)),
  });

  const settle = (items: readonly SettlingItem[]): Settled[] => {
    const now = provider.zone.moment(clock());
    const accounts = new BatchAccounts({
      account: findGuarded,
      soldToday({ partnerId, environment }) {
        const [sold] = soldToday(partnerId, environment, now.wall.slice(0, "YYYY-MM-DD".length));
        return { topUps: sold?.top_ups ?? 0, gross: BigInt(sold?.gross ?? 0) };
      },
    });
    const [read, write] = [readsOfBatch(accounts), writesOfBatch(accounts)];
    const settled = settleBatch({ items, read, write, provider, now, clock });
    for (const row of accounts.charged) chargeAccount(row);
    for (const row of accounts.sales.rows) addSales(row);
    return settled;
  };

  return {
    /** Settles a batch in one write transaction: an outcome for each item, in order. */
    settle: (items: readonly SettlingItem[]): Promise<Settled[]> => database.write(() => settle(items)),
  };
}
