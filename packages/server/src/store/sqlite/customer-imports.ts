import type { Attribution } from "../../domain/audit.ts";
import type { Instant } from "../../domain/calendar.ts";
import type { Environment } from "../../domain/customer.ts";
import { customersImported, type ImportedChange } from "../../domain/customer-audit.ts";
import { type CustomerChange, changeCustomer, type ImportMode } from "../../domain/customer-import.ts";
import type { StatedCustomer } from "../../domain/customer-row.ts";
import { type CustomerEffect, effectOf } from "../../domain/import-effect.ts";
import { e164Of } from "../common/provider-settings.ts";
import { grantColumns, subscriptionColumns } from "../common/rows.ts";
import { type StoredCustomers, withoutRepetition } from "../common/stored-customers.ts";
import type { ProviderSettings } from "../store.ts";
import type { AuditTable } from "./audit.ts";
import { BulkInsert, conditionOf, type Fixed, type Row } from "./bulk-insert.ts";
import type { Database } from "./database.ts";
import { StoredCustomerTables } from "./stored-customers.ts";
import { GRANT_COLUMNS, SUBSCRIPTION_COLUMNS } from "./subscriptions.ts";

/** What is looked up together: with all that was ever granted, it must not fill the memory. */
const CUSTOMERS_AT_ONCE = 250;

const CONNECTION_KEY = ["cuid", "service", "req_id"];
const PLAN_KEY = [...CONNECTION_KEY, "plan"];

