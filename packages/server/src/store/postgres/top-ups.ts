import type { Catalogue } from "../../domain/catalogue.ts";
import type { Instant } from "../../domain/wall-time.ts";
import { guardRow } from "../guarded-accounts.ts";
import { type OverviewRow, toOverviews } from "../overviews.ts";
import {
  CONNECTION_KEY,
  CONNECTION_STATE,
  type ConnectionRows,
  type CustomerConnectionRow,
  HEAD_COLUMNS,
  keyColumns,
  toFoundConnection,
  toTransaction,
} from "../rows.ts";
import { codesToFind } from "../settings.ts";
import { type Settled, type SettlingItem, settleBatch } from "../settling.ts";
import type { Outcome, ProviderSettings, Store } from "../store.ts";
import { ACCOUNT, CONNECTION, namesOf, pick } from "../table.ts";
import { columnsOf, TABLES } from "../tables.ts";
import {
  type AccountColumns,
  BatchSnapshot,
  type CheckoutRow,
  type LockedAccount,
  type LockedCustomer,
  type TokenOfBatch,
} from "./batch-snapshot.ts";
import { asked, insertRows, isAsked, qualified, textArray, unlessEmpty, withRows } from "./columns.ts";
import type { Database } from "./database.ts";
import { appendEvents, FIND_TARGET, record } from "./ledgers.ts";
import { LOCK_ACCOUNTS, LOCK_CUSTOMERS, LOCK_RECORDING, SHARE_RECORDING } from "./locks.ts";
import type { PostgresReferenceCache } from "./reference-cache.ts";
import type { Prepared, Query, Session } from "./session.ts";

const OVERVIEWS: Prepared = {
  name: "overviews",
  text: `SELECT c.cuid, c.first_name, c.last_name, c.mobile, c.status,
      n.service, n.req_id, n.status AS connection_status, n.blocked,
      (SELECT max(s.end_time) FROM subscription AS s WHERE ${isAsked("s", CONNECTION_KEY, "n")} AND s.add_on = 0) AS base_end
    FROM (SELECT DISTINCT cuid FROM customer_code WHERE code = ANY($1::text[]) AND environment = $2 LIMIT 2) AS k
    JOIN customer AS c ON c.cuid = k.cuid AND c.environment = $2
    LEFT JOIN connection AS n ON n.cuid = c.cuid AND n.environment = c.environment
    ORDER BY c.cuid, n.position`,
};

/** Columns of connection (`n`) and subscription (`s`). */
const CONNECTION_WITH_HEADS = `${qualified("n", [...CONNECTION_KEY, ...CONNECTION_STATE])}, s.plan,
  ${qualified("s", HEAD_COLUMNS)}`;

const ONE_CONNECTION: Prepared = {
  name: "connection",
  text: `SELECT c.first_name, c.last_name, c.mobile, c.status AS customer_status, ${CONNECTION_WITH_HEADS}
    FROM customer AS c
    LEFT JOIN connection AS n ON n.cuid = c.cuid AND n.environment = c.environment AND n.service = $3 AND n.req_id = $4
    LEFT JOIN subscription AS s ON ${isAsked("s", CONNECTION_KEY, "n")}
    WHERE c.cuid = $1 AND c.environment = $2`,
};

const TOPPED_UP: Prepared = {
  name: "topped_up",
  text: `SELECT 1 FROM ledger_entry AS e JOIN top_up AS t ON t.txn_id = e.txn_id
    WHERE e.cuid = $1 AND e.environment = $2 AND t.partner_id = $3 LIMIT 1`,
};

