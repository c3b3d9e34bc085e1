import { type AuditAction, type AuditEntry, type AuditedChange, JsonText } from "./audit.ts";
import {
  type BareConnection,
  CONNECTION_TEXTS,
  type Customer,
  type CustomerProfile,
  type Environment,
} from "./customer.ts";
import { type CustomerChange, changesAnything, type HeldBack } from "./customer-import.ts";
import type { Subscription } from "./subscription.ts";

/** Most customers in one audit entry, so that it stays readable. */
const CUSTOMERS_IN_AN_ENTRY = 50;
/** Most characters in one audit entry, unless one customer alone has more. */
const ENTRY_CHARACTERS = 16_384;

/** Actions with several customers in one entry. */
const OF_MANY: readonly string[] = [
  "customers.import",
  "trial.reset",
  "bulk.goodwill",
  "bulk.block",
  "bulk.unblock",
  "bulk.reverse_goodwill",
] satisfies AuditAction[];

/** Effect of an import on one customer. */
export interface CustomerEffect {
  readonly cuid: string;
  /** `refused`: a connection belongs to another customer. */
  readonly kind: "added" | "changed" | "unchanged" | "refused";
  readonly changes: readonly FieldChange[];
  readonly heldBack: readonly HeldBack[];
  readonly runningThoughInactive: CustomerChange["runningThoughInactive"];
  readonly endsRunning: number;
  readonly deactivates: boolean;
  /** Whether the row is older than a row imported before, and so is ignored. */
  readonly isStale: boolean;
  readonly shared?: SharedName;
}

/** A connection of a refused row whose name another customer has, or the same customer in another spelling. */
export interface SharedName {
  readonly reqId: string;
  /** Customer that has the name. */
  readonly cuid: string;
  /** Spelling of the name there. */
  readonly otherReqId: string;
}

/** Why a row is refused, as text after the name that it states. */
export function sharedWords({ reqId, cuid, otherReqId }: SharedName): string {
  if (reqId === otherReqId) return `is customer ${cuid}'s`;
  return `differs only by case or accents from customer ${cuid}'s ${otherReqId}`;
}

/** One value of a customer, before and after; undefined if there was, or is, none. */
export interface FieldChange {
  readonly field: string;
  readonly from: string | undefined;
  readonly to: string | undefined;
}

export function effectOf(stored: Customer | undefined, change: CustomerChange): CustomerEffect {
  const { heldBack, runningThoughInactive, endsRunning, deactivates, isStale, profile } = change;
  const kind = !changesAnything(change) ? "unchanged" : stored === undefined ? "added" : "changed";
  const changes = kind === "unchanged" ? [] : fieldChanges(stored, change);
  return { cuid: profile.cuid, kind, changes, heldBack, runningThoughInactive, endsRunning, deactivates, isStale };
}

/** @param endsRunning running subscriptions that the row would end if it were taken. */
export function refusedEffect(cuid: string, shared: SharedName, endsRunning: number): CustomerEffect {
  const nothing = { changes: [], heldBack: [], runningThoughInactive: [], deactivates: false };
  return { cuid, kind: "refused", ...nothing, endsRunning, isStale: false, shared };
}

/** Whether a row empties one of these fields that had a value. */
export function losesValue({ changes }: CustomerEffect, fields: readonly string[]): boolean {
  return changes.some(({ field, from = "", to = "" }) => fields.includes(field) && from !== "" && to === "");
}

function fieldChanges(stored: Customer | undefined, change: CustomerChange): FieldChange[] {
  const { profile, changesProfile, connections, changesConnections, entries } = change;
  const changes: FieldChange[] = [];
  const add = (field: string, from: string | undefined, to: string | undefined) => {
    if (from !== to) changes.push({ field, from, to });
  };
  if (changesProfile) for (const [field, read] of PROFILE_FIELDS) add(field, stored && read(stored), read(profile));
  if (changesConnections) {
    const [before, after] = [connectionTexts(stored?.connections ?? []), connectionTexts(connections)];
    for (const name of new Set([...before.keys(), ...after.keys()])) add(name, before.get(name), after.get(name));
  }
  for (const { service, reqId, plan, before, entry } of entries)
    add(`${service} ${reqId}: ${plan}`, runText(before), runText(entry.after));
  return changes;
}

const PROFILE_FIELDS: readonly (readonly [string, (profile: CustomerProfile) => string | undefined])[] = [
  ["first_name", ({ firstName }) => firstName],
  ["last_name", ({ lastName }) => lastName],
  ["mobile", ({ mobile }) => mobile],
  ["status", ({ status }) => status],
  ["area", ({ area }) => area],
];

function connectionTexts(connections: readonly BareConnection[]): Map<string, string> {
  return new Map(
    connections.map((connection) => {
      const { service, reqId, status, blocked } = connection;
      const texts = CONNECTION_TEXTS.map((name) => connection[name] && `${name} ${connection[name]}`);
      const words = [status, ...texts, blocked && "blocked by staff"].filter((each) => each);
      return [`${service} ${reqId}`, words.join(", ")];
    }),
  );
}

/** Text of a subscription in the audit trail and the dry run. */
export function runText(subscription: Subscription | undefined): string | undefined {
  return subscription && `${subscription.bouquet.code}, ${subscription.start} to ${subscription.end}`;
}

/** Audit entries of an import, or of a part of it: the changes of each customer, by cuid. */
export function customersImported(
  action: "customers.import" | "trial.reset",
  environment: Environment,
  effects: readonly CustomerEffect[],
): AuditedChange[] {
  const changed = effects.filter(({ changes }) => changes.length > 0).map(describe);
  return inEntries(changed).map((some) => ({
    action,
    subject: environment,
    before: byCuid(some, ({ before }) => before),
    after: byCuid(some, ({ after }) => after),
  }));
}

/** A customer before and after as JSON texts, since an import writes thousands of them. */
interface Described {
  readonly cuid: string;
  readonly before: string;
  readonly after: string;
}

function describe({ cuid, kind, changes }: CustomerEffect): Described {
  const side = (of: (change: FieldChange) => string | undefined) =>
    `{${changes.map((change) => `${JSON.stringify(change.field)}:${JSON.stringify(of(change) ?? null)}`).join(",")}}`;
  return { cuid, before: kind === "added" ? "null" : side(({ from }) => from), after: side(({ to }) => to) };
}

function byCuid(some: readonly Described[], textOf: (each: Described) => string): JsonText {
  return new JsonText(`{${some.map((each) => `${JSON.stringify(each.cuid)}:${textOf(each)}`).join(",")}}`);
}

function inEntries(changes: readonly Described[]): Described[][] {
  const entries: Described[][] = [];
  let characters = 0;
  for (const change of changes) {
    const length = change.cuid.length + change.before.length + change.after.length;
    const last = entries.at(-1);
    // A customer is once in an entry: of a second change in the same file, the first would be lost.
    const isFull = last?.length === CUSTOMERS_IN_AN_ENTRY || characters + length > ENTRY_CHARACTERS;
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

/** The part of an entry that concerns one customer. */
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

/** @param events number of connections whose state is sent again. */
export function customerResent(cuid: string, environment: Environment, events: number): AuditedChange {
  return { action: "customer.resend", subject: cuid, before: undefined, after: { environment, events } };
}
