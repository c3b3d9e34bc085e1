import type { AuditedChange } from "./audit.ts";
import type { Calendar, Instant } from "./calendar.ts";
import { type Connection, type ConnectionKey, isBlocked, isWokenByGrant } from "./customer.ts";
import { runOf } from "./customer-audit.ts";
import { foldGrants, foldSteps } from "./fold.ts";
import type { StatedReversal } from "./history-row.ts";
import type { Ledger } from "./ledger.ts";
import { applyGrant, type BouquetLabel, type Grant, hasEnded, type Subscription } from "./subscription.ts";
import type { Transaction } from "./top-up.ts";

/*
 * What the provider's staff set right by hand: a top-up is taken back, days are given for nothing, a connection
 * is blocked. Each is decided here, inside the transaction that records it, and leaves an entry in the audit trail.
 */

/** A grant to append, and what its plan amounts to before and after it. */
export interface LedgerChange {
  readonly key: ConnectionKey;
  readonly plan: string;
  readonly grant: Grant;
  readonly before: Subscription | undefined;
  readonly after: Subscription | undefined;
}

/** A decision to be written: in one transaction, with its entry in the audit trail. */
export interface Correction extends LedgerChange {
  /** Whether something was granted on the connection since it was imported as inactive; undefined where that stays. */
  readonly toppedUp: boolean | undefined;
  readonly audited: AuditedChange;
}

export interface LedgersSnapshot {
  /** Undefined where it is gone. */
  readonly connection: Connection | undefined;
  /** All of the connection, also of one that is gone. */
  readonly ledgers: readonly Ledger[];
}

export interface ReversalSnapshot extends LedgersSnapshot {
  readonly transaction: Transaction | undefined;
}

export type ReversalOutcome =
  | ({ readonly kind: "reversed"; readonly transaction: Transaction } & Correction)
  /** It was recorded at another topupd: no ledger here knows of it, and its time is in the dates that were imported. */
  | { readonly kind: "reversed_on_record"; readonly transaction: Transaction; readonly audited: AuditedChange }
  | { readonly kind: "already_reversed"; readonly transaction: Transaction }
  /** What there was before it was let go: without it, nobody could tell what is left. */
  | { readonly kind: "history_gone"; readonly transaction: Transaction }
  | { readonly kind: "not_found" };

/**
 * Takes one top-up back: its grant counts no more, and what was granted beside it stays. That can be done once.
 * What the provider's own records have stated since, with the top-up in it, is theirs to correct.
 * Source: decisions, "Corrections".
 * @param made where it was taken back before, and that was lost: when, by whom and why.
 */
export function decideReversal(
  { transaction, connection, ledgers }: ReversalSnapshot,
  now: Instant,
  calendar: Calendar,
  made?: StatedReversal,
): ReversalOutcome {
  if (transaction === undefined) return { kind: "not_found" };
  if (transaction.status === "reversed") return { kind: "already_reversed", transaction };
  const { checkoutId, txnId, environment, cuid, service, reqId } = transaction;
  const reversed = { ...transaction, status: "reversed" } as const;
  const change = { action: "transaction.reverse", subject: `${txnId} ${subjectOf(transaction)}` } as const;
  const was = { status: transaction.status };
  const is = { status: reversed.status, amount: transaction.amount, ...(made && madeBefore(made)) };
  if (transaction.imported === true)
    return { kind: "reversed_on_record", transaction: reversed, audited: { ...change, before: was, after: is } };
  const ledger = ledgers.find(({ grants }) => grants.some((grant) => isOf(grant, checkoutId)));
  if (ledger === undefined) throw new Error(`the top-up ${txnId} has no grant: see topupd check`);

  const { plan, grants, isPruned } = ledger;
  const [first] = grants;
  if (isPruned && first !== undefined && isOf(first, checkoutId)) return { kind: "history_gone", transaction };
  const grant = { kind: "reversal", at: made?.at ?? now, checkoutId } as const;
  const before = foldGrants(plan, grants, calendar);
  const after = foldGrants(plan, [...grants, grant], calendar);
  const audited: AuditedChange = {
    ...change,
    before: { ...was, [plan]: runOf(before) },
    after: { ...is, [plan]: runOf(after) },
  };
  const key = { environment, cuid, service, reqId };
  const others = ledgers.filter((each) => each !== ledger);
  const toppedUp = isToppedUpAfter(connection, [...others, { ...ledger, grants: [...grants, grant] }], calendar);
  return { kind: "reversed", transaction: reversed, key, plan, grant, before, after, toppedUp, audited };
}

function madeBefore({ at, author }: StatedReversal) {
  return { reversedAt: new Date(at).toISOString(), reversedBy: author };
}

function isOf(grant: Grant, checkoutId: string): boolean {
  return grant.kind === "top_up" && grant.checkoutId === checkoutId;
}

