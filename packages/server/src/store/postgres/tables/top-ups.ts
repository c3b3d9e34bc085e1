import type { Catalogue } from "../../../domain/catalogue.ts";
import type { Transaction } from "../../../domain/top-up.ts";
import type { Instant, Moment } from "../../../domain/wall-time.ts";
import { HEAD_COLUMNS, keyColumns, TOP_UP_COLUMNS, topUpRow, toTransaction } from "../../rows.ts";
import { refuseIfTooLate, type Settled, type SettlingItem } from "../../settling.ts";
import type { Outcome, ProviderSettings } from "../../store.ts";
import type { ConnectionRow, TopUpRow } from "../../tables.ts";
import type { Database } from "../session/database.ts";
import { LOCK_RECORDING, SHARE_RECORDING } from "../session/locks.ts";
import type { Prepared, Query } from "../session/session.ts";
import { BatchSnapshot, type CheckoutRow, type ConnectionRows, type LockedCustomer } from "./batch-snapshot.ts";
import { asked, insertRows, isAsked, qualified, withRows } from "./columns.ts";
import { appendEntries, CONNECTION_KEY } from "./ledgers.ts";

/**
 * A customer's row is the lock of all that is recorded for the customer. Every transaction that needs several takes them in
 * the order of the key, so that no two ever wait for each other.
 */
const CUSTOMER_KEY = ["cuid", "environment"] as const;
export const LOCK_CUSTOMERS = withRows(
  {
    name: "customers_lock",
    text: `SELECT c.cuid, c.environment, c.status FROM ${asked(CUSTOMER_KEY)}
      JOIN customer AS c ON ${isAsked("c", CUSTOMER_KEY)} ORDER BY c.cuid, c.environment FOR NO KEY UPDATE OF c`,
  },
  CUSTOMER_KEY,
);

const CONNECTION_COLUMNS: readonly (keyof ConnectionRow)[] = [...CONNECTION_KEY, "status", "blocked", "segment"];
/** For SELECT, of connection as `n` and subscription as `s`: {@link ConnectionRows}. */
export const CONNECTION_WITH_HEADS = `${qualified("n", CONNECTION_COLUMNS)}, s.plan, ${qualified("s", HEAD_COLUMNS)}`;
const CONNECTIONS = withRows(
  {
    name: "connections",
    text: `SELECT ${CONNECTION_WITH_HEADS} FROM ${asked(CONNECTION_KEY)}
      JOIN connection AS n ON ${isAsked("n", CONNECTION_KEY)}
      LEFT JOIN subscription AS s ON ${isAsked("s", CONNECTION_KEY, "n")}`,
  },
  CONNECTION_KEY,
);

const CHECKOUT_KEY = ["checkout_id"] as const;
/** For FROM: top-up `t` and retirement `r` of the checkout of `k`. */
const ON_RECORD = `LEFT JOIN top_up AS t ON t.checkout_id = k.checkout_id
  LEFT JOIN retired_checkout AS r ON r.checkout_id = k.checkout_id`;
const CHECKOUTS = withRows(
  {
    name: "checkouts",
    text: `SELECT k.checkout_id AS asked, r.at AS retired_at, ${qualified("t", TOP_UP_COLUMNS)}
      FROM ${asked(CHECKOUT_KEY)} ${ON_RECORD}`,
  },
  CHECKOUT_KEY,
);

const PRUNED_BEFORE: Prepared = { name: "retention", text: "SELECT pruned_before FROM retention" };

/** One question for both: txn-status is asked often. */
const OUTCOME: Prepared = {
  name: "outcome",
  text: `SELECT k.checkout_id AS asked, r.at AS retired_at, ${qualified("t", TOP_UP_COLUMNS)}
    FROM (SELECT $1::text AS checkout_id) AS k ${ON_RECORD}`,
};
const TOP_UP: Prepared = {
  name: "top_up",
  text: `SELECT ${TOP_UP_COLUMNS.join(", ")} FROM top_up WHERE checkout_id = $1`,
};

const INSERT_TOP_UPS = insertRows("top_up", TOP_UP_COLUMNS);
const RETIRE = insertRows(
  "retired_checkout",
  ["checkout_id", "at"],
  "ON CONFLICT (checkout_id) DO UPDATE SET at = greatest(retired_checkout.at, excluded.at)",
);

