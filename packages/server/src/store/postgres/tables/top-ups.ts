import { DAY_MS, type Instant } from "../../../domain/calendar.ts";
import { CHECKOUT_VALID_MS, checkoutIssuedAt, customerDigest, customerDigestIn } from "../../../domain/checkout.ts";
import type { TopUpCommand, Transaction } from "../../../domain/top-up.ts";
import { qualified, SUBSCRIPTION_COLUMNS, type TopUpRow, topUpColumns, toTransaction } from "../../common/rows.ts";
import { refuseIfTooLate, type Settled, type SettlingItem } from "../../common/settling.ts";
import type { Outcome, ProviderSettings } from "../../store.ts";
import type { Database } from "../session/database.ts";
import { SHARE_RETIREMENT } from "../session/locks.ts";
import { type Prepared, type Query, WAITS } from "../session/session.ts";
import { type CheckoutRow, type ConnectionRows, type LockedCustomer, Snapshot } from "./batch-snapshot.ts";
import type { CatalogueTables } from "./catalogues.ts";
import { type Column, columnsOf, insertRows, unnest } from "./columns.ts";
import { appendEntries, CONNECTION_KEY, connectionKey } from "./ledger.ts";

/**
 * A customer's row is the lock of all that is recorded for the customer. Every transaction that needs several
 * takes them in this order, so that no two ever wait for each other.
 */
export const LOCK_CUSTOMERS: Prepared = {
  name: "customers_lock",
  text: `SELECT environment, cuid, status FROM customer WHERE customer_digest = ANY($1::bigint[])
    ORDER BY customer_digest, environment, cuid FOR NO KEY UPDATE`,
};

// That a digest is one of those asked for says nothing new, but that the others' shards need not be looked at.
const KEY_NAMES = CONNECTION_KEY.map(([name]) => name);
export const CONNECTIONS: Prepared = {
  name: "connections",
  text: `SELECT n.environment, n.cuid, n.service, n.req_id, n.status, n.topped_up, n.segment, n.blocked,
      s.plan, ${qualified("s", SUBSCRIPTION_COLUMNS)}
    FROM ${unnest(CONNECTION_KEY)} AS k(${KEY_NAMES.join(", ")})
    JOIN connection AS n ON ${KEY_NAMES.map((name) => `n.${name} = k.${name}`).join(" AND ")}
      AND n.customer_digest = ANY($1)
    LEFT JOIN subscription AS s ON ${KEY_NAMES.map((name) => `s.${name} = n.${name}`).join(" AND ")}
      AND s.customer_digest = ANY($1)`,
};

export const CHECKOUT_KEY: readonly Column[] = [
  ["customer_digest", "bigint"],
  ["checkout_id", "text"],
];
export const CHECKOUTS: Prepared = {
  name: "checkouts",
  text: `SELECT k.checkout_id AS asked, r.at AS retired_at, t.*
    FROM ${unnest(CHECKOUT_KEY)} AS k(customer_digest, checkout_id)
    LEFT JOIN top_up AS t ON t.customer_digest = k.customer_digest AND t.checkout_id = k.checkout_id
      AND t.customer_digest = ANY($1)
    LEFT JOIN retired_checkout AS r ON r.customer_digest = k.customer_digest AND r.checkout_id = k.checkout_id
      AND r.customer_digest = ANY($1)`,
};

export interface RetentionRow {
  pruned_before: Instant;
}
export const PRUNED_BEFORE: Prepared = { name: "retention", text: "SELECT pruned_before FROM retention" };
/** Nothing is let go for weeks: a checkout that is younger need not be held against the horizon. */
const SURELY_KEPT_MS = DAY_MS;

export const FIND: Prepared = {
  name: "top_up",
  text: "SELECT * FROM top_up WHERE customer_digest = $1 AND checkout_id = $2",
};

/** One question for both: txn-status is asked often. Its one row is empty where there is neither. */
const FIND_OUTCOME: Prepared = {
  name: "outcome",
  text: `SELECT r.at AS retired_at, t.* FROM (SELECT) AS asked
    LEFT JOIN top_up AS t ON t.customer_digest = $1 AND t.checkout_id = $2
    LEFT JOIN retired_checkout AS r ON r.customer_digest = $1 AND r.checkout_id = $2`,
};
type OutcomeRow = { readonly retired_at: Instant | null } & (TopUpRow | { readonly checkout_id: null });

export const INSERT_TOP_UPS = insertRows("top_up", [
  ["customer_digest", "bigint"],
  ["checkout_id", "text"],
  ["txn_id", "text"],
  ["partner_id", "integer"],
  ["environment", "text"],
  ["cuid", "text"],
  ["service", "text"],
  ["req_id", "text"],
  ["bouquet_code", "text"],
  ["amount", "bigint"],
  ["at", "bigint"],
  ["status", "text"],
  ["udf1", "text"],
  ["udf2", "text"],
  ["imported", "boolean"],
]);
export const RETIRE = insertRows(
  "retired_checkout",
  [...CHECKOUT_KEY, ["at", "bigint"]],
  "ON CONFLICT (customer_digest, checkout_id) DO UPDATE SET at = greatest(retired_checkout.at, excluded.at)",
);
export const MARK_TOPPED_UP: Prepared = {
  name: "topped_up",
  text: `UPDATE connection AS n SET topped_up = true FROM ${unnest(CONNECTION_KEY)} AS k(${KEY_NAMES.join(", ")})
    WHERE ${KEY_NAMES.map((name) => `n.${name} = k.${name}`).join(" AND ")} AND n.customer_digest = ANY($1)`,
};

