import type { AuditAction, AuditedChange } from "./audit.ts";
import type { Authority } from "./authority.ts";
import { type Connection, type ConnectionKey, type Environment, isBlocked } from "./customer.ts";
import { runText } from "./customer-audit.ts";
import {
  appendGrant,
  decideReversal,
  type Entry,
  grantsOfRun,
  headOf,
  type Ledger,
  newestGoodwill,
  type ReversalRefusal,
} from "./ledger.ts";
import { isRunning, type Subscription } from "./subscription.ts";
import type { Transaction } from "./transaction.ts";
import { type Instant, LAST_WALL_TIME, type Moment, type WallTime } from "./wall-time.ts";

/*
 * Corrections by staff: reversals, goodwill and blocks. Each is decided here, inside the transaction that records it,
 * and adds an entry to the audit trail.
 */

/** Author, time and reason of a correction. The reason is required. */
export interface Correcting {
  readonly author: string;
  readonly authority: Authority | undefined;
  readonly reason: string;
  readonly at: Moment;
  /** The account or API key that requested it, if the author is the second person. */
  readonly requestedBy?: string | undefined;
}

/** A decided correction. The caller writes it and its audit entry in one transaction. */
export interface Correction {
  readonly key: ConnectionKey;
  readonly plan: string;
  readonly entry: Entry;
  readonly before: Subscription | undefined;
  readonly audited: AuditedChange;
}

export type TopUpReversalOutcome =
  | { readonly kind: "reversed"; readonly transaction: Transaction; readonly correction: Correction }
  | { readonly kind: ReversalRefusal };

/** @param ledgers all ledgers of the connection. */
export function reverseTopUp(
  transaction: Transaction | undefined,
  ledgers: readonly Ledger[],
  { author, reason, at, requestedBy }: Correcting,
): TopUpReversalOutcome {
  if (transaction === undefined) return { kind: "not_found" };
  if (transaction.status === "reversed") return { kind: "already_reversed" };
  const isIts = (entry: Entry) => entry.kind === "top_up" && entry.txnId === transaction.txnId;
  const ledger = ledgers.find(({ entries }) => entries.some(isIts));
  const of = ledger?.entries.find(isIts)?.seq;
  if (ledger === undefined || of === undefined)
    throw new Error(`the top-up ${transaction.txnId} has no ledger entry: see topupd check`);
  const entry = decideReversal(ledger, { kind: "reversal", of, author, reason }, at);
  if (typeof entry === "string") return { kind: entry };
  const reversed = { ...transaction, status: "reversed" } as const;
  const subject = `${transaction.txnId} ${subjectOf(transaction)}`;
  const change = {
    action: "transaction.reverse",
    subject,
    before: { status: "success" },
    after: { status: "reversed", requestedBy },
  } as const;
  return { kind: "reversed", transaction: reversed, correction: correctionOf(transaction, ledger, entry, change) };
}

/** Goodwill for one subscription of a connection. */
export interface GoodwillCommand extends ConnectionKey {
  /** Number of days, 1 or more. */
  readonly days: number;
  /** Undefined if the connection has only one candidate (see {@link candidatesFor}). */
  readonly plan: string | undefined;
}

export type GoodwillOutcome =
  | { readonly kind: "granted"; readonly correction: Correction }
  | { readonly kind: "not_found" }
  | PlanUnclear
  /** The end would pass the last wall time. */
  | { readonly kind: "too_long" };

/** Why the plan is unclear, and the possible plans. */
type PlanUnclear = { readonly kind: "no_subscription" | "ambiguous"; readonly plans: readonly string[] };

