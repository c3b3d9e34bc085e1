import type { Attribution } from "../../../domain/audit.ts";
import { historyPruned, horizonMoved } from "../../../domain/audited-changes.ts";
import type { Calendar, Instant } from "../../../domain/calendar.ts";
import { customerDigest, customerDigestIn } from "../../../domain/checkout.ts";
import type { ClockDoubt } from "../../../domain/clock-doubt.ts";
import {
  CUSTOMERS_AT_ONCE,
  checkoutsOf,
  findPrunable,
  type ImportedTopUpRow,
  importedQuery,
  keyOf,
  NEWEST_RECORD,
  type NewestRow,
  type PrunableRow,
  prunableImported,
  prunableQuery,
  prunableRetired,
  prunedImported,
  prunedLedgers,
  prunedRetired,
  RETIRED_AT_ONCE,
} from "../../common/pruning.ts";
import type {
  ImportedCursor,
  JudgeClock,
  PruneCursor,
  Pruned,
  PrunedPortion,
  PruneRequest,
  Retention,
} from "../../retention.ts";
import type { Database } from "../session/database.ts";
import { LOCK_IMPORT, LOCK_REFERENCE } from "../session/locks.ts";
import type { Prepared, Query } from "../session/session.ts";
import { auditing } from "./audit.ts";
import { columnsOf, deleteRows, unnest } from "./columns.ts";
import { connectionKey, PLAN_KEY } from "./ledger.ts";
import { CHECKOUT_KEY, LOCK_CUSTOMERS, PRUNED_BEFORE, type RetentionRow } from "./top-ups.ts";

const NEWEST: Prepared = { name: "retention_newest", text: NEWEST_RECORD };
const MOVE_HORIZON: Prepared = {
  name: "retention_move",
  text: `INSERT INTO retention (only_row, pruned_before) VALUES (true, $1)
    ON CONFLICT (only_row) DO UPDATE SET pruned_before = excluded.pruned_before`,
};
const CUSTOMERS: Prepared = {
  name: "retention_customers",
  text: `SELECT environment, cuid FROM customer WHERE (customer_digest, environment, cuid) > ($1, $2, $3)
    ORDER BY customer_digest, environment, cuid LIMIT ${CUSTOMERS_AT_ONCE}`,
};
const LEDGERS: Prepared = {
  name: "retention_ledgers",
  text: prunableQuery("g.customer_digest = ANY($1::bigint[])", { join: "AND t.customer_digest = g.customer_digest" }),
};
const IMPORTED: Prepared = {
  name: "retention_imported",
  text: importedQuery(
    "t.imported AND (t.customer_digest, t.checkout_id) > ($1, $2)",
    "t.customer_digest, t.checkout_id",
    "AND r.customer_digest = t.customer_digest",
  ),
};
/**
 * Their customers may have no row here by which to hold them. What others do to them meanwhile is seen by whoever reads
 * them after that, in a statement of its own.
 */
const HOLD_TOP_UPS: Prepared = {
  name: "retention_hold",
  text: `SELECT FROM ${unnest(CHECKOUT_KEY)} AS k(customer_digest, checkout_id)
    JOIN top_up AS t ON t.customer_digest = k.customer_digest AND t.checkout_id = k.checkout_id
    ORDER BY t.customer_digest, t.checkout_id FOR UPDATE OF t`,
};
const RETIRED: Prepared = {
  name: "retention_retired",
  text: `SELECT checkout_id, at FROM retired_checkout WHERE (customer_digest, checkout_id) > ($1, $2)
    ORDER BY customer_digest, checkout_id LIMIT ${RETIRED_AT_ONCE}`,
};
const DELETE_GRANTS = deleteRows("subscription_grant", [...PLAN_KEY, ["seq", "integer"]]);
const DELETE_CHECKOUTS = {
  reversal: deleteRows("reversal", CHECKOUT_KEY),
  top_up: deleteRows("top_up", CHECKOUT_KEY),
  retired_checkout: deleteRows("retired_checkout", CHECKOUT_KEY),
};

/** Less than every digest. */
const BEFORE_ALL = -1;

/** The SQL by which history is let go. Each portion holds its customers, as top-ups, corrections and imports do. */
export class RetentionTables implements Retention {
  readonly #database: Database;
  readonly #calendar: Calendar;

  constructor(database: Database, calendar: Calendar) {
    this.#database = database;
    this.#calendar = calendar;
  }

