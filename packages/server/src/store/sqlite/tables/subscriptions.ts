import type { ConnectionKey } from "../../../domain/customer.ts";
import type { Grant, Subscription } from "../../../domain/subscription.ts";
import { GRANT_COLUMNS, grantColumns, SUBSCRIPTION_COLUMNS, subscriptionColumns } from "../../common/rows.ts";
import type { Database } from "../database.ts";
import { LEVEL } from "./levels.ts";

const LEDGER_KEY = "cuid, environment, service, req_id, plan";
const OF_LEDGER = `cuid = ?1 AND environment = ?2 AND level = ${LEVEL.ledger} AND service = ?3 AND req_id = ?4 AND plan = ?5`;
/** The same of a ledger that folds to no subscription. */
export const NO_SUBSCRIPTION: readonly null[] = SUBSCRIPTION_COLUMNS.map(() => null);

const SUBSCRIPTION = SUBSCRIPTION_COLUMNS.join(", ");
/** Behind the five values of a ledger's key. */
const OWN_VALUES = parameters(6, SUBSCRIPTION_COLUMNS.length);

export const WRITE = {
  // An aggregate gives a row where the ledger has none yet.
  append: `INSERT INTO grant_row (before, seq, ${LEDGER_KEY}, ${GRANT_COLUMNS.join(", ")})
    SELECT max(last_grant), coalesce(max(last_seq), 0) + 1, ?1, ?2, ?3, ?4, ?5,
      ${parameters(6, GRANT_COLUMNS.length)}
    FROM customer_row WHERE ${OF_LEDGER}`,
  update: `UPDATE customer_row SET last_grant = last_insert_rowid(), last_seq = coalesce(last_seq, 0) + 1,
      (${SUBSCRIPTION}) = (${OWN_VALUES})
    WHERE ${OF_LEDGER}`,
  /** For a ledger that has been there before, and gets no grant. */
  restore: `UPDATE customer_row SET (${SUBSCRIPTION}) = (${OWN_VALUES}) WHERE ${OF_LEDGER}`,
  insert: `INSERT INTO customer_row (level, last_grant, last_seq, ${LEDGER_KEY}, ${SUBSCRIPTION})
    VALUES (${LEVEL.ledger}, last_insert_rowid(), 1, ?1, ?2, ?3, ?4, ?5, ${OWN_VALUES})`,
};

/** As many as `count`, from the parameter of that number on. */
function parameters(first: number, count: number): string {
  return Array.from({ length: count }, (_, index) => `?${first + index}`).join(", ");
}

/** The SQL of the ledgers, and of the subscriptions that they fold to. */
export class SubscriptionTables {
  readonly #append;
  readonly #update;
  readonly #insert;

  constructor(database: Database) {
    this.#append = database.prepare(WRITE.append);
    this.#update = database.prepare(WRITE.update);
    this.#insert = database.prepare(WRITE.insert);
  }

  /** Appends a grant, and puts what the plan amounts to after it. To be called inside a write transaction. */
  append(key: ConnectionKey, plan: string, grant: Grant, after: Subscription | undefined): void {
    const ids = [key.cuid, key.environment, key.service, key.reqId, plan];
    this.#append.run(...ids, ...grantColumns(grant));
    const values = [...ids, ...(after === undefined ? NO_SUBSCRIPTION : subscriptionColumns(after))];
    if (this.#update.run(...values).changes === 0) this.#insert.run(...values);
  }
}
