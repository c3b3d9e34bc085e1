import type { Calendar, Instant } from "./calendar.ts";
import { type Catalogue, findPurchasable } from "./catalogue.ts";
import { type Checkout, type CheckoutHolder, isCheckoutExpired, isCheckoutFor } from "./checkout.ts";
import { type Connection, type ConnectionKey, isWokenByGrant, openToSales, type WireStatus } from "./customer.ts";
import type { Refusal } from "./failure.ts";
import type { Money } from "./money.ts";
import { applyGrant, type Grant, type Subscription } from "./subscription.ts";

/**
 * A top-up whose decision was made this long ago is not recorded any more. Being shorter than the
 * grace of txn-status, it makes `never_topped_up` a promise (decisions, "Using a checkoutId").
 */
export const RECORDING_DEADLINE_MS = 30_000;

/** Whether a decision was made so long ago that it must not be recorded any more. */
export function isTooLateToRecord(decidedAt: Instant, now: Instant): boolean {
  return now - decidedAt > RECORDING_DEADLINE_MS;
}

export const TRANSACTION_STATUSES = ["success", "reversed"] as const;

/** Source: decisions, "Result status". */
export type TransactionStatus = (typeof TRANSACTION_STATUSES)[number];

/** A recorded top-up. */
export interface Transaction extends ConnectionKey {
  readonly checkoutId: string;
  readonly txnId: string;
  readonly partnerId: number;
  readonly bouquetCode: string;
  readonly amount: Money;
  readonly at: Instant;
  readonly status: TransactionStatus;
  readonly udf1: string | undefined;
  readonly udf2: string | undefined;
  /** Recorded at another topupd, and brought here with its history: nothing was granted for it here. */
  readonly imported?: true;
}

/** What a partner asks for, its checkoutId already found authentic. */
export interface TopUpCommand extends ConnectionKey, CheckoutHolder {
  readonly checkoutId: string;
  readonly checkout: Checkout;
  readonly bouquetCode: string;
  readonly amount: Money;
  readonly udf1: string | undefined;
  readonly udf2: string | undefined;
  /** The id the transaction gets if it is recorded. */
  readonly txnId: string;
}

/** All that the decision depends on, read inside the transaction that records it. */
export interface TopUpSnapshot {
  readonly recorded: Transaction | undefined;
  readonly customerStatus: WireStatus | undefined;
  readonly connection: Connection | undefined;
  /** Whether it was written down that nothing can be recorded with this checkout any more. */
  readonly retired: boolean;
  /** From when on history is whole; undefined where nothing was let go. Asked for only of what has expired. */
  readonly prunedBefore: () => Instant | undefined;
  /** The revision that the checkout was quoted from; asked for only where the decision comes to it. */
  readonly catalogue: () => Catalogue | undefined;
}

export type TopUpOutcome =
  | {
      readonly kind: "recorded";
      readonly transaction: Transaction;
      readonly grant: Grant;
      readonly subscription: Subscription;
      /** Whether the connection, imported as inactive, is to be marked as topped up since. */
      readonly activates: boolean;
    }
  | { readonly kind: "replayed"; readonly transaction: Transaction }
  /** `retires` where it must be written down, so that what was refused for good cannot land after all. */
  | { readonly kind: "refused"; readonly refusal: Refusal; readonly retires?: true };

/** What is known of a top-up once it is settled. */
export type SettledTopUp =
  | { readonly kind: "recorded"; readonly transaction: Transaction }
  | Exclude<TopUpOutcome, { kind: "recorded" }>;

/**
 * Decides a top-up. The order of the questions is the decisions page's: is it recorded, then may its
 * record be gone, then is the checkout expired, then the business rules. A refusal uses nothing up.
 */
export function decideTopUp(
  { recorded, retired, prunedBefore, customerStatus, connection: found, catalogue }: TopUpSnapshot,
  command: TopUpCommand,
  now: Instant,
  calendar: Calendar,
): TopUpOutcome {
  if (recorded !== undefined) return decideAgain(recorded, command);
  const hasExpired = isCheckoutExpired(command.checkout, now);
  // Whether it was used before, nobody can tell any more.
  if ((retired || hasExpired) && command.checkout.issuedAt < (prunedBefore() ?? 0)) return refuse("checkout_unknown");
  if (retired) return refuse("checkout_expired");
  if (hasExpired) return { ...refuse("checkout_expired"), retires: true };
  if (!isCheckoutFor(command.checkoutId, command)) return refuse("checkout_mismatch");
  const open = openToSales(customerStatus && { status: customerStatus }, found);
  if (!open.ok) return refuse(open.refusal);
  const { connection } = open.value;
  const quoted = catalogue();
  const bouquet = quoted && findPurchasable(quoted, connection, command.bouquetCode, now, calendar);
  if (bouquet === undefined) return refuse("bouquet_unavailable");
  if (bouquet.price !== command.amount) return refuse("amount_mismatch");

  const { plan, period, code, name, addOn } = bouquet;
  const { checkoutId } = command;
  const grant = { kind: "top_up", at: now, bouquet: { code, name, addOn }, period, checkoutId } as const;
  const before = connection.subscriptions.find((subscription) => subscription.plan === plan);
  const subscription = applyGrant(plan, before, grant, calendar);
  const activates = isWokenByGrant(connection);
  return { kind: "recorded", transaction: transactionOf(command, now), grant, subscription, activates };
}

/** A recorded top-up answers its own request again, and no other (decisions, "Using a checkoutId"). */
export function decideAgain(
  recorded: Transaction,
  command: Omit<TopUpCommand, "checkout" | "txnId" | "udf1" | "udf2">,
): Extract<TopUpOutcome, { kind: "replayed" | "refused" }> {
  if (recorded.partnerId !== command.partnerId) return refuse("checkout_unknown");
  const same =
    recorded.environment === command.environment &&
    recorded.cuid === command.cuid &&
    recorded.service === command.service &&
    recorded.reqId === command.reqId &&
    recorded.bouquetCode === command.bouquetCode &&
    recorded.amount === command.amount;
  return same ? { kind: "replayed", transaction: recorded } : refuse("checkout_used");
}

/** What is recorded of a top-up that was decided at a time. */
export function transactionOf(command: TopUpCommand, at: Instant): Transaction {
  const { checkoutId, txnId, partnerId, environment, cuid, service, reqId, bouquetCode, amount, udf1, udf2 } = command;
  const key = { environment, cuid, service, reqId };
  return { checkoutId, txnId, partnerId, ...key, bouquetCode, amount, at, status: "success", udf1, udf2 };
}

function refuse(refusal: Refusal) {
  return { kind: "refused", refusal } as const;
}