/** The SQL of recorded top-ups. */
export class TopUpTables {
  readonly #database: Database;
  readonly #catalogues: CatalogueTables;
  readonly #provider: ProviderSettings;
  readonly #clock: () => Instant;

  constructor(database: Database, catalogues: CatalogueTables, provider: ProviderSettings, clock: () => Instant) {
    this.#database = database;
    this.#catalogues = catalogues;
    this.#provider = provider;
    this.#clock = clock;
  }

  async find(checkoutId: string): Promise<Transaction | undefined> {
    const digest = customerDigestIn(checkoutId);
    if (digest === undefined) return undefined;
    const [row] = await this.#database.ask<TopUpRow>(FIND, [digest, checkoutId]);
    return row && toTransaction(row);
  }

  async findOutcome(checkoutId: string): Promise<Outcome> {
    const digest = customerDigestIn(checkoutId);
    if (digest === undefined) return undefined;
    const [row] = await this.#database.ask<OutcomeRow>(FIND_OUTCOME, [digest, checkoutId]);
    if (row === undefined) return undefined;
    if (row.checkout_id !== null) return toTransaction(row);
    return row.retired_at === null ? undefined : { retiredAt: row.retired_at };
  }

  /**
   * Loads, decides and writes a batch in one transaction, with one round trip to each side of the decision.
   * @throws StoreUnavailable where it is not known whether it was recorded.
   */
  async settle(batch: readonly SettlingItem[]): Promise<Settled[]> {
    const commands = batch.flatMap((item) => (item.kind === "top_up" ? [item.command] : []));
    const catalogues = await this.#catalogues.readAll(commands.map(({ checkout }) => checkout.revision));
    await this.#database.verifyCommits();
    const begunAt = this.#clock();
    const holds: Query[] = mayRetire(batch, begunAt) ? [SHARE_RETIREMENT] : [];
    const horizon: Query[] = isAnyOlder(batch, begunAt - SURELY_KEPT_MS) ? [[PRUNED_BEFORE]] : [];
    const [lock, ...questions] = openingOf(batch, commands);
    return this.#database.transact([lock, ...holds, ...questions, ...horizon], async (rows, session) => {
      const [retention] = (horizon.length > 0 ? rows.pop() : []) as RetentionRow[];
      rows.splice(1, holds.length);
      const [customers, checkouts, connections = []] = rows;
      const now = this.#clock();
      const snapshot = new Snapshot(
        customers as LockedCustomer[],
        connections as ConnectionRows[],
        checkouts as CheckoutRow[],
        catalogues,
        retention?.pruned_before,
      );
      const settled = batch.map((item): Settled => {
        if (item.kind === "top_up") return snapshot.topUp(item.command, now, this.#provider.calendar);
        return snapshot.conclude(item.checkoutId, now);
      });
      refuseIfTooLate(now, this.#clock());
      await session.commit(writesOf(snapshot, now), WAITS.transaction);
      return settled;
    });
  }
}

/** Whether a checkout has expired, or may have by the time that others make way. */
function mayRetire(batch: readonly SettlingItem[], now: Instant): boolean {
  return batch.some(({ kind }) => kind === "conclusion") || isAnyOlder(batch, now - CHECKOUT_VALID_MS / 2);
}

function isAnyOlder(batch: readonly SettlingItem[], than: Instant): boolean {
  return batch.some((item) => {
    const { checkoutId } = item.kind === "top_up" ? item.command : item;
    return (checkoutIssuedAt(checkoutId) ?? than) < than;
  });
}

/** Locks first: what is read after it cannot change any more. */
function openingOf(batch: readonly SettlingItem[], commands: readonly TopUpCommand[]): readonly [Query, ...Query[]] {
  const checkoutIds = [
    ...new Set(batch.map((item) => (item.kind === "top_up" ? item.command.checkoutId : item.checkoutId))),
  ];
  const checkouts = checkoutIds.map((checkoutId) => [customerDigestIn(checkoutId) as number, checkoutId] as const);
  const connections = new Map(commands.map((command) => [JSON.stringify(connectionKey(command)), command]));
  // Where a checkout is sent for another customer than its own, both must stand still.
  const digests = new Set([...checkouts.map(([digest]) => digest), ...commands.map(customerDigest)]);
  return [
    [LOCK_CUSTOMERS, [[...digests]]],
    [CHECKOUTS, columnsOf(CHECKOUT_KEY.length, checkouts)],
    ...(connections.size > 0
      ? [[CONNECTIONS, columnsOf(CONNECTION_KEY.length, [...connections.values()].map(connectionKey))] as const]
      : []),
  ];
}

/** At most five statements, each of which may take as long as {@link WAITS} says, and all of them less than the deadline. */
function writesOf({ recorded, retired, activated }: Snapshot, now: Instant): Query[] {
  const topUps = recorded.map(({ transaction }) => [customerDigest(transaction), ...topUpColumns(transaction)]);
  const entries = recorded.map(({ transaction, grant, subscription }) => ({
    key: transaction,
    plan: subscription.plan,
    grant,
    subscription,
  }));
  const retirements = [...retired].map((checkoutId) => [customerDigestIn(checkoutId), checkoutId, now]);
  return [
    ...(topUps.length > 0 ? [INSERT_TOP_UPS(topUps)] : []),
    ...appendEntries(entries),
    ...(activated.length > 0
      ? [[MARK_TOPPED_UP, columnsOf(CONNECTION_KEY.length, activated.map(connectionKey))] as const]
      : []),
    ...(retirements.length > 0 ? [RETIRE(retirements)] : []),
  ];
}
