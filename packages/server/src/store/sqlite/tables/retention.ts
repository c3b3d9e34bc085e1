import { setImmediate } from "node:timers/promises";
import type { Attribution } from "../../../domain/audit.ts";
import { historyPruned, horizonMoved } from "../../../domain/audited-changes.ts";
import type { Calendar, Instant } from "../../../domain/calendar.ts";
import type { ClockDoubt } from "../../../domain/clock-doubt.ts";
import {
  CUSTOMERS_AT_ONCE,
  checkoutsOf,
  findPrunable,
  type ImportedTopUpRow,
  importedQuery,
  lastOfLedgers,
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
import type { Database } from "../database.ts";
import type { AuditTable } from "./audit.ts";

export const PRUNED_BEFORE = "SELECT pruned_before FROM retention";

const CUSTOMERS = `SELECT environment, cuid FROM customer WHERE (cuid, environment) > (?, ?)
  ORDER BY cuid, environment LIMIT ${CUSTOMERS_AT_ONCE}`;
export const LEDGERS = prunableQuery("g.cuid = ? AND g.environment = ?", { grants: "ledger_grant" });
export const IMPORTED = importedQuery(
  "t.imported = 1 AND (t.cuid, t.environment, t.checkout_id) > (?, ?, ?)",
  "t.cuid, t.environment, t.checkout_id",
);
const RETIRED = `SELECT checkout_id, at FROM retired_checkout WHERE checkout_id > ?
  ORDER BY checkout_id LIMIT ${RETIRED_AT_ONCE}`;
// What may go of a ledger is its beginning.
export const DELETE_GRANTS = `DELETE FROM grant_row WHERE id IN (SELECT id FROM ledger_grant
  WHERE cuid = ? AND environment = ? AND service = ? AND req_id = ? AND plan = ? AND seq <= ?)`;

export const LEAD_TO_NONE = `UPDATE grant_row SET before = NULL WHERE id = (SELECT id FROM ledger_grant
  WHERE cuid = ? AND environment = ? AND service = ? AND req_id = ? AND plan = ? ORDER BY seq LIMIT 1)`;

/** The SQL by which history is let go. */
export class RetentionTables implements Retention {
  readonly #database: Database;
  readonly #audit: AuditTable;
  readonly #calendar: Calendar;

  constructor(database: Database, audit: AuditTable, calendar: Calendar) {
    this.#database = database;
    this.#audit = audit;
    this.#calendar = calendar;
  }

  async prunedBefore(): Promise<Instant | undefined> {
    return this.#database.ask(() => this.#horizon());
  }

  async newestRecord(): Promise<Instant | undefined> {
    return this.#database.ask(() => this.#newest());
  }

  async moveHorizon(before: Instant, by: Attribution, judge?: JudgeClock): Promise<ClockDoubt | undefined> {
    return this.#database.write(() => {
      const doubt = judge?.(this.#newest());
      if (doubt !== undefined) return doubt;
      const former = this.#horizon();
      if (former !== undefined && former >= before) return undefined;
      const move =
        former === undefined
          ? "INSERT INTO retention (pruned_before) VALUES (?)"
          : "UPDATE retention SET pruned_before = ?";
      this.#database.prepare(move).run(before);
      this.#audit.append(horizonMoved(former, before), by);
      return undefined;
    });
  }

  async pruneLedgers(
    { before, dryRun }: PruneRequest,
    after: PruneCursor | undefined,
  ): Promise<PrunedPortion<PruneCursor>> {
    // Others that write have their turn.
    await setImmediate();
    const values = [after?.cuid ?? "", after?.environment ?? ""];
    const customers = this.#database.ask(() =>
      this.#database.prepare(CUSTOMERS).all(...values),
    ) as unknown as PruneCursor[];
    const rows = this.#database.ask(() => this.#find(customers, before));
    if (dryRun || rows.length === 0) return prunedLedgers(rows, customers, this.#calendar);
    const concerned = customers.filter(({ environment, cuid }) =>
      rows.some((row) => row.cuid === cuid && row.environment === environment),
    );
    const gone = await this.#database.write(() => {
      const still = this.#find(concerned, before);
      this.#delete(still);
      return still;
    });
    return prunedLedgers(gone, customers, this.#calendar);
  }

  async pruneImported(
    { before, dryRun }: PruneRequest,
    after: ImportedCursor | undefined,
  ): Promise<PrunedPortion<ImportedCursor>> {
    await setImmediate();
    const read = () =>
      this.#database
        .prepare(IMPORTED)
        .all(after?.cuid ?? "", after?.environment ?? "", after?.checkoutId ?? "") as unknown as ImportedTopUpRow[];
    const page = this.#database.ask(read);
    const rows = prunableImported(page, before);
    if (dryRun || rows.length === 0) return prunedImported(rows, page, this.#calendar);
    return this.#database.write(() => {
      const still = read();
      const gone = prunableImported(still, before);
      const checkoutIds = gone.map(({ checkout_id: checkoutId }) => checkoutId);
      this.#deleteCheckouts("reversal", checkoutIds);
      this.#deleteCheckouts("top_up", checkoutIds);
      return prunedImported(gone, still, this.#calendar);
    });
  }

  async pruneRetired({ before, dryRun }: PruneRequest, after: string | undefined): Promise<PrunedPortion<string>> {
    await setImmediate();
    const page = this.#database.ask(() => this.#database.prepare(RETIRED).all(after ?? "")) as {
      checkout_id: string;
      at: Instant;
    }[];
    const checkoutIds = prunableRetired(page, before);
    if (!dryRun && checkoutIds.length > 0)
      await this.#database.write(() => this.#deleteCheckouts("retired_checkout", checkoutIds));
    return prunedRetired(checkoutIds, page);
  }

  async recordPruned(pruned: Pruned, by: Attribution): Promise<void> {
    await this.#database.write(() => this.#audit.append(historyPruned(pruned), by));
  }

  #horizon(): Instant | undefined {
    return this.#database.prepare(PRUNED_BEFORE).get()?.["pruned_before"] as Instant | undefined;
  }

  #newest(): Instant | undefined {
    return (this.#database.prepare(NEWEST_RECORD).get() as unknown as NewestRow).at ?? undefined;
  }

  #find(customers: readonly PruneCursor[], before: Instant): PrunableRow[] {
    const ledgers = this.#database.prepare(LEDGERS);
    return customers.flatMap(({ cuid, environment }) =>
      findPrunable(ledgers.all(cuid, environment) as unknown as PrunableRow[], before, this.#calendar),
    );
  }

  #delete(rows: readonly PrunableRow[]): void {
    const deletion = this.#database.prepare(DELETE_GRANTS);
    const end = this.#database.prepare(LEAD_TO_NONE);
    for (const { cuid, environment, service, req_id, plan, seq } of lastOfLedgers(rows)) {
      deletion.run(cuid, environment, service, req_id, plan, seq);
      end.run(cuid, environment, service, req_id, plan);
    }
    this.#deleteCheckouts("reversal", checkoutsOf(rows, "reversal"));
    this.#deleteCheckouts("top_up", checkoutsOf(rows, "top_up"));
  }

  #deleteCheckouts(table: "reversal" | "top_up" | "retired_checkout", checkoutIds: readonly string[]): void {
    const deletion = this.#database.prepare(`DELETE FROM ${table} WHERE checkout_id = ?`);
    for (const checkoutId of checkoutIds) deletion.run(checkoutId);
  }
}
