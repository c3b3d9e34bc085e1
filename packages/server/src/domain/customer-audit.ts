import { type AuditAction, type AuditEntry, type AuditedChange, JsonText } from "./audit.ts";
import type { Connection, Customer, Environment } from "./customer.ts";
import type { CustomerChange, ImportMode } from "./customer-import.ts";
import type { Subscription } from "./subscription.ts";

/** Many in one entry, since a night's import changes many; few enough that an entry can be read. */
const CUSTOMERS_IN_AN_ENTRY = 50;
/** Beyond that, the next customer begins another entry: whoever reads entries reads some hundreds at a time. */
const ENTRY_CHARACTERS = 16_384;

/** Of many customers in one entry. */
const OF_MANY: readonly string[] = ["customers.import", "trial.reset"] satisfies AuditAction[];

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
  const subject = mode === "included" || mode === "apart" ? `${environment} --top-ups ${mode}` : environment;
  return inEntries(imported.map(describe).filter((each) => each !== undefined)).map((some) => ({
    action,
    subject,
    before: byCuid(some, ({ before }) => before),
    after: byCuid(some, ({ after }) => after),
  }));
}

/** What one customer was and is, as JSON texts: an import makes many, and each is wanted as text alone. */
interface Described {
  readonly cuid: string;
  readonly before: string;
  readonly after: string;
}

function byCuid(some: readonly Described[], textOf: (each: Described) => string): JsonText {
  return new JsonText(`{${some.map((each) => `${JSON.stringify(each.cuid)}:${textOf(each)}`).join(",")}}`);
}

/** An entry as it tells of one customer: what is in it of others is nobody's business who asks for this one. */
export function entryOfCustomer<Entry extends Pick<AuditEntry, "action" | "before" | "after">>(
  entry: Entry,
  cuid: string,
): Entry {
  if (!OF_MANY.includes(entry.action)) return entry;
  return { ...entry, before: partOf(entry.before, cuid), after: partOf(entry.after, cuid) };
}

function partOf(text: string | undefined, cuid: string): string | undefined {
  const customers = JSON.parse(text ?? "{}") as Record<string, unknown>;
  const part = Object.hasOwn(customers, cuid) ? customers[cuid] : null;
  return part === null ? undefined : JSON.stringify(part);
}

function inEntries(changes: readonly Described[]): Described[][] {
  const entries: Described[][] = [];
  let characters = 0;
  for (const change of changes) {
    const length = change.cuid.length + change.before.length + change.after.length;
    const last = entries.at(-1);
    const isFull = last?.length === CUSTOMERS_IN_AN_ENTRY || characters + length > ENTRY_CHARACTERS;
    // An entry tells of a customer once: of what a file has twice, the first change would be lost.
    if (last === undefined || isFull || last.some(({ cuid }) => cuid === change.cuid)) {
      entries.push([change]);
      characters = length;
    } else {
      last.push(change);
      characters += length;
    }
  }
  return entries;
}

function describe({ customer, change }: ImportedChange): Described | undefined {
  const { profile, changesProfile, connections, changesConnections, entries } = change;
  if (!changesProfile && !changesConnections && entries.length === 0) return undefined;
  const after: Record<string, unknown> = {};
  if (changesProfile) after["profile"] = profileOf(profile);
  if (changesConnections) after["connections"] = connections.map(connectionOf);
  if (entries.length > 0) {
    const plans: Record<string, unknown> = {};
    for (const entry of entries) plans[planOf(entry, entry.plan)] = runOf(entry.subscription);
    after["subscriptions"] = plans;
  }
  const before = customer === undefined ? null : describeFormer(customer, change);
  return { cuid: profile.cuid, before: JSON.stringify(before), after: JSON.stringify(after) };
}

/** What a customer had, as far as it changes. */
function describeFormer(customer: Customer, { changesProfile, changesConnections, entries }: CustomerChange) {
  const before: Record<string, unknown> = {};
  if (changesProfile) before["profile"] = profileOf(customer);
  if (changesConnections) before["connections"] = customer.connections.map(connectionOf);
  if (entries.length > 0) {
    const former = new Map(
      customer.connections.flatMap((connection) =>
        connection.subscriptions.map((each) => [planOf(connection, each.plan), each] as const),
      ),
    );
    const plans = entries.map((entry) => planOf(entry, entry.plan));
    before["subscriptions"] = Object.fromEntries(plans.map((plan) => [plan, runOf(former.get(plan))]));
  }
  return before;
}

function profileOf({ firstName, lastName, mobile, status }: CustomerChange["profile"]) {
  return { first_name: firstName, last_name: lastName, mobile, status };
}

function connectionOf({ service, reqId, status, segment, blocked, toppedUp }: Omit<Connection, "subscriptions">) {
  return { service, reqId, status, segment, ...(blocked && { blocked }), ...(toppedUp && { toppedUp }) };
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
