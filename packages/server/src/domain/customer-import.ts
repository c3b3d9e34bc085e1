import type { Service } from "./bouquet.ts";
import type { Calendar, Instant } from "./calendar.ts";
import type { Connection, Customer, CustomerProfile } from "./customer.ts";
import type { StatedConnection, StatedCustomer } from "./customer-row.ts";
import { foldGrants } from "./fold.ts";
import type { NormaliseMobile } from "./mobile-number.ts";
import { PASSED_OVER, restate, type TopUpsInFile } from "./restatement.ts";
import { applyGrant, type Grant, isGranted, type Subscription } from "./subscription.ts";

/** What is stored of a customer, with the ledger from which each subscription is folded. */
export interface CustomerWithLedgers {
  /** Undefined where there is none. Ledgers are for ever: they outlast a customer who was removed from the database by hand. */
  readonly customer: Customer | undefined;
  /** The one form of the mobile number by which it is found; another version of topupd may have known another. */
  readonly mobileForm: string | undefined;
  /** All grants of one plan of one connection, oldest first; empty where there is none. */
  readonly ledger: (service: Service, reqId: string, plan: string) => readonly Grant[];
}

type BareConnection = Omit<Connection, "subscriptions">;

/** A grant to append, and the subscription that the plan amounts to after it. */
interface LedgerEntry {
  readonly service: Service;
  readonly reqId: string;
  readonly plan: string;
  /** Undefined where the subscription alone was lost, and is put as its ledger has it. */
  readonly grant: Grant | undefined;
  readonly subscription: Subscription | undefined;
}

/** A subscription of the file that is not taken: what was granted here is not taken back by a file. */
export interface PassedOver {
  readonly service: Service;
  /** Of the bouquet. */
  readonly code: string;
}

/** What an import writes for one customer. */
export interface CustomerChange {
  readonly profile: CustomerProfile;
  /** Whether the profile, or the form of its mobile number, is another than is stored: most of what a file says every night is stored already. */
  readonly changesProfile: boolean;
  /** The connections as they are from now on, in the file's order, without subscriptions. */
  readonly connections: readonly BareConnection[];
  /** Whether these or their order are others than are stored. */
  readonly changesConnections: boolean;
  readonly removedConnections: readonly { readonly service: Service; readonly reqId: string }[];
  /** The texts by which the customer can be looked up. */
  readonly addedCodes: readonly string[];
  readonly removedCodes: readonly string[];
  readonly entries: readonly LedgerEntry[];
  readonly passedOver: readonly PassedOver[];
}

/** How a file is taken: as a provider's records, or `reset`: back to what is stated, top-ups or not. */
export type ImportMode = TopUpsInFile | "reset";

/**
 * Lays what is stated over what is stored. But for a reset, which only the trial environment knows,
 * nothing that a top-up granted is lost, and a file that is imported twice says nothing new the second time.
 */
export function changeCustomer(
  stored: CustomerWithLedgers,
  stated: StatedCustomer,
  now: Instant,
  calendar: Calendar,
  mode: ImportMode,
  normaliseMobile: NormaliseMobile = () => undefined,
): CustomerChange {
  const { cuid, firstName, lastName, mobile, status } = stated;
  const profile = { cuid, firstName, lastName, mobile, status };
  const { customer: former } = stored;
  const before = former?.connections ?? [];
  const base = mode === "reset" ? undefined : stored;
  const isStated = (connection: Connection) => findConnection(stated.connections, connection) !== undefined;
  const mayGo = (connection: Connection) =>
    mode === "reset" ||
    !(connection.blocked || connection.subscriptions.some((subscription) => isGranted(subscription, now)));
  const removedConnections = before.filter((connection) => !isStated(connection) && mayGo(connection));
  const kept = before.filter((connection) => !isStated(connection) && !mayGo(connection));
  const passedOver: PassedOver[] = [];
  const entries = [
    ...(mode === "reset" ? before : removedConnections).flatMap((connection) => withdrawAll(connection, now)),
    ...kept.flatMap((connection) => withdrawUngranted(connection, connection.subscriptions, now)),
    ...stated.connections.flatMap((connection) => restateConnection(base, connection, now, calendar, mode, passedOver)),
  ];

  const connections = [...stated.connections.map((connection) => restateStatus(base, connection)), ...kept];
  const codesBefore = former === undefined ? [] : codesOf(former, before, () => stored.mobileForm);
  const codesAfter = codesOf(profile, connections, normaliseMobile);
  return {
    profile,
    changesProfile:
      former === undefined ||
      !isSameProfile(former, profile) ||
      stored.mobileForm !== (mobile === undefined ? undefined : normaliseMobile(mobile)),
    connections,
    changesConnections: !areSameConnections(before, connections),
    removedConnections,
    addedCodes: codesAfter.filter((code) => !codesBefore.includes(code)),
    removedCodes: codesBefore.filter((code) => !codesAfter.includes(code)),
    entries,
    passedOver,
  };
}

