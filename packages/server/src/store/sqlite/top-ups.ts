import type { Service } from "../../domain/bouquet.ts";
import type { Calendar, Instant } from "../../domain/calendar.ts";
import type { Environment } from "../../domain/customer.ts";
import {
  decideTopUp,
  type TopUpCommand,
  type TopUpOutcome,
  type Transaction,
  type TransactionStatus,
} from "../../domain/top-up.ts";
import type { CatalogueTables } from "./catalogues.ts";
import type { CustomerTables } from "./customers.ts";
import type { Database } from "./database.ts";
import type { SubscriptionTables } from "./subscriptions.ts";

interface TopUpRow {
  checkout_id: string;
  txn_id: string;
  partner_id: number;
  environment: Environment;
  cuid: string;
  service: Service;
  req_id: string;
  bouquet_code: string;
  amount: number;
  at: number;
  status: TransactionStatus;
  udf1: string | null;
  udf2: string | null;
}

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

  constructor(database: Database, tables: OtherTables) {
    this.#tables = tables;
    this.#find = database.prepare("SELECT * FROM top_up WHERE checkout_id = ?");
    this.#insert = database.prepare(
      `INSERT INTO top_up (checkout_id, txn_id, partner_id, environment, cuid, service, req_id,
         bouquet_code, amount, at, status, udf1, udf2)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.#findRetired = database.prepare("SELECT 1 FROM retired_checkout WHERE checkout_id = ?");
    this.#retire = database.prepare("INSERT OR IGNORE INTO retired_checkout (checkout_id, at) VALUES (?, ?)");
  }

  find(checkoutId: string): Transaction | undefined {
    const row = this.#find.get(checkoutId) as TopUpRow | undefined;
    return row && toTransaction(row);
  }

  /** Loads, decides and writes one top-up of a batch. To be called inside a write transaction. */
  settle(command: TopUpCommand, now: Instant, calendar: Calendar): TopUpOutcome {
    const found = this.#tables.customers.findConnection(command);
    const snapshot = {
      recorded: this.find(command.checkoutId),
      customerStatus: found?.profile.status,
      connection: found?.connection,
      retired: this.#findRetired.get(command.checkoutId) !== undefined,
      catalogue: () => this.#tables.catalogues.read(command.checkout.revision),
    };
    const outcome = decideTopUp(snapshot, command, now, calendar);
    if (outcome.kind === "recorded") {
      this.#record(outcome);
      if (found?.connection?.toppedUp === false) this.#tables.customers.markToppedUp(command);
    }
    if (outcome.kind === "refused" && outcome.retires) this.#retire.run(command.checkoutId, now);
    return outcome;
  }

  /** The transaction, or undefined for good. To be called inside a write transaction. */
  conclude(checkoutId: string, now: Instant): Transaction | undefined {
    const recorded = this.find(checkoutId);
    if (recorded === undefined) this.#retire.run(checkoutId, now);
    return recorded;
  }

  #record({ transaction, grant, subscription }: Extract<TopUpOutcome, { kind: "recorded" }>): void {
    const { checkoutId, txnId, partnerId, environment, cuid, service, reqId, bouquetCode, amount, at, status } =
      transaction;
    const where = [environment, cuid, service, reqId];
    const free = [transaction.udf1 ?? null, transaction.udf2 ?? null];
    this.#insert.run(checkoutId, txnId, partnerId, ...where, bouquetCode, Number(amount), at, status, ...free);
    this.#tables.subscriptions.append(transaction, subscription.plan, grant, subscription, checkoutId);
  }
}

function toTransaction(row: TopUpRow): Transaction {
  return {
    checkoutId: row.checkout_id,
    txnId: row.txn_id,
    partnerId: row.partner_id,
    environment: row.environment,
    cuid: row.cuid,
    service: row.service,
    reqId: row.req_id,
    bouquetCode: row.bouquet_code,
    amount: BigInt(row.amount),
    at: row.at,
    status: row.status,
    udf1: row.udf1 ?? undefined,
    udf2: row.udf2 ?? undefined,
  };
}
