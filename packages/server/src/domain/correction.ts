import type { AuditAction, AuditedChange } from "./audit.ts";
import { type Connection, type ConnectionKey, type Environment, isBlocked } from "./customer.ts";
import { runText } from "./customer-audit.ts";
import {
  appendGrant,
  decideReversal,
  type Entry,
  grantsOfRun,
  headOf,
  type Ledger,
  type ReversalRefusal,
} from "./ledger.ts";
import type { Authority } from "./staff.ts";
import { isRunning, type Subscription } from "./subscription.ts";
import type { Transaction } from "./top-up.ts";
import { DAY_MS, type Instant, LAST_WALL_TIME, type Moment, type WallTime } from "./wall-time.ts";

/*
 * What the provider's staff set right by hand: a top-up or goodwill is reversed, days are given for nothing, a connection
 * is blocked. Each is decided here, inside the transaction that records it, and leaves an entry in the audit trail.
 */

/** Who corrects something, when and why: no correction is made without a reason. */
export interface Correcting {
  readonly author: string;
  readonly authority: Authority | undefined;
  readonly reason: string;
  readonly at: Moment;
}

/** A decision to be written: in one transaction, with its entry in the audit trail. */
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

/** @param ledgers those of its connection. */
export function reverseTopUp(
  transaction: Transaction | undefined,
  ledgers: readonly Ledger[],
  { author, reason, at }: Correcting,
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
    after: { status: "reversed" },
  } as const;
  return { kind: "reversed", transaction: reversed, correction: correctionOf(transaction, ledger, entry, change) };
}

/** Days for nothing, on one subscription of a connection. */
export interface GoodwillCommand extends ConnectionKey {
  /** 1 or more. */
  readonly days: number;
  /** Undefined where the connection has but one that may be meant. */
  readonly plan: string | undefined;
}

export type GoodwillOutcome =
  | { readonly kind: "granted"; readonly correction: Correction }
  | { readonly kind: "not_found" }
  | PlanUnclear
  /** Beyond the last day that a calendar has. */
  | { readonly kind: "too_long" };

/** Why it is not clear which plan is meant, and the plans that it may be. */
type PlanUnclear = { readonly kind: "no_subscription" | "ambiguous"; readonly plans: readonly string[] };

/** Gives days for nothing: as a top-up would, they continue a run that is on, and begin a new one where it has ended. */
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
  /** The number of the entry that is meant; undefined for the last. */
  readonly seq?: number | undefined;
}

export type GoodwillReversalOutcome =
  | { readonly kind: "reversed"; readonly days: number; readonly correction: Correction }
  /** `not_last`: of the entry that was meant, somebody else has reversed it, or given more days since. */
  | { readonly kind: ReversalRefusal | "not_last" }
  | PlanUnclear;

/** Reverses the goodwill that was given last, of those that are not reversed. */
export function reverseGoodwill(
  ledgers: readonly Ledger[],
  { plan, seq, ...key }: GoodwillReversalCommand,
  { author, reason, at }: Correcting,
): GoodwillReversalOutcome {
  const candidates = ledgers.flatMap((ledger) => {
    const goodwill = grantsOfRun(ledger, 0).findLast((entry) => entry.kind === "goodwill");
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

/** That of the plan; or else the base subscriptions that run, or else all that there are. */
function candidatesFor(ledgers: readonly Ledger[], plan: string | undefined, now: WallTime): readonly Ledger[] {
  if (plan !== undefined) return ledgers.filter((ledger) => ledger.plan === plan);
  const bases = ledgers.filter(({ entries }) => entries.some(({ after }) => after?.bouquet.addOn === false));
  const running = bases.filter((ledger) => isRunning(headOf(ledger).subscription, now));
  return running.length > 0 ? running : bases;
}

/** What the audit trail keeps is the change, and the subscription before and after it. */
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
  /** `audited` is undefined where it was so already. */
  | { readonly kind: "done"; readonly key: ConnectionKey; readonly audited: AuditedChange | undefined }
  | { readonly kind: "not_found" }
  /** The provider's own records say so, and only they can take it back. */
  | { readonly kind: "blocked_by_records" };

/** Blocks a connection until it is unblocked, whatever imports say meanwhile; or unblocks it. */
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

/*
 * One correction of many connections. Each is decided as it would be by itself; the audit trail names them all in one
 * entry, which is written before the first of them is corrected.
 */

export type BulkOrder =
  | ({ readonly action: "goodwill" } & Pick<GoodwillCommand, "days" | "plan">)
  | { readonly action: "block" | "unblock" };

export type BulkOutcome = GoodwillOutcome | BlockOutcome;

/** @param ledgers those of the connection. */
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

/** Whether staff gave any of the ledgers goodwill in the last day that is not reversed. */
export function hadGoodwillLately(ledgers: readonly Ledger[], now: Instant): boolean {
  const isLate = (ledger: Ledger) =>
    grantsOfRun(ledger, 0).some(({ kind, at }) => kind === "goodwill" && at.instant > now - DAY_MS);
  return ledgers.some(isLate);
}

/** What the audit trail keeps: of each customer the connections, and what was ordered for them. */
export function bulkAnnounced(
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
