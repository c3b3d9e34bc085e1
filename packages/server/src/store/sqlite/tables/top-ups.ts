import type { Calendar, Instant } from "../../../domain/calendar.ts";
import { wasRetiredDead } from "../../../domain/checkout.ts";
import { isCheckoutFromBefore } from "../../../domain/pruning.ts";
import { decideTopUp, type TopUpCommand, type TopUpOutcome, type Transaction } from "../../../domain/top-up.ts";
import { refuseWhereClockWasSet } from "../../common/clock-set.ts";
import { TOP_UP_COLUMNS, topUpColumns, topUpRow, toTransaction } from "../../common/rows.ts";
import type { Conclusion } from "../../store.ts";
import type { Database } from "../database.ts";
import type { CatalogueTables } from "./catalogues.ts";
import type { CustomerTables } from "./customers.ts";
import { PRUNED_BEFORE } from "./retention.ts";
import type { SubscriptionTables } from "./subscriptions.ts";

interface OtherTables {
  readonly catalogues: CatalogueTables;
  readonly customers: CustomerTables;
  readonly subscriptions: SubscriptionTables;
}

/** The SQL of recorded top-ups. */
export class TopUpTables {
  readonly #tables: OtherTables;
  readonly #find;
  readonly #insert;
  readonly #findRetired;
  readonly #retire;
  readonly #prunedBefore;

  constructor(database: Database, tables: OtherTables) {
    this.#tables = tables;
    this.#find = database.prepareRows(`SELECT ${TOP_UP_COLUMNS} FROM top_up WHERE checkout_id = ?`);
    this.#insert = database.prepare(
      `INSERT INTO top_up (${TOP_UP_COLUMNS})
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.#findRetired = database.prepare("SELECT at FROM retired_checkout WHERE checkout_id = ?");
    this.#retire = database.prepare(
      "INSERT INTO retired_checkout (checkout_id, at) VALUES (?, ?) ON CONFLICT DO UPDATE SET at = max(at, excluded.at)",
    );
    this.#prunedBefore = database.prepareRows(PRUNED_BEFORE);
  }

  find(checkoutId: string): Transaction | undefined {
    const [values] = this.#find(checkoutId);
    return values && toTransaction(topUpRow(values));
  }

  retiredAt(checkoutId: string): Instant | undefined {
    return this.#findRetired.get(checkoutId)?.["at"] as Instant | undefined;
  }

  /** Loads, decides and writes one top-up of a batch. To be called inside a write transaction. */
  settle(command: TopUpCommand, now: Instant, calendar: Calendar): TopUpOutcome {
    const found = this.#tables.customers.findConnection(command);
    const snapshot = {
      recorded: this.find(command.checkoutId),
      customerStatus: found?.profile.status,
      connection: found?.connection,
      prunedBefore: () => this.#horizon(),
      retired: this.retiredAt(command.checkoutId) !== undefined,
      catalogue: () => this.#tables.catalogues.read(command.checkout.revision),
    };
    const outcome = decideTopUp(snapshot, command, now, calendar);
    if (outcome.kind === "recorded") {
      this.#record(outcome);
      if (outcome.activates) this.#tables.customers.markToppedUp(command);
    }
    if (outcome.kind === "refused" && outcome.retires && !snapshot.retired) this.#retire.run(command.checkoutId, now);
    return outcome;
  }

  /** The transaction, or undefined for good. To be called inside a write transaction. */
  conclude(checkoutId: string, now: Instant): Conclusion {
    const recorded = this.find(checkoutId);
    if (recorded !== undefined) return recorded;
    const horizon = this.#horizon();
    if (horizon !== undefined && isCheckoutFromBefore(checkoutId, horizon)) return "pruned";
    // A refusal may have retired it earlier than that is told.
    if (!wasRetiredDead(checkoutId, this.retiredAt(checkoutId))) this.#retire.run(checkoutId, now);
    return undefined;
  }

  #horizon(): Instant | undefined {
    return this.#prunedBefore()[0]?.[0] as Instant | undefined;
  }

  #record({ transaction, grant, subscription }: Extract<TopUpOutcome, { kind: "recorded" }>): void {
    refuseWhereClockWasSet(transaction);
    this.#insert.run(...topUpColumns(transaction));
    this.#tables.subscriptions.append(transaction, subscription.plan, grant, subscription);
  }
}
