import type { Attribution } from "../../../domain/audit.ts";
import { customerDigestIn } from "../../../domain/checkout.ts";
import type { Environment } from "../../../domain/customer.ts";
import { type HistoryEffect, historyImported, layHistory } from "../../../domain/history.ts";
import type { HistoricTopUp } from "../../../domain/history-row.ts";
import { type OnRecordRows, toOnRecord } from "../../common/history.ts";
import { reversalColumns, topUpColumns } from "../../common/rows.ts";
import type { History } from "../../history.ts";
import type { ProviderSettings } from "../../store.ts";
import { HOLD_PROVIDER, ONE_VIEW, READ_PROVIDER, verifyProvider } from "../provider.ts";
import type { Database } from "../session/database.ts";
import { LOCK_IMPORT, LOCK_RETIREMENT } from "../session/locks.ts";
import type { Prepared, Query } from "../session/session.ts";
import { auditing } from "./audit.ts";
import { columnsOf, unnest } from "./columns.ts";
import { ADD_REVERSALS } from "./corrections.ts";
import { CHECKOUT_KEY, INSERT_TOP_UPS, LOCK_CUSTOMERS, PRUNED_BEFORE, type RetentionRow } from "./top-ups.ts";

const TXN_IDS: Prepared = {
  name: "history_txn_ids",
  text: "SELECT txn_id, checkout_id FROM top_up WHERE txn_id = ANY($1::text[])",
};
const MARK_REVERSED: Prepared = {
  name: "history_reverse",
  text: `UPDATE top_up AS t SET status = 'reversed' FROM ${unnest(CHECKOUT_KEY)} AS k(customer_digest, checkout_id)
    WHERE t.customer_digest = k.customer_digest AND t.checkout_id = k.checkout_id`,
};
const FIND = { topUps: find("top_up"), reversals: find("reversal"), retired: find("retired_checkout") };
/** Nobody else may take them back meanwhile. */
const HOLD_TOP_UPS: Prepared = { name: "history_hold", text: `${FIND.topUps.text} FOR NO KEY UPDATE OF t` };

function find(table: string): Prepared {
  return {
    name: `history_${table}`,
    text: `SELECT t.* FROM ${unnest(CHECKOUT_KEY)} AS k(customer_digest, checkout_id)
      JOIN ${table} AS t ON t.customer_digest = k.customer_digest AND t.checkout_id = k.checkout_id`,
  };
}

/**
 * The SQL of imports of transactions. Each holds its customers, as top-ups do; those who are not here yet have no row
 * to be held, so one import at a time writes, nothing is retired meanwhile, and what is on record is held by itself.
 */
export class HistoryTables implements History {
  readonly #database: Database;
  readonly #provider: ProviderSettings;

  constructor(database: Database, provider: ProviderSettings) {
    this.#database = database;
    this.#provider = provider;
  }

  async import(
    environment: Environment,
    topUps: readonly HistoricTopUp[],
    by: Attribution,
  ): Promise<readonly HistoryEffect[]> {
    const digests = [...new Set(topUps.map(digestOf))];
    const opening: Query[] = [
      ...[LOCK_IMPORT, HOLD_PROVIDER, [LOCK_CUSTOMERS, [digests]] as const, LOCK_RETIREMENT],
      ...questionsAbout(topUps, HOLD_TOP_UPS),
    ];
    return this.#database.transactPatiently(opening, async ([, provider = [], , , ...rows], session) => {
      verifyProvider(provider, this.#provider);
      const changes = layHistory(onRecordOf(rows), topUps);
      await session.runAll(writesOf(changes));
      await session.commit(await auditing(session, historyImported(environment, changes), by));
      return changes.effects;
    });
  }

  /** It holds no lock, and sees one moment. */
  async preview(topUps: readonly HistoricTopUp[]): Promise<readonly HistoryEffect[]> {
    const opening: Query[] = [ONE_VIEW, READ_PROVIDER, ...questionsAbout(topUps, FIND.topUps)];
    return this.#database.transact(opening, async ([, provider = [], ...rows]) => {
      verifyProvider(provider, this.#provider);
      return layHistory(onRecordOf(rows), topUps).effects;
    });
  }
}

function questionsAbout(topUps: readonly HistoricTopUp[], findTopUps: Prepared): Query[] {
  const checkouts = columnsOf(CHECKOUT_KEY.length, topUps.map(checkoutKey));
  return [
    [findTopUps, checkouts],
    [FIND.reversals, checkouts],
    [FIND.retired, checkouts],
    [TXN_IDS, [topUps.map(({ transaction }) => transaction.txnId)]],
    [PRUNED_BEFORE],
  ];
}

function onRecordOf([topUps = [], reversals = [], retired = [], txnIds = [], retention = []]: unknown[][]) {
  const [row] = retention as RetentionRow[];
  return toOnRecord({ topUps, reversals, retired, txnIds, prunedBefore: row?.pruned_before } as OnRecordRows);
}

function writesOf({ added, reversed }: Pick<ReturnType<typeof layHistory>, "added" | "reversed">): Query[] {
  const reversals = [...added, ...reversed].flatMap((topUp) =>
    topUp.reversal === undefined ? [] : [[digestOf(topUp), ...reversalColumns(topUp.transaction, topUp.reversal)]],
  );
  return [
    ...(added.length > 0
      ? [INSERT_TOP_UPS(added.map((topUp) => [digestOf(topUp), ...topUpColumns(topUp.transaction)]))]
      : []),
    ...(reversed.length > 0
      ? [[MARK_REVERSED, columnsOf(CHECKOUT_KEY.length, reversed.map(checkoutKey))] as const]
      : []),
    ...(reversals.length > 0 ? [ADD_REVERSALS(reversals)] : []),
  ];
}

function checkoutKey(topUp: HistoricTopUp): readonly [number, string] {
  return [digestOf(topUp), topUp.transaction.checkoutId];
}

/** Of the customer: whoever reads a top-up from a file has found that the checkoutId carries the same. */
function digestOf({ transaction }: HistoricTopUp): number {
  return customerDigestIn(transaction.checkoutId) as number;
}
