import type { Attribution } from "../../../domain/audit.ts";
import type { Instant } from "../../../domain/calendar.ts";
import type { Environment } from "../../../domain/customer.ts";
import { customersImported } from "../../../domain/customer-audit.ts";
import type { CustomerChange, ImportMode } from "../../../domain/customer-import.ts";
import type { StatedCustomer } from "../../../domain/customer-row.ts";
import { type CustomerEffect, effectOf } from "../../../domain/import-effect.ts";
import { e164Of } from "../../common/provider-settings.ts";
import { GRANT_COLUMNS, grantColumns, SUBSCRIPTION_COLUMNS, subscriptionColumns } from "../../common/rows.ts";
import { type StoredCustomers, withoutRepetition } from "../../common/stored-customers.ts";
import type { ProviderSettings } from "../../store.ts";
import type { Database } from "../database.ts";
import type { AuditTable } from "./audit.ts";
import { BulkInsert, conditionOf, type Fixed, type Row } from "./bulk-insert.ts";
import { LEVEL } from "./levels.ts";
import { StoredCustomerTables } from "./stored-customers.ts";
import { NO_SUBSCRIPTION, WRITE } from "./subscriptions.ts";

/** What is looked up together: with all that was ever granted, it must not fill the memory. */
const CUSTOMERS_AT_ONCE = 250;

const CONNECTION_KEY = ["cuid", "service", "req_id"];
const PLAN_KEY = [...CONNECTION_KEY, "plan"];

/** What of the key is the same for all rows of a kind. */
const CUSTOMER = { level: LEVEL.customer, service: "", req_id: "", plan: "" };
const CONNECTION = { level: LEVEL.connection, plan: "" };
const LEDGER = { level: LEVEL.ledger };

/** A ledger's last grant, and the row of the ledger that leads to it. */
interface LedgerHead {
  readonly id: number;
  readonly seq: number;
  readonly row: Row;
}

/** The SQL of customer imports. */
export class CustomerImports {
  readonly #audit: AuditTable;
  readonly #stored: StoredCustomerTables;
  readonly #putCustomers: BulkInsert;
  readonly #deleteConnection;
  readonly #putConnections: BulkInsert;
  readonly #deleteCode;
  readonly #putCodes: BulkInsert;
  readonly #appendGrants: BulkInsert;
  readonly #putLedgers: BulkInsert;
  readonly #lastGrant;
  readonly #restoreSubscription;

