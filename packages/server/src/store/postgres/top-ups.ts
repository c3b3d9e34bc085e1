import type { Catalogue } from "../../domain/catalogue.ts";
import type { TopUpCommand } from "../../domain/top-up.ts";
import type { Instant, WallTime } from "../../domain/wall-time.ts";
import { CONNECTION_WITH_HEADS } from "../partner-reads.ts";
import { CONNECTION_KEY, type ConnectionRows, keyColumns, retiredRow } from "../rows.ts";
import { type Settled, type SettlingItem, settleBatch } from "../settling.ts";
import type { ProviderSettings } from "../store.ts";
import { CONNECTION, isAsked, namesOf, pick, qualified } from "../table.ts";
import { columnsOf, TABLES } from "../tables.ts";
import { type TakerRow, toTaker } from "../takers.ts";
import {
  type AccountColumns,
  type AskedCheckout,
  BatchSnapshot,
  type LoadedBatch,
  type LockedAccount,
  type LockedCustomer,
  type SoldRow,
  type TokenOfBatch,
} from "./batch-snapshot.ts";
import { asked, insertRows, unlessEmpty, withRows } from "./columns.ts";
import type { Database } from "./database.ts";
import { ADD_SALES, appendEvents, changeDue, FIND_TARGET, FIND_WEBHOOKS, record } from "./ledgers.ts";
import { LOCK_ACCOUNTS, LOCK_CUSTOMERS, LOCK_RECORDING, SHARE_RECORDING } from "./locks.ts";
import type { PostgresReferenceCache } from "./reference-cache.ts";
import type { Prepared, Query, Session } from "./session.ts";

const CONNECTIONS = withRows(
  {
    name: "connections",
    text: `SELECT ${CONNECTION_WITH_HEADS} FROM ${asked(CONNECTION)}
      JOIN connection AS n ON ${isAsked("n", CONNECTION_KEY)}
      LEFT JOIN subscription AS s ON ${isAsked("s", CONNECTION_KEY, "n")}`,
  },
  CONNECTION,
);

const CHECKOUT = pick(TABLES.top_up.columns, "checkout_id");
const CHECKOUTS = withRows(
  {
    name: "checkouts",
    text: `SELECT k.checkout_id AS asked, to_jsonb(r) AS retired, ${qualified("t", columnsOf("top_up"))}
      FROM ${asked(CHECKOUT)} LEFT JOIN top_up AS t ON t.checkout_id = k.checkout_id
      LEFT JOIN retired_checkout AS r ON r.checkout_id = k.checkout_id`,
  },
  CHECKOUT,
);

/** A batch reads tokens itself: the cached ones may be a second old. */
const TOKEN = pick(TABLES.access_token.columns, "id");
const TOKENS = withRows(
  {
    name: "tokens",
    text: `SELECT t.id, t.expires_at AS "expiresAt", t.revoked_at AS "revokedAt", p.status, p.limits, p.commission,
        t.partner_id, t.environment, a.balance IS NOT NULL AS guarded
      FROM ${asked(TOKEN)} JOIN access_token AS t ON t.id = k.id JOIN partner AS p ON p.id = t.partner_id
      LEFT JOIN account AS a ON a.partner_id = t.partner_id AND a.environment = t.environment`,
  },
  TOKEN,
);

const CHARGED = pick(TABLES.account.columns, "partner_id", "environment", "balance");
const CHARGE = withRows(
  {
    name: "accounts_charge",
    text: `UPDATE account AS a SET balance = k.balance FROM ${asked(CHARGED)} WHERE ${isAsked("a", TABLES.account.key)}`,
  },
  CHARGED,
);

const SOLD_KEY = pick(TABLES.sales_day.columns, "partner_id", "environment", "day");
const SOLD_TODAY = withRows(
  {
    name: "sold_today",
    text: `SELECT k.partner_id, k.environment, coalesce(sum(s.top_ups), 0) AS top_ups, coalesce(sum(s.top_ups * s.amount), 0) AS gross
      FROM ${asked(SOLD_KEY)} LEFT JOIN sales_day AS s ON ${isAsked("s", namesOf(SOLD_KEY))}
      GROUP BY k.partner_id, k.environment`,
  },
  SOLD_KEY,
);

const PRUNED_BEFORE: Prepared = { name: "retention", text: "SELECT pruned_before FROM retention" };

const RECORD_SALES = insertRows("sale", TABLES.sale.columns);

const RETIRE = insertRows(
  "retired_checkout",
  TABLES.retired_checkout.columns,
  "ON CONFLICT (checkout_id) DO UPDATE SET at = greatest(retired_checkout.at, excluded.at)",
);

interface TopUpParts {
  readonly database: Database;
  readonly provider: ProviderSettings;
  readonly clock: () => Instant;
  readonly reference: PostgresReferenceCache;
}