/** Finds customers for partners' requests. */
export function customerTables(
  database: Database,
  provider: ProviderSettings,
): Pick<Store, "lookUpCustomers" | "findConnection" | "hasToppedUp"> {
  return {
    async lookUpCustomers(environment, code) {
      const values = [textArray(codesToFind(code, provider)), environment];
      return toOverviews(await database.ask<OverviewRow>({ ...OVERVIEWS, values }));
    },

    async findConnection({ cuid, environment, service, reqId }) {
      const values = [cuid, environment, service, reqId];
      return toFoundConnection(cuid, await database.ask<CustomerConnectionRow>({ ...ONE_CONNECTION, values }));
    },

    async hasToppedUp(partnerId, environment, cuid) {
      return (await database.ask({ ...TOPPED_UP, values: [cuid, environment, partnerId] })).length > 0;
    },
  };
}

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
    text: `SELECT k.checkout_id AS asked, r.at AS retired_at, ${qualified("t", columnsOf("top_up"))}
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

const CHARGED = pick(TABLES.account.columns, "balance", "day", "day_top_ups", "day_amount");
const CHARGED_NAMES = namesOf(CHARGED);
const CHARGE_COLUMNS = { ...ACCOUNT, ...CHARGED };
const CHARGE = withRows(
  {
    name: "accounts_charge",
    text: `UPDATE account AS a SET (${CHARGED_NAMES.join(", ")}) = (${qualified("k", CHARGED_NAMES)})
      FROM ${asked(CHARGE_COLUMNS)} WHERE ${isAsked("a", TABLES.account.key)}`,
  },
  CHARGE_COLUMNS,
);

const PRUNED_BEFORE: Prepared = { name: "retention", text: "SELECT pruned_before FROM retention" };

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

type TopUpTables = Pick<Store, "findTransaction" | "findOutcome"> & {
  /** @throws StoreUnavailable if it is not known whether the batch was recorded. */
  readonly settle: (batch: readonly SettlingItem[]) => Promise<Settled[]>;
};

export function topUpTables({ database, provider, clock, reference }: TopUpParts): TopUpTables {
  const findOutcome = async (checkoutId: string): Promise<Outcome> => {
    const [row] = await database.ask<CheckoutRow>(CHECKOUTS([{ checkout_id: checkoutId }]));
    if (row === undefined || row.checkout_id !== null) return row && toTransaction(row);
    return row.retired_at === null ? undefined : { retiredAt: row.retired_at };
  };

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
    findOutcome,

    async findTransaction(checkoutId) {
      const outcome = await findOutcome(checkoutId);
      return outcome !== undefined && "txnId" in outcome ? outcome : undefined;
    },

    /** Settles a batch in one transaction, with one round trip before the decision and one after it. */
    async settle(items) {
      const catalogues = await readCatalogues(items);
      return database.transact(openingOf(items), async (rows, session) => {
        const [customers, , tokens, connections, checkouts, retention, targets = []] = rows;
        const loaded = {
          customers: customers as LockedCustomer[],
          tokens: tokens as TokenOfBatch[],
          accounts: await lockAccounts(session, tokens as TokenOfBatch[], items),
          connections: connections as ConnectionRows[],
          checkouts: checkouts as CheckoutRow[],
          catalogues,
          prunedBefore: (retention as { pruned_before: Instant }[])[0]?.pruned_before,
          hasTarget: targets.length > 0,
        };
        const snapshot = new BatchSnapshot(loaded);
        const settled = settleBatch({ items, read: snapshot, write: snapshot, provider, clock });
        await session.commit(writesOf(snapshot));
        return settled;
      });
    },
  };
}

/** Locks guarded accounts. An account becomes guarded only while nothing is recorded, so the tokens say which are. */
async function lockAccounts(
  session: Session,
  tokens: readonly TokenOfBatch[],
  items: readonly SettlingItem[],
): Promise<LockedAccount[]> {
  const keys = new Map<string, AccountColumns>();
  for (const { partner_id, environment, guarded } of tokens)
    if (guarded) keys.set(`${partner_id} ${environment}`, { partner_id, environment });
  for (const item of items) {
    if (item.kind !== "top_up" || item.command.tokenId !== undefined) continue;
    const { partnerId: partner_id, environment } = item.command;
    keys.set(`${partner_id} ${environment}`, { partner_id, environment });
  }
  return keys.size === 0 ? [] : session.run<LockedAccount>(LOCK_ACCOUNTS([...keys.values()]));
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
  ];
}

function checkoutIdOf(item: SettlingItem): string {
  return item.kind === "top_up" ? item.command.checkoutId : item.checkoutId;
}

function writesOf({ recorded, events, retired, accounts }: BatchSnapshot): Query[] {
  const charged = accounts.charged.map(({ key, account }) => {
    return { partner_id: key.partnerId, environment: key.environment, ...guardRow(account) };
  });
  const retirements = Array.from(retired, ([checkout_id, at]) => ({ checkout_id, at }));
  return [
    ...unlessEmpty(record, recorded),
    ...unlessEmpty(CHARGE, charged),
    ...unlessEmpty(RETIRE, retirements),
    ...appendEvents(events),
  ];
}
