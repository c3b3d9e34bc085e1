import { SERVICES } from "./bouquet.ts";
import {
  type BareConnection,
  CONNECTION_TEXTS,
  type Connection,
  type ConnectionName,
  type Customer,
  type CustomerProfile,
  findConnection,
  isSameConnection,
} from "./customer.ts";
import type { StatedConnection, StatedCustomer } from "./customer-row.ts";
import { type Entry, headOf, type Ledger } from "./ledger.ts";
import { decideImport, type ImportDecision, type ImportRules, resetLedger } from "./ledger-import.ts";
import type { NormaliseMobile } from "./names.ts";
import { endsRunning, isRunning, type StatedSubscription, type Subscription } from "./subscription.ts";
import type { Instant, WallTime } from "./wall-time.ts";

/** A ledger and its connection. */
export interface ConnectionLedger extends Ledger, ConnectionName {}

/** Stored data of a customer; undefined or empty if the customer is new. */
export interface StoredCustomer {
  readonly customer: Customer | undefined;
  /** The mobile number in normalised form, which finds the customer. */
  readonly mobileForm: string | undefined;
  /** Time of the last imported row. */
  readonly asOf: Instant | undefined;
  /** All ledgers, including those of removed connections. */
  readonly ledgers: readonly ConnectionLedger[];
}

/** An entry to append. */
export interface PlanEntry extends ConnectionName {
  readonly plan: string;
  readonly before: Subscription | undefined;
  readonly entry: Entry;
}

export interface HeldBack extends ConnectionName, Omit<Extract<ImportDecision, { kind: "held_back" }>, "kind"> {
  readonly plan: string;
}

/** All changes that an import writes for one customer. */
export interface CustomerChange {
  /** Whether the row is older than one imported before: then nothing changes. */
  readonly isStale: boolean;
  readonly profile: CustomerProfile;
  /** Whether the profile, or the normalised mobile number, changes. */
  readonly changesProfile: boolean;
  /** The connections from now on, in the order of the file. */
  readonly connections: readonly BareConnection[];
  /** Whether the connections or their order change. */
  readonly changesConnections: boolean;
  readonly removedConnections: readonly ConnectionName[];
  /** Texts that find the customer in a look-up. */
  readonly addedCodes: readonly string[];
  readonly removedCodes: readonly string[];
  readonly entries: readonly PlanEntry[];
  readonly heldBack: readonly HeldBack[];
  /** Number of running subscriptions that end by this change. */
  readonly endsRunning: number;
  readonly deactivates: boolean;
  /** Connections that become inactive in the records while a base subscription runs. */
  readonly runningThoughInactive: readonly ConnectionName[];
}

/** `reset`: ignore top-ups and take the stated data, as the reset of the trial environment does. */
export type CustomerImportRules = ImportRules & {
  readonly mode: "import" | "reset";
  /** Customers whose paid runs the file may shorten. */
  readonly allowShorter: ReadonlySet<string>;
};

/** The rules of the whole file; the row has the others. */
type FileImportRules = Omit<CustomerImportRules, "allowsShorter" | "goodwill">;