/** A status that is stated again unchanged does not undo that a top-up made the connection active. */
function restateStatus(stored: CustomerWithLedgers | undefined, stated: StatedConnection): BareConnection {
  const { service, reqId, status, segment } = stated;
  const before = findConnection(stored?.customer?.connections ?? [], stated);
  // What an export says of it holds where nothing is known here.
  if (before === undefined) {
    return { service, reqId, status, segment, toppedUp: stated.toppedUp === true, blocked: stated.blocked === true };
  }
  const toppedUp = before.status === status && before.toppedUp;
  return { service, reqId, status, segment, toppedUp, blocked: before.blocked };
}

/** @param passedOver gets what is not taken. */
function restateConnection(
  stored: CustomerWithLedgers | undefined,
  stated: StatedConnection,
  now: Instant,
  calendar: Calendar,
  mode: ImportMode,
  passedOver: PassedOver[],
): LedgerEntry[] {
  const { service, reqId } = stated;
  const before = findConnection(stored?.customer?.connections ?? [], stated)?.subscriptions ?? [];
  const isStated = ({ plan }: Subscription) => stated.subscriptions.some((subscription) => subscription.plan === plan);
  const unstated = before.filter((subscription) => !isStated(subscription));
  const news = stated.subscriptions.flatMap((subscription): LedgerEntry[] => {
    const { plan } = subscription;
    const ledger = stored?.ledger(service, reqId, plan) ?? [];
    const grant = restate(ledger, subscription, now, calendar, mode === "reset" ? "unsaid" : mode);
    if (grant === PASSED_OVER) passedOver.push({ service, code: subscription.bouquet.code });
    const shown = before.find((candidate) => candidate.plan === plan);
    const current = shown ?? foldGrants(plan, ledger, calendar);
    if (grant !== undefined && grant !== PASSED_OVER)
      return [{ service, reqId, plan, grant, subscription: applyGrant(plan, current, grant, calendar) }];
    return current === shown ? [] : [{ service, reqId, plan, grant: undefined, subscription: current }];
  });
  return [...withdrawUngranted(stated, unstated, now), ...news];
}

/** What a top-up granted stays, even lapsed: it tells that the connection has ended. */
function withdrawUngranted(
  connection: { readonly service: Service; readonly reqId: string },
  subscriptions: readonly Subscription[],
  now: Instant,
): LedgerEntry[] {
  const ungranted = subscriptions.filter(({ grantedEnd }) => grantedEnd === undefined);
  return ungranted.map(({ plan }) => withdraw(connection, plan, now));
}

function withdrawAll(connection: Connection, now: Instant): LedgerEntry[] {
  return connection.subscriptions.map(({ plan }) => withdraw(connection, plan, now));
}

function withdraw(
  { service, reqId }: { readonly service: Service; readonly reqId: string },
  plan: string,
  now: Instant,
): LedgerEntry {
  return { service, reqId, plan, grant: { kind: "withdrawal", at: now }, subscription: undefined };
}

function isSameProfile(a: CustomerProfile, b: CustomerProfile): boolean {
  return a.firstName === b.firstName && a.lastName === b.lastName && a.mobile === b.mobile && a.status === b.status;
}

function areSameConnections(before: readonly BareConnection[], after: readonly BareConnection[]): boolean {
  return before.length === after.length && after.every((b, index) => isSameState(before[index] as BareConnection, b));
}

function isSameState(a: BareConnection, b: BareConnection): boolean {
  return (
    a.service === b.service &&
    a.reqId === b.reqId &&
    a.status === b.status &&
    a.blocked === b.blocked &&
    a.toppedUp === b.toppedUp &&
    a.segment === b.segment
  );
}

/** Source: interface, section 4.1, and decisions, "Customers and connections". */
function codesOf(
  { cuid, mobile }: CustomerProfile,
  connections: readonly { readonly reqId: string }[],
  normaliseMobile: NormaliseMobile,
): string[] {
  const numbers = mobile === undefined ? [] : [mobile, normaliseMobile(mobile) ?? mobile];
  return [...new Set([cuid, ...numbers, ...connections.map(({ reqId }) => reqId)])];
}

function findConnection<Candidate extends { readonly service: Service; readonly reqId: string }>(
  connections: readonly Candidate[],
  { service, reqId }: { readonly service: Service; readonly reqId: string },
): Candidate | undefined {
  return connections.find((connection) => connection.service === service && connection.reqId === reqId);
}
