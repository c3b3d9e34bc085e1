import type { ConnectionKey } from "../../domain/customer.ts";
import type { Grant, Subscription } from "../../domain/subscription.ts";
import type { Database } from "./database.ts";

interface SubscriptionRow {
  plan: string;
  code: string;
  name: string;
  add_on: 0 | 1;
  start_at: number;
  end_at: number;
  months: number;
  days: number;
  seconds: number;
  topped_up_months: number;
  topped_up_days: number;
  granted_end_at: number | null;
}

/** Which columns are filled depends on the kind; the schema's checks say how. */
export interface GrantRow {
  kind: Grant["kind"];
  at: number;
  code: string;
  name: string;
  add_on: 0 | 1;
  start_at: number;
  months: number;
  days: number;
  seconds: number;
  on_top_months: number;
  on_top_days: number;
}

/** The SQL of the ledger of grants, and of the subscriptions that it folds to. */
export class SubscriptionTables {
  readonly #list;
  readonly #ledger;
  readonly #append;
  readonly #put;
  readonly #delete;

  constructor(database: Database) {
    this.#list = database.prepare(
      `SELECT * FROM subscription WHERE cuid = ? AND environment = ? AND service = ? AND req_id = ?
       ORDER BY add_on, start_at, plan`,
    );
    this.#ledger = database.prepare(
      `SELECT * FROM subscription_grant
       WHERE cuid = ? AND environment = ? AND service = ? AND req_id = ? AND plan = ? ORDER BY seq`,
    );
    this.#append = database.prepare(
      `INSERT INTO subscription_grant
         (cuid, environment, service, req_id, plan, seq,
          kind, at, code, name, add_on, start_at, months, days, seconds,
          on_top_months, on_top_days, checkout_id)
       SELECT ?1, ?2, ?3, ?4, ?5, coalesce(max(seq), 0) + 1,
         ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17
       FROM subscription_grant WHERE cuid = ?1 AND environment = ?2 AND service = ?3 AND req_id = ?4 AND plan = ?5`,
    );
    this.#put = database.prepare(
      `INSERT OR REPLACE INTO subscription
         (cuid, environment, service, req_id, plan, code, name, add_on, start_at, end_at,
          months, days, seconds, topped_up_months, topped_up_days, granted_end_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.#delete = database.prepare(
      "DELETE FROM subscription WHERE cuid = ? AND environment = ? AND service = ? AND req_id = ? AND plan = ?",
    );
  }

  list({ cuid, environment, service, reqId }: ConnectionKey): Subscription[] {
    return (this.#list.all(cuid, environment, service, reqId) as SubscriptionRow[]).map(toSubscription);
  }

  ledger({ cuid, environment, service, reqId }: ConnectionKey, plan: string): Grant[] {
    return (this.#ledger.all(cuid, environment, service, reqId, plan) as GrantRow[]).map(toGrant);
  }

  /** Appends a grant, and puts what the plan amounts to after it. To be called inside a write transaction. */
  append(key: ConnectionKey, plan: string, grant: Grant, after: Subscription | undefined, checkoutId?: string): void {
    const ids = [key.cuid, key.environment, key.service, key.reqId, plan];
    this.#append.run(...ids, ...grantColumns(grant), checkoutId ?? null);
    if (after === undefined) {
      this.#delete.run(...ids);
      return;
    }
    const { bouquet, start, end, span, toppedUp, grantedEnd } = after;
    const label = [bouquet.code, bouquet.name, bouquet.addOn ? 1 : 0];
    const run = [start, end, span.months, span.days, span.seconds];
    this.#put.run(...ids, ...label, ...run, toppedUp.months, toppedUp.days, grantedEnd ?? null);
  }
}

/** kind, at, code, name, add_on, start_at, months, days, seconds, on_top_months, on_top_days */
function grantColumns(grant: Grant): (string | number | null)[] {
  if (grant.kind === "withdrawal") return [grant.kind, grant.at, null, null, null, null, null, null, null, null, null];
  const { code, name, addOn } = grant.bouquet;
  const label = [grant.kind, grant.at, code, name, addOn ? 1 : 0];
  if (grant.kind === "top_up") return [...label, null, grant.period.months, grant.period.days, 0, null, null];
  const { start, span, onTop } = grant;
  return [...label, start, span.months, span.days, span.seconds, onTop.months, onTop.days];
}

export function toGrant(row: GrantRow): Grant {
  const { kind, at, start_at: start, months, days, seconds } = row;
  if (kind === "withdrawal") return { kind, at };
  const bouquet = { code: row.code, name: row.name, addOn: row.add_on === 1 };
  if (kind === "top_up") return { kind, at, bouquet, period: { months, days } };
  const onTop = { months: row.on_top_months, days: row.on_top_days };
  return { kind, at, bouquet, start, span: { months, days, seconds }, onTop };
}

function toSubscription(row: SubscriptionRow): Subscription {
  return {
    plan: row.plan,
    bouquet: { code: row.code, name: row.name, addOn: row.add_on === 1 },
    start: row.start_at,
    end: row.end_at,
    span: { months: row.months, days: row.days, seconds: row.seconds },
    toppedUp: { months: row.topped_up_months, days: row.topped_up_days },
    grantedEnd: row.granted_end_at ?? undefined,
  };
}
