import type { Service } from "./bouquet.ts";
import type { Calendar, Instant } from "./calendar.ts";
import type { Connection, CustomerProfile } from "./customer.ts";
import type { StatedConnection, StatedCustomer } from "./customer-row.ts";
import { foldGrants } from "./fold.ts";
import {
  type ConnectionName,
  type CustomerWithLedgers,
  findConnection,
  isLedgerOf,
  type KnownConnection,
  knownConnections,
} from "./known-connections.ts";
import type { NormaliseMobile } from "./mobile-number.ts";
import { isCountedByOtherRules } from "./other-rules.ts";
import { PASSED_OVER, restate, type TopUpsInFile } from "./restatement.ts";
import { type Grant, isGranted, isSameSubscription, type Subscription } from "./subscription.ts";

type BareConnection = Omit<Connection, "subscriptions">;

/** A grant to append, and the subscription that the plan amounts to after it. */
interface PlanWrite {
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
  readonly removedConnections: readonly ConnectionName[];
  /** The texts by which the customer can be looked up. */
  readonly addedCodes: readonly string[];
  readonly removedCodes: readonly string[];
  readonly entries: readonly PlanWrite[];
  readonly passedOver: readonly PassedOver[];
  /**
   * When the last of the runs ends that something granted here has a part in, and of which this takes time back: only
   * of what is over by the clock can that be more than was left to take. Undefined where it takes none.
   */
  readonly takesUntil: Instant | undefined;
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
  normaliseMobile: NormaliseMobile,
): CustomerChange {
  const { cuid, firstName, lastName, mobile, status } = stated;
  const profile = { cuid, firstName, lastName, mobile, status };
  const { customer: former, connections: before } = stored;
  const base = mode === "reset" ? undefined : stored;
  const isStated = (connection: ConnectionName) => findConnection(stated.connections, connection) !== undefined;
  const mayGo = ({ blocked, subscriptions }: KnownConnection) =>
    mode === "reset" || !(blocked || subscriptions.some((subscription) => isGranted(subscription, now)));
  const known = knownConnections(stored, calendar);
  const gone = known.filter((connection) => !isStated(connection) && mayGo(connection));
  const kept = known.filter((connection) => !isStated(connection) && !mayGo(connection));
  const passedOver: PassedOver[] = [];
  const entries = [
    ...(mode === "reset" ? known : gone).flatMap((connection) => withdrawAll(connection, now)),
    ...kept.flatMap((connection) => withdrawUngranted(connection, connection.subscriptions, now)),
    ...stated.connections.flatMap((connection) =>
      restateConnection(base, known, connection, now, calendar, mode, passedOver),
    ),
  ];
  const isHere = (connection: ConnectionName) =>
    isStated(connection) || findConnection(before, connection) !== undefined;
  const restored = known.filter(isHere).flatMap((connection) => restore(connection, before, entries, calendar));

  const isKept = (connection: ConnectionName) => findConnection(kept, connection) !== undefined;
  const connections = [
    ...stated.connections.map((connection) => restateStatus(base, known, connection, now)),
    ...before.filter(isKept),
  ];
  const codesBefore =
    former === undefined ? before.map(({ reqId }) => reqId) : codesOf(former, before, () => stored.mobileForm);
  const codesAfter = codesOf(profile, connections, normaliseMobile);
  return {
    profile,
    changesProfile:
      former === undefined ||
      !isSameProfile(former, profile) ||
      stored.mobileForm !== (mobile === undefined ? undefined : normaliseMobile(mobile)),
    connections,
    changesConnections: !areSameConnections(before, connections),
    removedConnections: before.filter((connection) => !isStated(connection) && !isKept(connection)),
    addedCodes: codesAfter.filter((code) => former === undefined || !codesBefore.includes(code)),
    removedCodes: codesBefore.filter((code) => !codesAfter.includes(code)),
    entries: [...entries, ...restored],
    passedOver,
    takesUntil: latestTaken(known, entries),
  };
}