/** Adds days of goodwill. Like a top-up, they extend a running subscription or begin a new run. */
export function grantGoodwill(
  connection: Connection | undefined,
  ledgers: readonly Ledger[],
  { days, plan, ...key }: GoodwillCommand,
  { author, reason, at }: Correcting,
): GoodwillOutcome {
  if (connection === undefined) return { kind: "not_found" };
  const candidates = candidatesFor(ledgers, plan, at.wall);
  const [ledger, another] = candidates;
  const last = ledger?.entries.findLast(({ after }) => after !== undefined)?.after;
  if (ledger === undefined || last === undefined)
    return { kind: "no_subscription", plans: ledgers.map((each) => each.plan) };
  if (another !== undefined) return { kind: "ambiguous", plans: candidates.map((each) => each.plan) };
  const grant = { kind: "goodwill", bouquet: last.bouquet, period: { months: 0, days }, author, reason } as const;
  const entry = appendGrant(headOf(ledger), grant, at);
  if ((entry.after?.end ?? "") > LAST_WALL_TIME) return { kind: "too_long" };
  const change = { action: "subscription.goodwill", subject: subjectOf(key), before: {}, after: { days } } as const;
  return { kind: "granted", correction: correctionOf(key, ledger, entry, change) };
}

export interface GoodwillReversalCommand extends ConnectionKey {
  readonly plan: string | undefined;
  /** Number of the entry to reverse; undefined means the last. */
  readonly seq?: number | undefined;
}

export type GoodwillReversalOutcome =
  | { readonly kind: "reversed"; readonly days: number; readonly correction: Correction }
  /** `not_last`: the given entry was reversed meanwhile, or newer goodwill exists. */
  | { readonly kind: ReversalRefusal | "not_last" }
  | PlanUnclear;

/** Reverses the newest goodwill that is not reversed. */
export function reverseGoodwill(
  ledgers: readonly Ledger[],
  { plan, seq, ...key }: GoodwillReversalCommand,
  { author, reason, at }: Correcting,
): GoodwillReversalOutcome {
  const candidates = ledgers.flatMap((ledger) => {
    const goodwill = newestGoodwill(ledger);
    return goodwill === undefined || (plan !== undefined && ledger.plan !== plan) ? [] : [{ ledger, goodwill }];
  });
  const [candidate, another] = candidates;
  if (candidate === undefined) return { kind: "not_found" };
  if (another !== undefined) return { kind: "ambiguous", plans: candidates.map((each) => each.ledger.plan) };
  const { ledger, goodwill } = candidate;
  if (seq !== undefined && seq !== goodwill.seq) return { kind: "not_last" };
  const entry = decideReversal(ledger, { kind: "reversal", of: goodwill.seq, author, reason }, at);
  if (typeof entry === "string") return { kind: entry };
  const { days } = goodwill.period;
  const change = {
    action: "subscription.reverse_goodwill",
    subject: subjectOf(key),
    before: { days },
    after: {},
  } as const;
  return { kind: "reversed", days, correction: correctionOf(key, ledger, entry, change) };
}

/** Ledgers that may be meant: the named plan; otherwise the running base plans; otherwise all base plans. */
function candidatesFor(ledgers: readonly Ledger[], plan: string | undefined, now: WallTime): readonly Ledger[] {
  if (plan !== undefined) return ledgers.filter((ledger) => ledger.plan === plan);
  const bases = ledgers.filter(({ entries }) => entries.some(({ after }) => after?.bouquet.addOn === false));
  const running = bases.filter((ledger) => isRunning(headOf(ledger).subscription, now));
  return running.length > 0 ? running : bases;
}

/** The audit entry keeps the change, and the subscription before and after it. */
function correctionOf(
  { environment, cuid, service, reqId }: ConnectionKey,
  ledger: Ledger,
  entry: Entry,
  change: AuditedChange & { readonly before: object; readonly after: object },
): Correction {
  const { plan } = ledger;
  const before = headOf(ledger).subscription;
  const audited: AuditedChange = {
    ...change,
    before: { ...change.before, [plan]: runText(before) ?? null },
    after: { ...change.after, [plan]: runText(entry.after) ?? null },
  };
  return { key: { environment, cuid, service, reqId }, plan, entry, before, audited };
}

