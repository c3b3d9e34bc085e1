import type { AuditedChange } from "./audit.ts";
import type { Authority } from "./authority.ts";
import { allowsBase, type BasePlans, onlyBases } from "./catalogue.ts";
import { type Connection, type ConnectionKey, isBlocked, runningBases } from "./customer.ts";
import { runText } from "./customer-audit.ts";
import {
  appendGrant,
  decideReversal,
  type Entry,
  headOf,
  type Ledger,
  newestGoodwill,
  type ReversalRefusal,
  ranBetween,
} from "./ledger.ts";
import { isRunning, type Subscription } from "./subscription.ts";
import type { Transaction } from "./transaction.ts";
import { LAST_WALL_TIME, type Moment, type WallSpan, type WallTime } from "./wall-time.ts";

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
  /** Only plans that ran then; undefined for all plans. */
  readonly ran?: WallSpan | undefined;
}

export type GoodwillOutcome =
  | { readonly kind: "granted"; readonly correction: Correction }
  | { readonly kind: "not_found" }
  | PlanUnclear
  /** The end would pass the last wall time. */
  | { readonly kind: "too_long" };

/**
 * Why no plan is chosen, and the plans of the connection; or the running ones, beside which a second base plan may not
 * start.
 */
export type PlanUnclear = {
  readonly kind: "no_subscription" | "not_running" | "ambiguous" | "second_base";
  readonly plans: readonly string[];
};

/** Adds days of goodwill. Like a top-up, they extend a running subscription, or begin a new run if one may be bought. */
export function grantGoodwill(
  connection: Connection | undefined,
  ledgers: readonly Ledger[],
  { days, plan, ran, ...key }: GoodwillCommand,
  { author, reason, at }: Correcting,
  basePlans: BasePlans,
): GoodwillOutcome {
  if (connection === undefined) return { kind: "not_found" };
  const candidates = candidatesFor(ledgers, plan, ran, at.wall);
  const [ledger, another] = candidates;
  const last = ledger?.entries.findLast(({ after }) => after !== undefined)?.after;
  if (ledger === undefined || last === undefined)
    return {
      kind: ran === undefined || ledgers.length === 0 ? "no_subscription" : "not_running",
      plans: ledgers.map((each) => each.plan),
    };
  if (another !== undefined) return { kind: "ambiguous", plans: candidates.map((each) => each.plan) };
  const only = onlyBases(key.service, runningBases({ ledgers: ledgers.map(headOf) }, at.wall), basePlans);
  if (!last.bouquet.addOn && !allowsBase(only, ledger.plan)) return { kind: "second_base", plans: only };
  const grant = { kind: "goodwill", bouquet: last.bouquet, period: { months: 0, days }, author, reason } as const;
  const entry = appendGrant(headOf(ledger), grant, at);
  if ((entry.after?.end ?? "") > LAST_WALL_TIME) return { kind: "too_long" };
  const change = { action: "subscription.goodwill", subject: subjectOf(key), before: {}, after: { days } } as const;
  return { kind: "granted", correction: correctionOf(key, ledger, entry, change) };
}

export interface GoodwillReversalCommand extends ConnectionKey {
  readonly plan: string | undefined;
  /** Number of the entry to reverse; undefined means the newest. */
  readonly seq?: number | undefined;
}

export type GoodwillReversalOutcome =
  | { readonly kind: "reversed"; readonly days: number; readonly correction: Correction }
  | { readonly kind: "no_goodwill" | "history_gone" }
  | PlanUnclear;

/** Reverses goodwill that is not reversed yet. */
export function reverseGoodwill(
  ledgers: readonly Ledger[],
  { plan, seq, ...key }: GoodwillReversalCommand,
  { author, reason, at }: Correcting,
): GoodwillReversalOutcome {
  const candidates = ledgers.flatMap((ledger) => {
    const goodwill = newestGoodwill(ledger, seq);
    return goodwill === undefined || (plan !== undefined && ledger.plan !== plan) ? [] : [{ ledger, goodwill }];
  });
  const [candidate, another] = candidates;
  if (candidate === undefined) return { kind: "no_goodwill" };
  if (another !== undefined) return { kind: "ambiguous", plans: candidates.map((each) => each.ledger.plan) };
  const { ledger, goodwill } = candidate;
  const entry = decideReversal(ledger, { kind: "reversal", of: goodwill.seq, author, reason }, at);
  if (typeof entry === "string") return { kind: entry === "history_gone" ? entry : "no_goodwill" };
  const { days } = goodwill.period;
  const change = {
    action: "subscription.reverse_goodwill",
    subject: subjectOf(key),
    before: { days },
    after: {},
  } as const;
  return { kind: "reversed", days, correction: correctionOf(key, ledger, entry, change) };
}

/**
 * Ledgers that may be meant, among those that ran if a span is given: the named plan; otherwise the running base plans;
 * otherwise all base plans.
 */
function candidatesFor(
  ledgers: readonly Ledger[],
  plan: string | undefined,
  ran: WallSpan | undefined,
  now: WallTime,
): readonly Ledger[] {
  const possible = ran === undefined ? ledgers : ledgers.filter((ledger) => ranBetween(ledger, ran));
  if (plan !== undefined) return possible.filter((ledger) => ledger.plan === plan);
  const bases = possible.filter(({ entries }) => entries.some(({ after }) => after?.bouquet.addOn === false));
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