/** What top-ups are settled with. */
export interface TopUpParts {
  readonly database: Database;
  readonly provider: ProviderSettings;
  readonly clock: () => Instant;
  readonly readCatalogue: (revision: number) => Promise<Catalogue | undefined>;
}

/** The SQL of top-ups. */
export class TopUpTables {
  readonly #parts: TopUpParts;

  constructor(parts: TopUpParts) {
    this.#parts = parts;
  }

  async find(checkoutId: string): Promise<Transaction | undefined> {
    const [row] = await this.#parts.database.ask<TopUpRow>([TOP_UP, [checkoutId]]);
    return row && toTransaction(row);
  }

  async findOutcome(checkoutId: string): Promise<Outcome> {
    const [row] = (await this.#parts.database.ask<CheckoutRow>([OUTCOME, [checkoutId]])) as [CheckoutRow];
    if (row.checkout_id !== null) return toTransaction(row);
    return row.retired_at === null ? undefined : { retiredAt: row.retired_at };
  }

  /**
   * Loads, decides and writes a batch in one transaction, with one round trip to each side of the decision.
   * @throws StoreUnavailable where it is not known whether it was recorded.
   */
  async settle(batch: readonly SettlingItem[]): Promise<Settled[]> {
    const { database, provider, clock } = this.#parts;
    const catalogues = await this.#readCatalogues(batch);
    return database.transact(openingOf(batch), async (rows, session) => {
      const [customers, , connections, checkouts, retention] = rows;
      const now = provider.zone.moment(clock());
      const loaded = {
        customers: customers as LockedCustomer[],
        connections: connections as ConnectionRows[],
        checkouts: checkouts as CheckoutRow[],
        catalogues,
        prunedBefore: (retention as { pruned_before: Instant }[])[0]?.pruned_before,
      };
      const snapshot = new BatchSnapshot(loaded, now);
      const settled = batch.map((item): Settled => {
        if (item.kind === "top_up") return snapshot.topUp(item.command, provider.basePlans);
        return snapshot.conclude(item.checkoutId);
      });
      refuseIfTooLate(now.instant, clock());
      await session.commit(writesOf(snapshot, now));
      return settled;
    });
  }

  /** Those that the batch's checkouts were quoted from, as far as they were ever published. */
  async #readCatalogues(batch: readonly SettlingItem[]): Promise<Map<number, Catalogue>> {
    const found = new Map<number, Catalogue>();
    for (const item of batch) {
      const revision = item.kind === "top_up" ? item.command.checkout.revision : undefined;
      if (revision === undefined || found.has(revision)) continue;
      const catalogue = await this.#parts.readCatalogue(revision);
      if (catalogue !== undefined) found.set(revision, catalogue);
    }
    return found;
  }
}

/** Locks first: what is read after it cannot change any more. */
function openingOf(batch: readonly SettlingItem[]): Query[] {
  const commands = batch.flatMap((item) => (item.kind === "top_up" ? [item.command] : []));
  const connections = new Map(commands.map((command) => [JSON.stringify(keyColumns(command)), keyColumns(command)]));
  const checkoutIds = [...new Set(batch.map(checkoutIdOf))];
  return [
    LOCK_CUSTOMERS([...connections.values()]),
    commands.length === batch.length ? SHARE_RECORDING : LOCK_RECORDING,
    CONNECTIONS([...connections.values()]),
    CHECKOUTS(checkoutIds.map((checkout_id) => ({ checkout_id }))),
    [PRUNED_BEFORE],
  ];
}

function checkoutIdOf(item: SettlingItem): string {
  return item.kind === "top_up" ? item.command.checkoutId : item.checkoutId;
}

function writesOf({ recorded, retired }: BatchSnapshot, now: Moment): Query[] {
  const topUps = recorded.map(({ transaction }) => topUpRow(transaction));
  const entries = recorded.map(({ transaction, plan, entry }) => ({ key: transaction, plan, entry }));
  const retirements = [...retired].map((checkout_id) => ({ checkout_id, at: now.instant }));
  return [
    ...(topUps.length > 0 ? [INSERT_TOP_UPS(topUps)] : []),
    ...appendEntries(entries),
    ...(retirements.length > 0 ? [RETIRE(retirements)] : []),
  ];
}