  constructor(database: Database, audit: AuditTable) {
    this.#audit = audit;
    this.#stored = new StoredCustomerTables(database);
    const put = (fixed: Fixed, columns: string[]) =>
      new BulkInsert(database, "INSERT OR REPLACE INTO customer_row", columns, fixed);
    this.#putCustomers = put(CUSTOMER, ["cuid", "first_name", "last_name", "mobile", "status", "mobile_e164"]);
    this.#deleteConnection = database.prepare(`DELETE FROM customer_row WHERE ${conditionOf(CONNECTION)}
      AND environment = ? AND ${CONNECTION_KEY.map((column) => `${column} = ?`).join(" AND ")}`);
    this.#putConnections = put(CONNECTION, [
      ...CONNECTION_KEY,
      ...["position", "status", "topped_up", "segment", "blocked"],
    ]);
    this.#deleteCode = database.prepare("DELETE FROM customer_code WHERE environment = ? AND code = ? AND cuid = ?");
    this.#putCodes = new BulkInsert(database, "INSERT OR IGNORE INTO customer_code", ["code", "cuid"]);
    this.#appendGrants = new BulkInsert(database, "INSERT INTO grant_row", [
      ...["id", "before", ...PLAN_KEY, "seq"],
      ...GRANT_COLUMNS,
    ]);
    this.#putLedgers = put(LEDGER, [...PLAN_KEY, "last_grant", "last_seq", ...SUBSCRIPTION_COLUMNS]);
    this.#restoreSubscription = database.prepare(WRITE.restore);
    this.#lastGrant = database.prepareRows("SELECT coalesce(max(id), 0) FROM grant_row");
  }

  /** To be called inside a write transaction. */
  import(
    environment: Environment,
    customers: readonly StatedCustomer[],
    by: Attribution,
    mode: ImportMode,
    provider: ProviderSettings,
  ): CustomerEffect[] {
    const effects: CustomerEffect[] = [];
    for (let from = 0; from < customers.length; from += CUSTOMERS_AT_ONCE) {
      for (const once of withoutRepetition(customers.slice(from, from + CUSTOMERS_AT_ONCE))) {
        const cuids = once.map(({ cuid }) => cuid);
        const stored = this.#stored.find(environment, cuids);
        const imported = once.map((stated) => stored.change(stated, by.at, mode, provider));
        this.#write(
          environment,
          stored,
          imported.map(({ change }) => change),
          provider,
        );
        for (const entry of customersImported(environment, mode, imported)) this.#audit.append(entry, by);
        effects.push(...imported.map(effectOf));
      }
    }
    return effects;
  }

  /** As the port's `previewCustomers` says. */
  preview(
    environment: Environment,
    customers: readonly StatedCustomer[],
    now: Instant,
    mode: ImportMode,
    provider: ProviderSettings,
  ): CustomerEffect[] {
    // Who stands twice is asked for once.
    const stored = this.#stored.find(environment, [...new Set(customers.map(({ cuid }) => cuid))]);
    return customers.map((stated) => effectOf(stored.change(stated, now, mode, provider)));
  }

  #write(
    environment: Environment,
    stored: StoredCustomers,
    changes: readonly CustomerChange[],
    provider: ProviderSettings,
  ): void {
    const [customers, connections, codes]: [Row[], Row[], Row[]] = [[], [], []];
    const grants: Row[] = [];
    const ledgers = new Map<string, LedgerHead>();
    let id = this.#lastGrant()[0]?.[0] as number;
    for (const change of changes) {
      const { cuid, firstName, lastName, mobile, status } = change.profile;
      if (change.changesProfile)
        customers.push([cuid, firstName, lastName, mobile ?? null, status, e164Of(mobile, provider)]);
      for (const { service, reqId } of change.removedConnections)
        this.#deleteConnection.run(environment, cuid, service, reqId);
      if (change.changesConnections) connections.push(...connectionRows(change));
      for (const code of change.removedCodes) this.#deleteCode.run(environment, code, cuid);
      for (const code of change.addedCodes) codes.push([code, cuid]);
      for (const { service, reqId, plan, grant, subscription } of change.entries) {
        const key = [cuid, service, reqId, plan];
        const folded = subscription === undefined ? NO_SUBSCRIPTION : subscriptionColumns(subscription);
        if (grant === undefined) {
          this.#restoreSubscription.run(cuid, environment, service, reqId, plan, ...folded);
          continue;
        }
        const name = JSON.stringify(key);
        const before = ledgers.get(name) ?? stored.lastGrant(cuid, service, reqId, plan);
        id += 1;
        const seq = (before?.seq ?? 0) + 1;
        grants.push([id, before?.id ?? null, ...key, seq, ...grantColumns(grant)]);
        ledgers.set(name, { id, seq, row: [...key, id, seq, ...folded] });
      }
    }
    this.#putCustomers.run(environment, customers);
    this.#putConnections.run(environment, connections);
    this.#putCodes.run(environment, codes);
    this.#appendGrants.run(environment, grants);
    this.#putLedgers.run(
      environment,
      [...ledgers.values()].map(({ row }) => row),
    );
  }
}

function connectionRows({ profile: { cuid }, connections }: CustomerChange): Row[] {
  return connections.map(({ service, reqId, status, toppedUp, segment, blocked }, position) => [
    ...[cuid, service, reqId],
    ...[position, status, toppedUp ? 1 : 0, segment ?? null, blocked ? 1 : 0],
  ]);
}