export function topUpTables({ database, provider, clock, reference }: TopUpParts) {
  /** The catalogue revisions that the batch's checkouts were quoted from; a revision that never existed is missing. */
  const readCatalogues = async (batch: readonly SettlingItem[]): Promise<Map<number, Catalogue>> => {
    const found = new Map<number, Catalogue>();
    for (const item of batch) {
      const revision = item.kind === "top_up" ? item.command.checkout.revision : undefined;
      if (revision === undefined || found.has(revision)) continue;
      const catalogue = await reference.readCatalogue(revision);
      if (catalogue !== undefined) found.set(revision, catalogue);
    }
    return found;
  };

  return {
    /**
     * Settles a batch in one transaction, with one round trip before the decision and one after it.
     * @throws StoreUnavailable if it is not known whether the batch was recorded.
     */
    async settle(items: readonly SettlingItem[]): Promise<Settled[]> {
      const catalogues = await readCatalogues(items);
      return database.transact(openingOf(items), async (rows, session) => {
        const now = provider.zone.moment(clock());
        const [customers, , tokens, connections, checkouts, retention, targets = [], webhooks = []] = rows;
        const loaded = {
          customers: customers as LockedCustomer[],
          tokens: tokens as TokenOfBatch[],
          ...(await lockAccounts(session, tokens as TokenOfBatch[], items, now.wall)),
          connections: connections as ConnectionRows[],
          checkouts: checkouts as AskedCheckout[],
          catalogues,
          prunedBefore: (retention as { pruned_before: Instant }[])[0]?.pruned_before,
          hasTarget: targets.length > 0,
          takers: (webhooks as TakerRow[]).map(toTaker),
        };
        const snapshot = new BatchSnapshot(loaded);
        const settled = settleBatch({ items, read: snapshot, write: snapshot, provider, now, clock });
        await session.commit(writesOf(snapshot));
        return settled;
      });
    },
  };
}

/** Locks guarded accounts, and sums what they bought today. An account becomes guarded only while nothing is recorded, so the tokens say which are. */
async function lockAccounts(
  session: Session,
  tokens: readonly TokenOfBatch[],
  items: readonly SettlingItem[],
  now: WallTime,
): Promise<Pick<LoadedBatch, "accounts" | "sold">> {
  const keys = new Map<string, AccountColumns>();
  for (const { partner_id, environment, guarded } of tokens)
    if (guarded) keys.set(`${partner_id} ${environment}`, { partner_id, environment });
  for (const item of items) {
    if (item.kind !== "top_up" || item.command.tokenId !== undefined) continue;
    const { partnerId: partner_id, environment } = item.command;
    keys.set(`${partner_id} ${environment}`, { partner_id, environment });
  }
  if (keys.size === 0) return { accounts: [], sold: [] };
  const day = now.slice(0, "YYYY-MM-DD".length);
  const asked = [...keys.values()];
  const [accounts, sold] = await session.runAll([
    LOCK_ACCOUNTS(asked),
    SOLD_TODAY(asked.map((key) => ({ ...key, day }))),
  ]);
  return { accounts: accounts as LockedAccount[], sold: sold as SoldRow[] };
}

/** The locks come first: what is read after them cannot change any more. */
function openingOf(batch: readonly SettlingItem[]): Query[] {
  const commands = batch.flatMap((item) => (item.kind === "top_up" ? [item.command] : []));
  const connections = new Map(commands.map((command) => [JSON.stringify(keyColumns(command)), keyColumns(command)]));
  const tokenIds = new Set(commands.flatMap(({ tokenId }) => (tokenId === undefined ? [] : [tokenId])));
  const checkoutIds = [...new Set(batch.map(checkoutIdOf))];
  return [
    LOCK_CUSTOMERS([...connections.values()]),
    commands.length === batch.length ? SHARE_RECORDING : LOCK_RECORDING,
    TOKENS([...tokenIds].map((id) => ({ id }))),
    CONNECTIONS([...connections.values()]),
    CHECKOUTS(checkoutIds.map((checkout_id) => ({ checkout_id }))),
    PRUNED_BEFORE,
    FIND_TARGET,
    FIND_WEBHOOKS(accountsOf(commands)),
  ];
}

function accountsOf(commands: readonly TopUpCommand[]): AccountColumns[] {
  const accounts = commands.map(({ partnerId: partner_id, environment }) => ({ partner_id, environment }));
  return [...new Map(accounts.map((each) => [JSON.stringify(each), each])).values()];
}

function checkoutIdOf(item: SettlingItem): string {
  return item.kind === "top_up" ? item.command.checkoutId : item.checkoutId;
}

function writesOf({ recorded, sales, events, told, retired, accounts }: BatchSnapshot): Query[] {
  const retirements = Array.from(retired, ([checkoutId, how]) => retiredRow(checkoutId, how));
  return [
    ...unlessEmpty(record, recorded),
    ...unlessEmpty(RECORD_SALES, sales),
    ...unlessEmpty(CHARGE, accounts.charged),
    ...unlessEmpty(ADD_SALES, accounts.sales.rows),
    ...unlessEmpty(RETIRE, retirements),
    ...appendEvents(events),
    ...changeDue(told),
  ];
}