/** A connection that was imported as inactive is active for what was granted on it: with the last of that, it is not. */
export function isToppedUpAfter(
  connection: Connection | undefined,
  ledgers: readonly Ledger[],
  calendar: Calendar,
): false | undefined {
  // What was let go may have been the reason, too.
  if (connection?.toppedUp !== true || ledgers.some(({ isPruned }) => isPruned)) return undefined;
  const isGranted = ledgers.some(({ plan, grants }) =>
    foldSteps(plan, grants, calendar).some(
      ({ grant, counts }) => counts && (grant.kind === "goodwill" || grant.kind === "top_up"),
    ),
  );
  return isGranted ? undefined : false;
}

/** Days for nothing, on one subscription of a connection. */
export interface GoodwillCommand extends ConnectionKey {
  readonly days: number;
  /** Undefined where the connection has but one that may be meant. */
  readonly plan: string | undefined;
}

export type GoodwillOutcome =
  | ({ readonly kind: "granted" } & Correction)
  | { readonly kind: "not_found" }
  /** The connection has no subscription to be continued, or none of that plan. */
  | { readonly kind: "no_subscription"; readonly plans: readonly string[] }
  /** It has several: which one is meant? */
  | { readonly kind: "ambiguous"; readonly plans: readonly string[] }
  /** Beyond the last day that a calendar has. */
  | { readonly kind: "too_long" };

/**
 * Gives days for nothing: as a top-up would, they continue a run that is on, and begin a new one where it has
 * ended. No import takes them back.
 */
export function decideGoodwill(
  { connection, ledgers }: LedgersSnapshot,
  { days, plan: asked, ...key }: GoodwillCommand,
  at: Instant,
  calendar: Calendar,
): GoodwillOutcome {
  if (connection === undefined) return { kind: "not_found" };
  const known = ledgers.flatMap((ledger) => findGrantable(ledger, connection.subscriptions));
  const candidates = candidatesFor(known, asked, at);
  const [candidate, another] = candidates;
  if (candidate === undefined) return { kind: "no_subscription", plans: known.map(({ plan }) => plan) };
  if (another !== undefined) return { kind: "ambiguous", plans: candidates.map(({ plan }) => plan) };

  const { plan, bouquet, subscription: before } = candidate;
  const grant = { kind: "goodwill", at, bouquet, period: { months: 0, days } } as const;
  const after = applyGrant(plan, before, grant, calendar);
  if (after.end > calendar.last) return { kind: "too_long" };
  const audited: AuditedChange = {
    action: "subscription.grant",
    subject: subjectOf(key),
    before: { [plan]: runOf(before) },
    after: { days, [plan]: runOf(after) },
  };
  const toppedUp = isWokenByGrant(connection) ? true : undefined;
  return { kind: "granted", key, plan, grant, before, after, toppedUp, audited };
}

/** A plan that the connection has or had: also one of which nothing is left, since all was taken back. */
export interface Grantable {
  readonly plan: string;
  readonly bouquet: BouquetLabel;
  readonly subscription: Subscription | undefined;
}

export function findGrantable({ plan, grants }: Ledger, subscriptions: readonly Subscription[]): Grantable[] {
  const subscription = subscriptions.find((each) => each.plan === plan);
  const labels = grants.flatMap((grant) => ("bouquet" in grant ? [grant.bouquet] : []));
  const bouquet = subscription?.bouquet ?? labels.at(-1);
  return bouquet === undefined ? [] : [{ plan, bouquet, subscription }];
}

/** That of the plan, or the base subscriptions: those that are on, or else those that there are, or else there were. */
export function candidatesFor(
  known: readonly Grantable[],
  plan: string | undefined,
  at: Instant,
): readonly Grantable[] {
  if (plan !== undefined) return known.filter((each) => each.plan === plan);
  const bases = known.filter(({ bouquet }) => !bouquet.addOn);
  const there = bases.filter(({ subscription }) => subscription !== undefined);
  const running = there.filter(({ subscription }) => subscription !== undefined && !hasEnded(subscription, at));
  return [running, there, bases].find((some) => some.length > 0) ?? [];
}

export type BlockOutcome =
  /** `audited` is undefined where it was so already. */
  | {
      readonly kind: "done";
      readonly key: ConnectionKey;
      readonly blocked: boolean;
      readonly audited: AuditedChange | undefined;
    }
  | { readonly kind: "not_found" }
  /** The provider's own records say so, and only they can take it back. */
  | { readonly kind: "blocked_by_records" };

/** Blocks a connection until it is unblocked, whatever imports say meanwhile; or takes that back. */
export function decideBlock(connection: Connection | undefined, key: ConnectionKey, blocked: boolean): BlockOutcome {
  if (connection === undefined) return { kind: "not_found" };
  if (!blocked && !connection.blocked && isBlocked(connection)) return { kind: "blocked_by_records" };
  if (connection.blocked === blocked) return { kind: "done", key, blocked, audited: undefined };
  const audited: AuditedChange = {
    action: blocked ? "connection.block" : "connection.unblock",
    subject: subjectOf(key),
    before: { blocked: connection.blocked },
    after: { blocked },
  };
  return { kind: "done", key, blocked, audited };
}

export function subjectOf({ environment, cuid, service, reqId }: ConnectionKey): string {
  return `${environment} ${cuid} ${service} ${reqId}`;
}