/** What of the key is the same for all rows of a kind. */
const CUSTOMER = { level: 0, service: "", req_id: "", is_grant: 0, plan: "", seq: 0 };
const CONNECTION = { level: 1, is_grant: 0, plan: "", seq: 0 };
const SUBSCRIPTION = { level: 2, is_grant: 0, seq: 0 };
const GRANT = { level: 2, is_grant: 1 };

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
  readonly #putSubscriptions: BulkInsert;
  readonly #deleteSubscription;

  constructor(database: Database, audit: AuditTable) {
    this.#audit = audit;
    this.#stored = new StoredCustomerTables(database);
    const put = (fixed: Fixed, columns: string[]) =>
      new BulkInsert(database, "INSERT OR REPLACE INTO customer_row", columns, fixed);
    const remove = (fixed: Fixed, key: readonly string[]) =>
      database.prepare(`DELETE FROM customer_row WHERE ${conditionOf(fixed)} AND environment = ?
        AND ${key.map((column) => `${column} = ?`).join(" AND ")}`);
    this.#putCustomers = put(CUSTOMER, ["cuid", "first_name", "last_name", "mobile", "status", "mobile_e164"]);
    this.#deleteConnection = remove(CONNECTION, CONNECTION_KEY);
    this.#putConnections = put(CONNECTION, [
      ...CONNECTION_KEY,
      ...["position", "status", "topped_up", "segment", "blocked"],
    ]);
    this.#deleteCode = database.prepare("DELETE FROM customer_code WHERE environment = ? AND code = ? AND cuid = ?");
    this.#putCodes = new BulkInsert(database, "INSERT OR IGNORE INTO customer_code", ["code", "cuid"]);
    this.#appendGrants = new BulkInsert(
      database,
      "INSERT INTO customer_row",
      [...PLAN_KEY, "seq", ...GRANT_COLUMNS.split(/,\s*/)],
      GRANT,
    );
    this.#putSubscriptions = put(SUBSCRIPTION, [...PLAN_KEY, ...SUBSCRIPTION_COLUMNS.split(/,\s*/)]);
    this.#deleteSubscription = remove(SUBSCRIPTION, PLAN_KEY);
  }

  /** To be called inside a write transaction. */
  import(
    environment: Environment,
    customers: readonly StatedCustomer[],
    by: Attribution,
    mode: ImportMode,
    provider: ProviderSettings,
  ): CustomerEffect[] {
    const { calendar, normaliseMobile } = provider;
    const effects: CustomerEffect[] = [];
    for (let from = 0; from < customers.length; from += CUSTOMERS_AT_ONCE) {
      for (const once of withoutRepetition(customers.slice(from, from + CUSTOMERS_AT_ONCE))) {
        const cuids = once.map(({ cuid }) => cuid);
        const stored = this.#stored.find(environment, cuids);
        const imported = once.map((stated): ImportedChange => {
          const found = stored.find(stated.cuid);
          return {
            customer: found?.customer,
            change: changeCustomer(found, stated, by.at, calendar, mode, normaliseMobile),
          };
        });
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

  /** As {@link import}, and writes nothing. */
  preview(
    environment: Environment,
    customers: readonly StatedCustomer[],
    now: Instant,
    mode: ImportMode,
    provider: ProviderSettings,
  ): CustomerEffect[] {
    const { calendar, normaliseMobile } = provider;
    // Who stands twice is asked for once.
    const stored = this.#stored.find(environment, [...new Set(customers.map(({ cuid }) => cuid))]);
    return customers.map((stated) => {
      const found = stored.find(stated.cuid);
      return effectOf({
        customer: found?.customer,
        change: changeCustomer(found, stated, now, calendar, mode, normaliseMobile),
      });
    });
  }

  #write(
    environment: Environment,
    stored: StoredCustomers,
    changes: readonly CustomerChange[],
    provider: ProviderSettings,
  ): void {
    const [customers, connections, codes]: [Row[], Row[], Row[]] = [[], [], []];
    const [grants, subscriptions]: [Row[], Row[]] = [[], []];
    for (const change of changes) {
      const { cuid, firstName, lastName, mobile, status } = change.profile;
      if (change.changesProfile)
        customers.push([cuid, firstName, lastName, mobile ?? null, status, e164Of(mobile, provider)]);
      for (const { service, reqId } of change.removedConnections)
        this.#deleteConnection.run(environment, cuid, service, reqId);
      if (change.changesConnections) connections.push(...connectionRows(change));
      for (const code of change.removedCodes) this.#deleteCode.run(environment, code, cuid);
      for (const code of change.addedCodes) codes.push([code, cuid]);
      for (const [index, { service, reqId, plan, grant, subscription }] of change.entries.entries()) {
        const key = [cuid, service, reqId, plan];
        const { before, isLast } = placeAmong(change.entries, index);
        grants.push([...key, stored.lastSeq(cuid, service, reqId, plan) + before + 1, ...grantColumns(grant)]);
        if (!isLast) continue;
        if (subscription === undefined) this.#deleteSubscription.run(environment, ...key);
        else subscriptions.push([...key, ...subscriptionColumns(subscription)]);
      }
    }
    this.#putCustomers.run(environment, customers);
    this.#putConnections.run(environment, connections);
    this.#putCodes.run(environment, codes);
    this.#appendGrants.run(environment, grants);
    this.#putSubscriptions.run(environment, subscriptions);
  }
}

function connectionRows({ profile: { cuid }, connections }: CustomerChange): Row[] {
  return connections.map(({ service, reqId, status, toppedUp, segment, blocked }, position) => [
    ...[cuid, service, reqId],
    ...[position, status, toppedUp ? 1 : 0, segment ?? null, blocked ? 1 : 0],
  ]);
}

/** How many entries of its plan stand before an entry, and whether none stands after it. */
function placeAmong(entries: CustomerChange["entries"], index: number) {
  const { service, reqId, plan } = entries[index] as CustomerChange["entries"][number];
  const isOfPlan = (entry: CustomerChange["entries"][number]) =>
    entry.plan === plan && entry.reqId === reqId && entry.service === service;
  return {
    before: entries.slice(0, index).filter(isOfPlan).length,
    isLast: entries.findLastIndex(isOfPlan) === index,
  };
}