  async prunedBefore(): Promise<Instant | undefined> {
    return (await this.#database.ask<RetentionRow>(PRUNED_BEFORE))[0]?.pruned_before;
  }

  async newestRecord(): Promise<Instant | undefined> {
    return newestOf(await this.#database.ask<NewestRow>(NEWEST));
  }

  async moveHorizon(before: Instant, by: Attribution, judge?: JudgeClock): Promise<ClockDoubt | undefined> {
    return this.#database.transactPatiently(
      [LOCK_REFERENCE, [PRUNED_BEFORE], [NEWEST]],
      async ([, rows, newest], session) => {
        const doubt = judge?.(newestOf(newest as NewestRow[]));
        if (doubt !== undefined) return doubt;
        const former = (rows as RetentionRow[])[0]?.pruned_before;
        if (former !== undefined && former >= before) return undefined;
        const audit = await auditing(session, [horizonMoved(former, before)], by);
        await session.commit([[MOVE_HORIZON, [before]], ...audit]);
        return undefined;
      },
    );
  }

  async pruneLedgers(
    { before, dryRun }: PruneRequest,
    after: PruneCursor | undefined,
  ): Promise<PrunedPortion<PruneCursor>> {
    const cursor = after === undefined ? [BEFORE_ALL, "", ""] : [customerDigest(after), after.environment, after.cuid];
    const customers = await this.#database.ask<PruneCursor>(CUSTOMERS, cursor);
    const found = await this.#database.ask<PrunableRow>(LEDGERS, [customers.map(customerDigest)]);
    const rows = findPrunable(ofCustomers(customers, found), before, this.#calendar);
    if (dryRun || rows.length === 0) return prunedLedgers(rows, customers, this.#calendar);
    const gone = await this.#prune(rows, before);
    return prunedLedgers(gone, customers, this.#calendar);
  }

  async pruneImported(
    { before, dryRun }: PruneRequest,
    after: ImportedCursor | undefined,
  ): Promise<PrunedPortion<ImportedCursor>> {
    const cursor = after === undefined ? [BEFORE_ALL, ""] : [customerDigest(after), after.checkoutId];
    const page = await this.#database.ask<ImportedTopUpRow>(IMPORTED, cursor);
    const rows = prunableImported(page, before);
    if (dryRun || rows.length === 0) return prunedImported(rows, page, this.#calendar);
    const held = rows.map((row) => [customerDigest(row), row.checkout_id] as const);
    const digests = [...new Set(held.map(([digest]) => digest))];
    // An import holds such rows in the order of its file: with one of the two at a time, neither waits for the other.
    const opening: Query[] = [
      ...[LOCK_IMPORT, [LOCK_CUSTOMERS, [digests]] as const],
      [HOLD_TOP_UPS, columnsOf(CHECKOUT_KEY.length, held)],
    ];
    return this.#database.transactPatiently(opening, async (_, session) => {
      const still = await session.run<ImportedTopUpRow>(IMPORTED, cursor);
      const isHeld = new Set(held.map(([, checkoutId]) => checkoutId));
      const gone = prunableImported(still, before).filter(({ checkout_id: checkoutId }) => isHeld.has(checkoutId));
      const checkoutIds = gone.map(({ checkout_id: checkoutId }) => checkoutId);
      await session.commit([deleteCheckouts("top_up", checkoutIds), deleteCheckouts("reversal", checkoutIds)]);
      return prunedImported(gone, still, this.#calendar);
    });
  }

  async pruneRetired({ before, dryRun }: PruneRequest, after: string | undefined): Promise<PrunedPortion<string>> {
    const cursor = after === undefined ? [BEFORE_ALL, ""] : [customerDigestIn(after), after];
    const page = await this.#database.ask<{ checkout_id: string; at: Instant }>(RETIRED, cursor);
    const checkoutIds = prunableRetired(page, before);
    if (!dryRun && checkoutIds.length > 0)
      await this.#database.transactPatiently([deleteCheckouts("retired_checkout", checkoutIds)], (_, session) =>
        session.commit([]),
      );
    return prunedRetired(checkoutIds, page);
  }

  async recordPruned(pruned: Pruned, by: Attribution): Promise<void> {
    await this.#database.transactPatiently([], async (_, session) => {
      await session.commit(await auditing(session, [historyPruned(pruned)], by));
    });
  }

  /** @param concerned each of the customers, once or more. */
  async #prune(concerned: readonly PruneCursor[], before: Instant): Promise<PrunableRow[]> {
    const digests = [...new Set(concerned.map(customerDigest))];
    return this.#database.transactPatiently([[LOCK_CUSTOMERS, [digests]]], async (_, session) => {
      const found = await session.run<PrunableRow>(LEDGERS, [digests]);
      const rows = findPrunable(ofCustomers(concerned, found), before, this.#calendar);
      await session.commit(deletionsOf(rows));
      return rows;
    });
  }
}

function newestOf([row]: readonly NewestRow[]): Instant | undefined {
  return row?.at ?? undefined;
}

/** Customers may share a digest by chance: each is counted with its own page. */
function ofCustomers(customers: readonly PruneCursor[], rows: readonly PrunableRow[]): PrunableRow[] {
  const names = new Set(customers.map(({ environment, cuid }) => `${environment} ${cuid}`));
  return rows.filter(({ environment, cuid }) => names.has(`${environment} ${cuid}`));
}

function deletionsOf(rows: readonly PrunableRow[]): Query[] {
  return [
    DELETE_GRANTS(rows.map((row) => [...connectionKey(keyOf(row)), row.plan, row.seq])),
    deleteCheckouts("top_up", checkoutsOf(rows, "top_up")),
    deleteCheckouts("reversal", checkoutsOf(rows, "reversal")),
  ];
}

function deleteCheckouts(table: keyof typeof DELETE_CHECKOUTS, checkoutIds: readonly string[]): Query {
  return DELETE_CHECKOUTS[table](checkoutIds.map((checkoutId) => [customerDigestIn(checkoutId), checkoutId]));
}
