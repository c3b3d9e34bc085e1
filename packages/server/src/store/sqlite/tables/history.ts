import type { Attribution } from "../../../domain/audit.ts";
import type { Instant } from "../../../domain/calendar.ts";
import type { Environment } from "../../../domain/customer.ts";
import {
  type HistoryChanges,
  type HistoryEffect,
  historyImported,
  layHistory,
  type OnRecord,
} from "../../../domain/history.ts";
import type { HistoricTopUp } from "../../../domain/history-row.ts";
import { type OnRecordRows, toOnRecord } from "../../common/history.ts";
import { REVERSAL_COLUMNS, reversalColumns, TOP_UP_COLUMNS, topUpColumns } from "../../common/rows.ts";
import type { History } from "../../history.ts";
import type { ProviderSettings } from "../../store.ts";
import type { Database } from "../database.ts";
import { verifyProviderSettings } from "../provider.ts";
import type { AuditTable } from "./audit.ts";
import { BulkInsert, type Row } from "./bulk-insert.ts";
import { PRUNED_BEFORE } from "./retention.ts";

/** Those of the ids in a JSON list, each by its index. */
export const FIND = {
  topUps: found(TOP_UP_COLUMNS, "top_up", "checkout_id"),
  reversals: found("checkout_id, at, author, reason", "reversal", "checkout_id"),
  txnIds: found("txn_id, checkout_id", "top_up", "txn_id"),
  retired: found("checkout_id", "retired_checkout", "checkout_id"),
};

function found(columns: string, table: string, key: string): string {
  return `SELECT ${columns} FROM json_each(?1) AS k CROSS JOIN ${table} AS t ON t.${key} = k.value`;
}

const TOP_UP_NAMES = TOP_UP_COLUMNS.split(/,\s+/);
const REVERSAL_NAMES = REVERSAL_COLUMNS.split(/,\s+/);

/** The SQL of imports of transactions. */
export class HistoryTables implements History {
  readonly #database: Database;
  readonly #audit: AuditTable;
  readonly #provider: ProviderSettings;
  readonly #insertTopUps: BulkInsert;
  readonly #insertReversals: BulkInsert;

  constructor(database: Database, audit: AuditTable, provider: ProviderSettings) {
    this.#database = database;
    this.#audit = audit;
    this.#provider = provider;
    this.#insertTopUps = new BulkInsert(database, "INSERT INTO top_up", withoutEnvironment(TOP_UP_NAMES, TOP_UP_NAMES));
    this.#insertReversals = new BulkInsert(
      database,
      "INSERT INTO reversal",
      withoutEnvironment(REVERSAL_NAMES, REVERSAL_NAMES),
    );
  }

  async import(
    environment: Environment,
    topUps: readonly HistoricTopUp[],
    by: Attribution,
  ): Promise<readonly HistoryEffect[]> {
    return this.#database.write(() => {
      const changes = layHistory(this.#onRecord(topUps), topUps);
      this.#write(environment, changes);
      for (const entry of historyImported(environment, changes)) this.#audit.append(entry, by);
      return changes.effects;
    });
  }

  async preview(topUps: readonly HistoricTopUp[]): Promise<readonly HistoryEffect[]> {
    return this.#database.read(() => layHistory(this.#onRecord(topUps), topUps).effects);
  }

  #onRecord(topUps: readonly HistoricTopUp[]): OnRecord {
    verifyProviderSettings(this.#database, this.#provider);
    const checkoutIds = JSON.stringify(topUps.map(({ transaction }) => transaction.checkoutId));
    const txnIds = JSON.stringify(topUps.map(({ transaction }) => transaction.txnId));
    const ask = (query: string, ids: string) => this.#database.prepare(query).all(ids);
    return toOnRecord({
      topUps: ask(FIND.topUps, checkoutIds),
      reversals: ask(FIND.reversals, checkoutIds),
      txnIds: ask(FIND.txnIds, txnIds),
      retired: ask(FIND.retired, checkoutIds),
      prunedBefore: this.#database.prepare(PRUNED_BEFORE).get()?.["pruned_before"] as Instant | undefined,
    } as unknown as OnRecordRows);
  }

  #write(environment: Environment, { added, reversed }: HistoryChanges): void {
    const topUps = added.map(({ transaction }) => withoutEnvironment(topUpColumns(transaction), TOP_UP_NAMES));
    this.#insertTopUps.run(environment, topUps);
    const mark = this.#database.prepare("UPDATE top_up SET status = 'reversed' WHERE checkout_id = ?");
    for (const { transaction } of reversed) mark.run(transaction.checkoutId);
    const reversals = [...added, ...reversed].flatMap(({ transaction, reversal }) =>
      reversal === undefined ? [] : [withoutEnvironment(reversalColumns(transaction, reversal), REVERSAL_NAMES)],
    );
    this.#insertReversals.run(environment, reversals);
  }
}

/** A bulk insert is told the environment of all its rows once. */
function withoutEnvironment<Value>(values: readonly Value[], names: readonly string[]): Value[] & Row {
  return values.filter((_, index) => names[index] !== "environment") as Value[] & Row;
}