export type BlockOutcome =
  /** `audited` is undefined if nothing changed. */
  | { readonly kind: "done"; readonly key: ConnectionKey; readonly audited: AuditedChange | undefined }
  | { readonly kind: "not_found" }
  /** The provider's records block the connection: only an import can unblock it. */
  | { readonly kind: "blocked_by_records" };

/** Blocks or unblocks a connection. Imports do not lift a block by staff. */
export function decideBlock(connection: Connection | undefined, key: ConnectionKey, blocked: boolean): BlockOutcome {
  if (connection === undefined) return { kind: "not_found" };
  if (!blocked && !connection.blocked && isBlocked(connection)) return { kind: "blocked_by_records" };
  if (connection.blocked === blocked) return { kind: "done", key, audited: undefined };
  const action = blocked ? "connection.block" : "connection.unblock";
  const before = { blocked: connection.blocked };
  return { kind: "done", key, audited: { action, subject: subjectOf(key), before, after: { blocked } } };
}

export function subjectOf({ environment, cuid, service, reqId }: ConnectionKey): string {
  return `${environment} ${cuid} ${service} ${reqId}`;
}

/* Bulk changes. Each connection is decided like a single correction. An audit entry names the connections of a portion. */

export type BulkOrder =
  | ({ readonly action: "goodwill" } & Pick<GoodwillCommand, "days" | "plan">)
  | { readonly action: "block" | "unblock" };

interface StoredOrder {
  readonly action: BulkOrder["action"];
  readonly days: number | null;
  readonly plan: string | null;
}

export function orderOf({ action, days, plan }: StoredOrder): BulkOrder {
  return action === "goodwill" ? { action, days: days ?? 0, plan: plan ?? undefined } : { action };
}

export type BulkOutcome = GoodwillOutcome | BlockOutcome;

/** @param ledgers all ledgers of the connection. */
export function decideBulk(
  order: BulkOrder,
  key: ConnectionKey,
  connection: Connection | undefined,
  ledgers: readonly Ledger[],
  by: Correcting,
): BulkOutcome {
  if (order.action !== "goodwill") return decideBlock(connection, key, order.action === "block");
  return grantGoodwill(connection, ledgers, { ...key, days: order.days, plan: order.plan }, by);
}

/** Time of the last goodwill that is not reversed; undefined if there is none. */
export function lastGoodwill(ledgers: readonly Ledger[]): Instant | undefined {
  const grants = ledgers.flatMap((ledger) => grantsOfRun(ledger, 0)).filter(({ kind }) => kind === "goodwill");
  return grants.length === 0 ? undefined : Math.max(...grants.map(({ at }) => at.instant));
}

/** The audit entry of a portion: the connections of each customer, and the change. */
export function bulkCorrected(
  order: BulkOrder,
  environment: Environment,
  connections: readonly ConnectionKey[],
): AuditedChange {
  const { action: what, ...rest } = order;
  const ordered = what === "goodwill" ? rest : { blocked: what === "block" };
  const action = `bulk.${what}` as const satisfies AuditAction;
  const customers = new Map<string, Record<string, object>>();
  for (const { cuid, service, reqId } of connections)
    customers.set(cuid, { ...customers.get(cuid), [`${service} ${reqId}`]: ordered });
  return { action, subject: environment, before: undefined, after: Object.fromEntries(customers) };
}

/** The audit entry of a step of a whole bulk change. */
export function bulkSteered(
  step: "start" | "pause" | "continue" | "cancel",
  { id, environment, count, done }: BulkExtent,
  order: BulkOrder,
  requestedBy?: string,
): AuditedChange {
  const after = { environment, ...order, connections: count, done, requestedBy };
  return { action: `bulk.${step}`, subject: String(id), before: undefined, after };
}

interface BulkExtent {
  readonly id: number;
  readonly environment: Environment;
  /** Connections to correct, and those that were corrected or left out. */
  readonly count: number;
  readonly done: number;
}
