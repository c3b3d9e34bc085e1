import { checkoutIssuedAt, wasRetiredDead } from "../../domain/checkout.ts";
import { decideTopUp, type TopUpCommand, type TopUpOutcome, type Transaction } from "../../domain/top-up.ts";
import type { Instant, Moment } from "../../domain/wall-time.ts";
import { TOP_UP_COLUMNS, topUpRow, toTransaction } from "../rows.ts";
import type { Conclusion, Outcome, ProviderSettings } from "../store.ts";
import type { TopUpRow } from "../tables.ts";
import type { CustomerTables } from "./customers.ts";
import type { Database } from "./database.ts";
import { APPEND_ENTRY, entryValues, PUT_HEAD } from "./ledgers.ts";
import type { ReferenceTables } from "./reference.ts";

const FIND = `SELECT ${TOP_UP_COLUMNS.join(", ")} FROM top_up WHERE checkout_id = ?`;
const INSERT = `INSERT INTO top_up (${TOP_UP_COLUMNS.join(", ")}) VALUES (${TOP_UP_COLUMNS.map(() => "?").join(", ")})`;
const FIND_RETIRED = "SELECT at FROM retired_checkout WHERE checkout_id = ?";
const RETIRE =
  "INSERT INTO retired_checkout (checkout_id, at) VALUES (?, ?) ON CONFLICT DO UPDATE SET at = max(at, excluded.at)";
const HORIZON = "SELECT pruned_before FROM retention";

export interface TopUpParts {
  readonly customers: CustomerTables;
  readonly reference: ReferenceTables;
  readonly provider: ProviderSettings;
}

/** The SQL of top-ups. */
export class TopUpTables {
  readonly #parts: TopUpParts;
  readonly #find;
  readonly #insert;
  readonly #findRetired;
  readonly #retire;
  readonly #horizon;
  readonly #append;
  readonly #putHead;

  constructor(database: Database, parts: TopUpParts) {
    this.#parts = parts;
    this.#find = database.prepareRows<TopUpRow>(FIND);
    this.#insert = database.prepare(INSERT);
    this.#findRetired = database.prepareRows<{ at: Instant }>(FIND_RETIRED);
    this.#retire = database.prepare(RETIRE);
    this.#horizon = database.prepareRows<{ pruned_before: Instant }>(HORIZON);
    this.#append = database.prepare(APPEND_ENTRY);
    this.#putHead = database.prepare(PUT_HEAD);
  }

  find(checkoutId: string): Transaction | undefined {
    return this.#find(checkoutId).map(toTransaction)[0];
  }

  /** To be called outside of any view: once a top-up is recorded it stays so, and is not retired any more. */
  findOutcome(checkoutId: string): Outcome {
    const found = this.find(checkoutId);
    if (found !== undefined) return found;
    const retiredAt = this.#retiredAt(checkoutId);
    return retiredAt === undefined ? undefined : { retiredAt };
  }

  /** Loads, decides and writes one top-up of a batch. To be called inside a write transaction. */
  settle(command: TopUpCommand, now: Moment): TopUpOutcome {
    const { checkoutId, checkout } = command;
    const { customers, reference, provider } = this.#parts;
    const found = customers.findConnection(command);
    const retired = this.#retiredAt(checkoutId) !== undefined;
    const snapshot = {
      recorded: this.find(checkoutId),
      retired,
      customerStatus: found?.profile.status,
      connection: found?.connection,
      prunedBefore: () => this.#prunedBefore(),
      catalogue: () => reference.readCatalogue(checkout.revision),
    };
    const outcome = decideTopUp(snapshot, command, now, provider.basePlans);
    if (outcome.kind === "recorded") this.#record(outcome);
    if (outcome.kind === "refused" && outcome.retires && !retired) this.#retire.run(checkoutId, now.instant);
    return outcome;
  }

  /** The transaction, or undefined for good. To be called inside a write transaction. */
  conclude(checkoutId: string, now: Instant): Conclusion {
    const recorded = this.find(checkoutId);
    if (recorded !== undefined) return recorded;
    if ((checkoutIssuedAt(checkoutId) ?? now) < (this.#prunedBefore() ?? 0)) return "pruned";
    // A refusal may have retired it earlier than that is told.
    if (!wasRetiredDead(checkoutId, this.#retiredAt(checkoutId))) this.#retire.run(checkoutId, now);
    return undefined;
  }

  #record({ transaction, plan, entry }: Extract<TopUpOutcome, { kind: "recorded" }>): void {
    this.#append.run(...entryValues(transaction, plan, entry));
    this.#putHead.run();
    const row = topUpRow(transaction);
    this.#insert.run(...TOP_UP_COLUMNS.map((column) => row[column]));
  }

  #retiredAt(checkoutId: string): Instant | undefined {
    return this.#findRetired(checkoutId)[0]?.at;
  }

  #prunedBefore(): Instant | undefined {
    return this.#horizon()[0]?.pruned_before;
  }
}