/** Computes the change that a row makes to its stored customer (docs/ledger.md#imports). */
export function changeCustomer(
  stored: StoredCustomer,
  stated: StatedCustomer,
  rules: FileImportRules,
  normaliseMobile: NormaliseMobile,
): CustomerChange {
  const { cuid, firstName, lastName, mobile, status } = stated;
  const { customer: former, ledgers } = stored;
  // A row without an area keeps the area; an empty text removes it.
  const area = (stated.area ?? former?.area) || undefined;
  const profile = { cuid, firstName, lastName, mobile, status, area };
  const before = former?.connections ?? [];
  const isStale = stored.asOf !== undefined && rules.asOf.instant < stored.asOf;
  if (isStale && rules.mode !== "reset") return staleChange(former, profile);

  const { entries, heldBack } = decideLedgers(stored, stated, rules);
  const running = runningAfter(ledgers, entries, rules.now.wall);
  const connections = connectionsAfter(before, stated.connections, running, rules.mode);
  const codesAfter = codesOf(profile, connections, normaliseMobile);
  const codesBefore = former === undefined ? [] : codesOf(former, before, () => stored.mobileForm);
  const mobileForm = mobile === undefined ? undefined : normaliseMobile(mobile);
  return {
    isStale: false,
    profile,
    changesProfile: former === undefined || !isSameProfile(former, profile) || stored.mobileForm !== mobileForm,
    connections,
    changesConnections:
      before.length !== connections.length || connections.some((each, index) => !isSameBare(before[index], each)),
    removedConnections: before.filter((each) => findConnection(connections, each) === undefined),
    addedCodes: codesAfter.filter((code) => !codesBefore.includes(code)),
    removedCodes: codesBefore.filter((code) => !codesAfter.includes(code)),
    entries,
    heldBack,
    endsRunning: entries.filter((each) => endsRunning(each.before, each.entry.after, rules.now.wall)).length,
    deactivates: former?.status === "active" && status === "inactive",
    runningThoughInactive: stated.connections.filter((each) => {
      const becomesInactive = each.status === "inactive" && findConnection(before, each)?.status !== "inactive";
      return becomesInactive && running.some((run) => isSameConnection(run, each) && !run.subscription.bouquet.addOn);
    }),
  };
}

/** The decision about each ledger that the row states or leaves out. */
function decideLedgers(
  stored: StoredCustomer,
  stated: StatedCustomer,
  rules: FileImportRules,
): Pick<CustomerChange, "entries" | "heldBack"> {
  const entries: PlanEntry[] = [];
  const heldBack: HeldBack[] = [];
  for (const { connection, ledger, subscription } of ledgersOf(stored, stated, rules)) {
    const { service, reqId } = connection;
    const of = { service, reqId, plan: ledger.plan };
    const decision = decideLedger(ledger, subscription, stated, rules);
    if (decision.kind === "changed")
      entries.push({ ...of, before: headOf(ledger).subscription, entry: decision.entry });
    if (decision.kind === "held_back") {
      const { kind: _, ...held } = decision;
      heldBack.push({ ...of, ...held });
    }
  }
  return { entries, heldBack };
}

/** A ledger, and the subscription that the row states for it. */
interface LedgerOfRow {
  readonly connection: ConnectionName;
  readonly ledger: Ledger;
  readonly subscription: StatedSubscription | undefined;
}

/** The ledgers that a row decides about: the stored ones, then the new ones. */
function ledgersOf(stored: StoredCustomer, stated: StatedCustomer, rules: FileImportRules): LedgerOfRow[] {
  const { ledgers } = stored;
  const known = ledgers
    .filter((ledger) => isDecided(ledger, stored, stated, rules))
    .map((ledger) => {
      const subscriptions = findConnection(stated.connections, ledger)?.subscriptions;
      return { connection: ledger, ledger, subscription: subscriptions?.find(({ plan }) => plan === ledger.plan) };
    });
  const isKnown = (connection: ConnectionName, plan: string) =>
    ledgers.some((ledger) => ledger.plan === plan && isSameConnection(ledger, connection));
  const added = stated.connections.flatMap((connection) =>
    (connection.subscriptions ?? [])
      .filter(({ plan }) => !isKnown(connection, plan))
      .map((subscription) => ({ connection, ledger: { plan: subscription.plan, entries: [] }, subscription })),
  );
  return [...known, ...added];
}

/** Whether the row decides about a stored ledger. */
function isDecided(
  ledger: ConnectionLedger,
  { customer }: StoredCustomer,
  { connections }: StatedCustomer,
  { mode, now }: FileImportRules,
): boolean {
  if (mode === "reset") return true;
  const connection = findConnection(connections, ledger);
  if (connection !== undefined) return connection.subscriptions !== undefined;
  // A connection that was removed before and has no running subscription is not recorded again.
  const isStored = findConnection(customer?.connections ?? [], ledger) !== undefined;
  return isStored || isRunning(headOf(ledger).subscription, now.wall);
}

