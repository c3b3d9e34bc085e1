import { refusalOfToken, type TokenState } from "./access-token.ts";
import { type BasePlans, type Catalogue, findPurchasable } from "./catalogue.ts";
import { type Checkout, type CheckoutHolder, isCheckoutExpired, isCheckoutFor } from "./checkout.ts";
import { type Connection, type ConnectionKey, openToSales, type WireStatus } from "./customer.ts";
import type { Refusal } from "./failure.ts";
import { appendGrant, type LedgerHead, type TopUpEntry } from "./ledger.ts";
import type { Money } from "./money.ts";
import type { Instant, Moment, WallTime } from "./wall-time.ts";

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
  /** What the wall clock showed then: it is answered again as it was, and says to which day of settlement it belongs. */
  readonly txnDate: WallTime;
  readonly status: TransactionStatus;
  readonly udf1: string | undefined;
  readonly udf2: string | undefined;
}

/** What a partner asks for, its checkoutId already found authentic. */
export interface TopUpCommand extends ConnectionKey, CheckoutHolder {
  readonly checkoutId: string;
  readonly checkout: Checkout;
  readonly bouquetCode: string;
  readonly amount: Money;
  readonly udf1: string | undefined;
  readonly udf2: string | undefined;
  /** The random digits of the txnId that it gets if it is recorded: the others are the time of the decision. */
  readonly txnDigits: string;
  /** Of the access token that was admitted; undefined in histories that topupd makes itself. */
  readonly tokenId: string | undefined;
}

/** All that the decision depends on, read inside the transaction that records it. */
export interface TopUpSnapshot {
  readonly recorded: Transaction | undefined;
  readonly token: (tokenId: string) => TokenState | undefined;
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
      readonly plan: string;
      readonly entry: TopUpEntry;
    }
  | { readonly kind: "replayed"; readonly transaction: Transaction }
  /** `retires` where it must be written down, so that what was refused for good cannot land after all. */
  | { readonly kind: "refused"; readonly refusal: Refusal; readonly retires?: true };

/** What is known of a top-up once it is settled. */
export type SettledTopUp =
  | { readonly kind: "recorded"; readonly transaction: Transaction }
  | Exclude<TopUpOutcome, { kind: "recorded" }>;

/**
 * Decides a top-up. The order of the questions is the decisions page's: is it recorded, then may its partner
 * still top up, then may its record be gone, then is the checkout expired, then the business rules. A refusal
 * uses nothing up.
 */
export function decideTopUp(
  { recorded, token, retired, prunedBefore, customerStatus, connection: found, catalogue }: TopUpSnapshot,
  command: TopUpCommand,
  now: Moment,
  basePlans: BasePlans,
): TopUpOutcome {
  if (recorded !== undefined) return decideAgain(recorded, command);
  const { tokenId } = command;
  const lost = tokenId === undefined ? undefined : refusalOfToken(token(tokenId), now.instant);
  if (lost !== undefined) return refuse(lost);
  const hasExpired = isCheckoutExpired(command.checkout, now.instant);
  // Whether it was used before, nobody can tell any more.
  if ((retired || hasExpired) && command.checkout.issuedAt < (prunedBefore() ?? 0)) return refuse("checkout_unknown");
  if (retired) return refuse("checkout_expired");
  if (hasExpired) return { ...refuse("checkout_expired"), retires: true };
  if (!isCheckoutFor(command.checkoutId, command)) return refuse("checkout_mismatch");
  const open = openToSales(customerStatus && { status: customerStatus }, found);
  if (!open.ok) return refuse(open.refusal);
  const { connection } = open.value;
  const quoted = catalogue();
  const bouquet = quoted && findPurchasable(quoted, connection, command.bouquetCode, now.wall, basePlans);
  if (bouquet === undefined) return refuse("bouquet_unavailable");
  if (bouquet.price !== command.amount) return refuse("amount_mismatch");

  const { plan, period, code, name, addOn } = bouquet;
  const head: LedgerHead = connection.ledgers.find((ledger) => ledger.plan === plan) ?? {
    plan,
    seq: 0,
    subscription: undefined,
  };
  const transaction = transactionOf(command, now);
  const topUp = { kind: "top_up", txnId: transaction.txnId, bouquet: { code, name, addOn }, period } as const;
  return { kind: "recorded", transaction, plan, entry: appendGrant(head, topUp, now) };
}

/** A recorded top-up answers its own request again, and no other (decisions, "Using a checkoutId"). */
export function decideAgain(
  recorded: Transaction,
  command: Omit<TopUpCommand, "checkoutId" | "checkout" | "txnDigits" | "tokenId" | "udf1" | "udf2">,
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
export function transactionOf(command: TopUpCommand, { instant: at, wall: txnDate }: Moment): Transaction {
  const { checkoutId, partnerId, environment, cuid, service, reqId, bouquetCode, amount, udf1, udf2 } = command;
  return {
    checkoutId,
    txnId: formatTransactionId(at, command.txnDigits),
    partnerId,
    environment,
    cuid,
    service,
    reqId,
    bouquetCode,
    amount,
    at,
    txnDate,
    status: "success",
    udf1,
    udf2,
  };
}

function refuse(refusal: Refusal) {
  return { kind: "refused", refusal } as const;
}

export const TRANSACTION_ID_RANDOM_BYTES = 10;

/** Crockford's alphabet: no letter that reads as a digit over the telephone. */
const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

const SHAPE = new RegExp(`^[${ALPHABET}]{26}$`);

/** Two digits each: a txnId is made for every top-up, and of 26 digits. */
const PAIRS = Array.from({ length: 1024 }, (_, bits) => `${ALPHABET[bits >> 5]}${ALPHABET[bits & 31]}`);

/**
 * A txnId: 10 characters are the time of the record, so that ids sort by it and a range of txnIds is a range of time.
 * @param digits the other 16, from {@link randomDigits}: a new txnId for each pair of time and digits.
 */
export function formatTransactionId(at: Instant, digits: string): string {
  return timeDigits(at) + digits;
}

/** 16 characters that carry 80 random bits. @param random 10 bytes. */
export function randomDigits(random: Uint8Array): string {
  // Five bytes are eight digits.
  let text = "";
  for (let byte = 0; byte < TRANSACTION_ID_RANDOM_BYTES; byte += 5) {
    const [a, b, c] = [random[byte] ?? 0, random[byte + 1] ?? 0, random[byte + 2] ?? 0];
    const [d, e] = [random[byte + 3] ?? 0, random[byte + 4] ?? 0];
    text += PAIRS[(a << 2) | (b >> 6)];
    text += PAIRS[((b & 63) << 4) | (c >> 4)];
    text += PAIRS[((c & 15) << 6) | (d >> 2)];
    text += PAIRS[((d & 3) << 8) | e];
  }
  return text;
}

export function isTransactionId(text: string): boolean {
  return SHAPE.test(text);
}

/** No txnId of this time or later is less than it, and every earlier one is. A time before 1970 counts as its beginning. */
export function firstTransactionId(at: Instant): string {
  return timeDigits(Math.max(0, at));
}

function timeDigits(at: Instant): string {
  let text = "";
  for (let rest = at; text.length < 10; rest = Math.floor(rest / 1024)) text = PAIRS[rest % 1024] + text;
  return text;
}
