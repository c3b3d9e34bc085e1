import type { AuditedChange } from "./audit.ts";
import type { Connection, Customer, Environment } from "./customer.ts";
import type { CustomerChange, ImportMode } from "./customer-import.ts";
import type { Subscription } from "./subscription.ts";

/** Many in one entry, since a night's import changes many; few enough that an entry can be read. */
const CUSTOMERS_IN_AN_ENTRY = 50;

/** What an import has made of one customer. */
export interface ImportedChange {
  /** As stored before; undefined where the customer is new. */
  readonly customer: Customer | undefined;
  readonly change: CustomerChange;
}

/** What the audit trail keeps of an import, or of a part of it: of each customer what has changed, by cuid. */
export function customersImported(
  environment: Environment,
  mode: ImportMode,
  imported: readonly ImportedChange[],
): AuditedChange[] {
  const action = mode === "reset" ? "trial.reset" : "customers.import";
  const changed = imported.map(describe).filter((each) => each !== undefined);
  const entries: AuditedChange[] = [];
  for (let from = 0; from < changed.length; from += CUSTOMERS_IN_AN_ENTRY) {
    const some = changed.slice(from, from + CUSTOMERS_IN_AN_ENTRY);
    const before = Object.fromEntries(some.map(({ cuid, before: was }) => [cuid, was]));
    const after = Object.fromEntries(some.map(({ cuid, after: is }) => [cuid, is]));
    entries.push({ action, subject: environment, before, after });
  }
  return entries;
}

function describe({ customer, change }: ImportedChange) {
  const { profile, changesProfile, connections, changesConnections, entries } = change;
  if (!changesProfile && !changesConnections && entries.length === 0) return undefined;
  const [before, after]: [Record<string, unknown>, Record<string, unknown>] = [{}, {}];
  if (changesProfile) {
    if (customer !== undefined) before["profile"] = profileOf(customer);
    after["profile"] = profileOf(profile);
  }
  if (changesConnections) {
    before["connections"] = (customer?.connections ?? []).map(connectionOf);
    after["connections"] = connections.map(connectionOf);
  }
  if (entries.length > 0) {
    const former = new Map(
      customer?.connections.flatMap((connection) =>
        connection.subscriptions.map((each) => [planOf(connection, each.plan), each] as const),
      ),
    );
    const plans = entries.map((entry) => [planOf(entry, entry.plan), entry.subscription] as const);
    before["subscriptions"] = Object.fromEntries(plans.map(([plan]) => [plan, runOf(former.get(plan))]));
    after["subscriptions"] = Object.fromEntries(plans.map(([plan, subscription]) => [plan, runOf(subscription)]));
  }
  return { cuid: profile.cuid, before: customer === undefined ? null : before, after };
}

function profileOf({ firstName, lastName, mobile, status }: CustomerChange["profile"]) {
  return { first_name: firstName, last_name: lastName, mobile, status };
}

function connectionOf({ service, reqId, status, segment, blocked }: Omit<Connection, "subscriptions">) {
  return { service, reqId, status, segment, ...(blocked ? { blocked } : {}) };
}

function planOf({ service, reqId }: Pick<Connection, "service" | "reqId">, plan: string): string {
  return `${service} ${reqId}: ${plan}`;
}

/** A subscription as the audit trail shows it; null where there is none. */
export function runOf(subscription: Subscription | undefined) {
  if (subscription === undefined) return null;
  const { bouquet, start, end } = subscription;
  return { code: bouquet.code, startdate: new Date(start).toISOString(), enddate: new Date(end).toISOString() };
}
