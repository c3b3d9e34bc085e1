import type { ConnectionKey } from "../../domain/customer.ts";
import type { Grant, Subscription } from "../../domain/subscription.ts";
import { grantColumns, subscriptionColumns } from "../common/rows.ts";
import type { Database } from "./database.ts";

const LEDGER_KEY = "cuid, environment, level, service, req_id, is_grant, plan, seq";
/** Of customer_row, for the values of {@link grantColumns}. */
export const GRANT_COLUMNS = `kind, at, code, name, add_on, start_at, months, days, seconds,
  topped_up_months, topped_up_days, checkout_id, granted_end_at`;
/** Of customer_row, for the values of {@link subscriptionColumns}. */
export const SUBSCRIPTION_COLUMNS = `code, name, add_on, start_at, end_at, months, days, seconds,
  topped_up_months, topped_up_days, granted_end_at`;

export const WRITE = {
  // The greatest seq is the first of its plan: one row is read, however many there are.
  append: `INSERT INTO customer_row (${LEDGER_KEY}, ${GRANT_COLUMNS})
    SELECT ?1, ?2, 2, ?3, ?4, 1, ?5, coalesce(max(seq), 0) + 1,
      ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18
    FROM customer_row WHERE cuid = ?1 AND environment = ?2 AND level = 2 AND service = ?3 AND req_id = ?4
      AND is_grant = 1 AND plan = ?5`,
  // An update in place: REPLACE would delete the row and make another.
  put: `INSERT INTO customer_row (${LEDGER_KEY}, ${SUBSCRIPTION_COLUMNS})
    VALUES (?, ?, 2, ?, ?, 0, ?, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET code = excluded.code, name = excluded.name, add_on = excluded.add_on,
      start_at = excluded.start_at, end_at = excluded.end_at, months = excluded.months, days = excluded.days,
      seconds = excluded.seconds, topped_up_months = excluded.topped_up_months,
      topped_up_days = excluded.topped_up_days, granted_end_at = excluded.granted_end_at`,
  delete: `DELETE FROM customer_row
    WHERE cuid = ? AND environment = ? AND level = 2 AND service = ? AND req_id = ? AND is_grant = 0 AND plan = ?`,
};

/** The SQL of the ledgers, and of the subscriptions that they fold to. */
export class SubscriptionTables {
  readonly #append;
  readonly #put;
  readonly #delete;

  constructor(database: Database) {
    this.#append = database.prepare(WRITE.append);
    this.#put = database.prepare(WRITE.put);
    this.#delete = database.prepare(WRITE.delete);
  }

  /** Appends a grant, and puts what the plan amounts to after it. To be called inside a write transaction. */
  append(key: ConnectionKey, plan: string, grant: Grant, after: Subscription | undefined): void {
    const ids = [key.cuid, key.environment, key.service, key.reqId, plan];
    this.#append.run(...ids, ...grantColumns(grant));
    if (after === undefined) {
      this.#delete.run(...ids);
      return;
    }
    this.#put.run(...ids, ...subscriptionColumns(after));
  }
}