function decideLedger(
  ledger: Ledger,
  subscription: StatedSubscription | undefined,
  { cuid, goodwill }: StatedCustomer,
  { mode, asOf, now, toleranceDays, allowShorter }: FileImportRules,
): ImportDecision {
  if (mode === "reset") return resetLedger(ledger, subscription, now);
  const allowsShorter = allowShorter.has(cuid);
  return decideImport(ledger, subscription, { asOf, now, toleranceDays, goodwill, allowsShorter });
}

/** The stated connections, and those that the file must not remove. @param running subscriptions after the import. */
function connectionsAfter(
  before: readonly Connection[],
  stated: readonly StatedConnection[],
  running: readonly ConnectionName[],
  mode: FileImportRules["mode"],
): BareConnection[] {
  const isReset = mode === "reset";
  // Keep paid runs and staff blocks even if the file omits the connection.
  const mustStay = (each: Connection) => each.blocked || running.some((run) => isSameConnection(run, each));
  const omitted = before.filter((each) => findConnection(stated, each) === undefined);
  const kept = isReset ? [] : omitted.filter(mustStay).map(bare);
  const unsorted = [...stated.map((each) => bareConnection(each, before, isReset)), ...kept];
  // Connections are sorted by service as in rows, so that importing an export does not change their order.
  return SERVICES.flatMap((service) => unsorted.filter((each) => each.service === service));
}

/** Whether anything of the customer must be written. */
export function changesAnything(change: CustomerChange): boolean {
  const { changesProfile, changesConnections, entries, addedCodes, removedCodes } = change;
  return changesProfile || changesConnections || entries.length + addedCodes.length + removedCodes.length > 0;
}

function staleChange(former: Customer | undefined, profile: CustomerProfile): CustomerChange {
  return {
    isStale: true,
    profile: former ?? profile,
    changesProfile: false,
    connections: former?.connections ?? [],
    changesConnections: false,
    removedConnections: [],
    addedCodes: [],
    removedCodes: [],
    entries: [],
    heldBack: [],
    endsRunning: 0,
    deactivates: false,
    runningThoughInactive: [],
  };
}

/** The running subscriptions once the entries are appended. */
function runningAfter(ledgers: readonly ConnectionLedger[], entries: readonly PlanEntry[], now: WallTime) {
  const unchanged = ledgers.filter(
    (ledger) => !entries.some((entry) => isSameConnection(entry, ledger) && entry.plan === ledger.plan),
  );
  return [
    ...unchanged.flatMap((ledger) => runOf(ledger, headOf(ledger).subscription, now)),
    ...entries.flatMap((each) => runOf(each, each.entry.after, now)),
  ];
}

function runOf({ service, reqId }: ConnectionName, subscription: Subscription | undefined, now: WallTime) {
  return isRunning(subscription, now) ? [{ service, reqId, subscription }] : [];
}

/** A block by staff stays: only staff can remove it. */
function bareConnection(stated: StatedConnection, before: readonly BareConnection[], isReset: boolean): BareConnection {
  const { subscriptions: _, ...connection } = stated;
  return { ...connection, blocked: !isReset && findConnection(before, stated)?.blocked === true };
}

function bare({ ledgers: _, ...connection }: Connection): BareConnection {
  return connection;
}

function isSameBare(a: BareConnection | undefined, b: BareConnection): boolean {
  return (
    a?.service === b.service &&
    a.reqId === b.reqId &&
    a.status === b.status &&
    a.blocked === b.blocked &&
    CONNECTION_TEXTS.every((name) => a[name] === b[name])
  );
}

function isSameProfile(a: CustomerProfile, b: CustomerProfile): boolean {
  return (["firstName", "lastName", "mobile", "status", "area"] as const).every((name) => a[name] === b[name]);
}

/**
 * The texts that find a customer in a look-up (docs/interface.md, "get-customer-information"; docs/decisions.md, "Customers and
 * connections").
 */
export function codesOf(
  { cuid, mobile }: CustomerProfile,
  connections: readonly ConnectionName[],
  normaliseMobile: NormaliseMobile,
): string[] {
  const numbers = mobile === undefined ? [] : [mobile, normaliseMobile(mobile) ?? mobile];
  return [...new Set([cuid, ...numbers, ...connections.map(({ reqId }) => reqId)])];
}