function latestTaken(known: readonly KnownConnection[], entries: readonly PlanWrite[]): Instant | undefined {
  const ends = entries.flatMap(({ plan, subscription, ...name }) => {
    const was = findConnection(known, name)?.subscriptions.find((each) => each.plan === plan);
    const isTaken = was?.grantedEnd !== undefined && (subscription === undefined || subscription.end < was.end);
    return isTaken ? [was.end] : [];
  });
  return ends.length === 0 ? undefined : Math.max(...ends);
}

/** What is stored otherwise than the ledgers have it, and is not written anyway. */
function restore(
  connection: KnownConnection,
  before: readonly Connection[],
  entries: readonly PlanWrite[],
  calendar: Calendar,
): PlanWrite[] {
  const { service, reqId, subscriptions } = connection;
  const shown = findConnection(before, connection)?.subscriptions ?? [];
  const isWritten = (plan: string) =>
    entries.some((entry) => entry.plan === plan && entry.service === service && entry.reqId === reqId);
  const plans = new Set([...subscriptions, ...shown].map(({ plan }) => plan));
  return [...plans].flatMap((plan) => {
    const [is, was] = [subscriptions, shown].map((list) => list.find((each) => each.plan === plan));
    if (isWritten(plan) || isSameSubscription(is, was) || isCountedByOtherRules(was, is, calendar)) return [];
    return [{ service, reqId, plan, grant: undefined, subscription: is }];
  });
}

/** A status that is stated again unchanged does not undo that a top-up made the connection active. */
function restateStatus(
  stored: CustomerWithLedgers | undefined,
  known: readonly KnownConnection[],
  stated: StatedConnection,
  now: Instant,
): BareConnection {
  const { service, reqId, status, segment } = stated;
  const before = findConnection(stored?.connections ?? [], stated);
  if (before !== undefined) {
    const toppedUp = before.status === status && before.toppedUp;
    return { service, reqId, status, segment, toppedUp, blocked: before.blocked };
  }
  // What an export says of it holds where nothing is known here; and where only ledgers are left, what they hold.
  const left = stored && findConnection(known, stated)?.subscriptions.some((each) => isGranted(each, now));
  const toppedUp = stated.toppedUp === true || (status === "inactive" && left === true);
  return { service, reqId, status, segment, toppedUp, blocked: stated.blocked === true };
}

/**
 * @param stored undefined where nothing that there was is to count.
 * @param passedOver gets what is not taken.
 */
function restateConnection(
  stored: CustomerWithLedgers | undefined,
  known: readonly KnownConnection[],
  stated: StatedConnection,
  now: Instant,
  calendar: Calendar,
  mode: ImportMode,
  passedOver: PassedOver[],
): PlanWrite[] {
  const { service, reqId } = stated;
  const before = stored === undefined ? [] : (findConnection(known, stated)?.subscriptions ?? []);
  const isStated = ({ plan }: Subscription) => stated.subscriptions.some((subscription) => subscription.plan === plan);
  const unstated = before.filter((subscription) => !isStated(subscription));
  const news = stated.subscriptions.flatMap((subscription) => {
    const { plan } = subscription;
    const ledger = stored?.ledgers.find((each) => isLedgerOf(each, stated, plan))?.grants ?? [];
    const grant = restate(ledger, subscription, now, calendar, mode === "reset" ? "unsaid" : mode);
    if (grant === PASSED_OVER) passedOver.push({ service, code: subscription.bouquet.code });
    if (grant === undefined || grant === PASSED_OVER) return [];
    return [{ service, reqId, plan, grant, subscription: foldGrants(plan, [...ledger, grant], calendar) }];
  });
  return [...withdrawUngranted(stated, unstated, now), ...news];
}

/** What a top-up granted stays, even lapsed: it tells that the connection has ended. */
function withdrawUngranted(
  connection: ConnectionName,
  subscriptions: readonly Subscription[],
  now: Instant,
): PlanWrite[] {
  const ungranted = subscriptions.filter(({ grantedEnd }) => grantedEnd === undefined);
  return ungranted.map(({ plan }) => withdraw(connection, plan, now));
}

function withdrawAll(connection: KnownConnection, now: Instant): PlanWrite[] {
  return connection.subscriptions.map(({ plan }) => withdraw(connection, plan, now));
}

function withdraw({ service, reqId }: ConnectionName, plan: string, now: Instant): PlanWrite {
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
