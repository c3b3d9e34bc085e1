import type { Service } from "./bouquet.ts";
import { type Calendar, type Instant, isSameSecond } from "./calendar.ts";
import type { Connection, Customer, CustomerProfile } from "./customer.ts";
import type { StatedConnection, StatedCustomer, StatedSubscription } from "./customer-row.ts";
import { applyGrant, type Grant, isToppedUp, type Subscription } from "./subscription.ts";

/** A customer as stored, with the ledger from which each subscription is folded. */
export interface CustomerWithLedgers {
  readonly customer: Customer;
  /** All grants of one plan of one connection, oldest first; empty where there is none. */
  readonly ledger: (service: Service, reqId: string, plan: string) => readonly Grant[];
}

/** A grant to append, and the subscription that the plan amounts to after it. */
interface LedgerEntry {
  readonly service: Service;
  readonly reqId: string;
  readonly plan: string;
  readonly grant: Grant;
  readonly subscription: Subscription | undefined;
}

/** What an import writes for one customer. */
export interface CustomerChange {
  readonly profile: CustomerProfile;
  /** The connections as they are from now on, in the file's order, without subscriptions. */
  readonly connections: readonly Omit<Connection, "subscriptions">[];
  readonly removedConnections: readonly { readonly service: Service; readonly reqId: string }[];
  /** The texts by which the customer can be looked up. */
  readonly addedCodes: readonly string[];
  readonly removedCodes: readonly string[];
  readonly entries: readonly LedgerEntry[];
}

/**
 * Lays what the provider states over what is stored. Nothing that a top-up granted is lost, and a
 * file that is imported twice says nothing new the second time.
 * @param mode `restate` for a provider's file; `reset` puts the customer back to what is stated,
 *   as only the trial environment does.
 */
export function changeCustomer(
  stored: CustomerWithLedgers | undefined,
  stated: StatedCustomer,
  now: Instant,
  calendar: Calendar,
  mode: "restate" | "reset",
): CustomerChange {
  const { connections: _, ...profile } = stated;
  const before = stored?.customer.connections ?? [];
  const entries = mode === "reset" ? before.flatMap((connection) => resetConnection(connection, now)) : [];
  const base = mode === "reset" ? undefined : stored;

  const isStated = (connection: Connection) => findConnection(stated.connections, connection) !== undefined;
  const unstated = before.filter((connection) => !isStated(connection));
  const kept = mode === "reset" ? [] : unstated.filter((connection) => connection.subscriptions.some(isToppedUp));
  const removedConnections = unstated.filter((connection) => !kept.includes(connection));
  if (mode === "restate") entries.push(...removedConnections.flatMap((connection) => withdrawAll(connection, now)));
  for (const connection of stated.connections) entries.push(...restateConnection(base, connection, now, calendar));

  const connections = [...stated.connections.map((connection) => restateStatus(base, connection)), ...kept];
  const codesBefore = stored === undefined ? [] : codesOf(stored.customer, before);
  const codesAfter = codesOf(profile, connections);
  return {
    profile,
    connections,
    removedConnections,
    addedCodes: codesAfter.filter((code) => !codesBefore.includes(code)),
    removedCodes: codesBefore.filter((code) => !codesAfter.includes(code)),
    entries,
  };
}

/** A status that is stated again unchanged does not undo that a top-up made the connection active. */
function restateStatus(
  stored: CustomerWithLedgers | undefined,
  stated: StatedConnection,
): Omit<Connection, "subscriptions"> {
  const { service, reqId, status, segment } = stated;
  const before = findConnection(stored?.customer.connections ?? [], stated);
  return { service, reqId, status, segment, toppedUp: before?.status === status && before.toppedUp };
}

function restateConnection(
  stored: CustomerWithLedgers | undefined,
  stated: StatedConnection,
  now: Instant,
  calendar: Calendar,
): LedgerEntry[] {
  const { service, reqId } = stated;
  const before = findConnection(stored?.customer.connections ?? [], stated)?.subscriptions ?? [];
  const isStated = ({ plan }: Subscription) => stated.subscriptions.some((subscription) => subscription.plan === plan);
  const withdrawn = before.filter((subscription) => !isStated(subscription) && !isToppedUp(subscription));
  const news = stated.subscriptions.flatMap((subscription) => {
    const { plan, bouquet, start, span } = subscription;
    const ledger = stored?.ledger(service, reqId, plan) ?? [];
    if (isKnown(ledger, subscription, calendar)) return [];
    const grant = { kind: "statement", at: now, bouquet, start, span } as const;
    const current = before.find((candidate) => candidate.plan === plan);
    return [{ service, reqId, plan, grant, subscription: applyGrant(plan, current, grant, calendar) }];
  });
  return [...withdrawn.map(({ plan }) => endEntry(stated, plan, "withdrawal", now)), ...news];
}

/**
 * Whether a stated subscription says nothing that the ledger does not hold: it repeats the provider's
 * own last word, or it ends where the subscription ended after one of the top-ups made since, which
 * shows that the provider's records have taken those top-ups in.
 */
function isKnown(ledger: readonly Grant[], stated: StatedSubscription, calendar: Calendar): boolean {
  let known = false;
  let current: Subscription | undefined;
  for (const grant of ledger) {
    current = applyGrant(stated.plan, current, grant, calendar);
    if (grant.kind === "top_up") known ||= current !== undefined && isSameSecond(current.end, stated.end);
    else known = grant.kind === "statement" && repeats(grant, stated, calendar);
  }
  return known;
}

function repeats(
  grant: Extract<Grant, { kind: "statement" }>,
  stated: StatedSubscription,
  calendar: Calendar,
): boolean {
  const sameBouquet = grant.bouquet.code === stated.bouquet.code && grant.bouquet.addOn === stated.bouquet.addOn;
  return sameBouquet && grant.start === stated.start && calendar.add(grant.start, grant.span) === stated.end;
}

function withdrawAll(connection: Connection, now: Instant): LedgerEntry[] {
  return connection.subscriptions.map(({ plan }) => endEntry(connection, plan, "withdrawal", now));
}

function resetConnection(connection: Connection, now: Instant): LedgerEntry[] {
  return connection.subscriptions.map(({ plan }) => endEntry(connection, plan, "reset", now));
}

function endEntry(
  { service, reqId }: { readonly service: Service; readonly reqId: string },
  plan: string,
  kind: "withdrawal" | "reset",
  now: Instant,
): LedgerEntry {
  return { service, reqId, plan, grant: { kind, at: now }, subscription: undefined };
}

/** Source: interface, section 4.1, and decisions, "Customers and connections". */
function codesOf({ cuid, mobile }: CustomerProfile, connections: readonly { readonly reqId: string }[]): string[] {
  return [...new Set([cuid, ...(mobile === undefined ? [] : [mobile]), ...connections.map(({ reqId }) => reqId)])];
}

function findConnection<Candidate extends { readonly service: Service; readonly reqId: string }>(
  connections: readonly Candidate[],
  { service, reqId }: { readonly service: Service; readonly reqId: string },
): Candidate | undefined {
  return connections.find((connection) => connection.service === service && connection.reqId === reqId);
}
