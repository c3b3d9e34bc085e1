import { refusalOfToken, type TokenState } from "./access-token.ts";
import { charge, type GuardedAccount, limitReached, NO_TERMS, type RefusedCharge, type SaleSums } from "./account.ts";
import { type BasePlans, type Catalogue, findPurchasable } from "./catalogue.ts";
import {
  type Checkout,
  type CheckoutHolder,
  isCheckoutExpired,
  isCheckoutFor,
  type RefusedCheckout,
  type RetiredCheckout,
} from "./checkout.ts";
import { commissionOf } from "./commission.ts";
import { type Connection, type ConnectionKey, openToSales, type WireStatus } from "./customer.ts";
import type { Refusal } from "./failure.ts";
import { appendGrant, type LedgerHead, type TopUpEntry } from "./ledger.ts";
import type { Money } from "./money.ts";
import { faultOf } from "./practice.ts";
import type { Transaction } from "./transaction.ts";
import type { Instant, Moment, WallTime } from "./wall-time.ts";

/**
 * Greatest age of a decision that may still be recorded. It is shorter than the grace of txn-status, so that
 * `never_topped_up` is a promise (docs/decisions.md, "txn-status").
 */
export const RECORDING_DEADLINE_MS = 30_000;

export function isTooLateToRecord(decidedAt: Instant, now: Instant): boolean {
  return now - decidedAt > RECORDING_DEADLINE_MS;
}

/** A partner's request; its checkoutId is authentic. */
export interface TopUpCommand extends ConnectionKey, CheckoutHolder {
  readonly checkoutId: string;
  readonly checkout: Checkout;
  readonly bouquetCode: string;
  readonly amount: Money;
  readonly udf1: string | undefined;
  readonly udf2: string | undefined;
  /** The random digits of the txnId. The other digits are the time of the decision. */
  readonly txnDigits: string;
  /** Id of the accepted access token; undefined in histories that topupd makes itself. */
  readonly tokenId: string | undefined;
}

/** All facts of the decision, read inside the transaction that records it. */
export interface TopUpSnapshot {
  readonly recorded: Transaction | undefined;
  readonly token: (tokenId: string) => TokenState | undefined;
  /** The account of the partner; undefined if it is not guarded. */
  readonly account: () => GuardedAccount | undefined;
  /** Top-ups of the partner today; called only if the partner has a limit a day. */
  readonly soldToday: () => Pick<SaleSums, "topUps" | "gross">;
  readonly customerStatus: WireStatus | undefined;
  readonly connection: Connection | undefined;
  /** Undefined unless the checkout is stored as retired. */
  readonly retired: RetiredCheckout | undefined;
  /** Time before which history was deleted; undefined if nothing was. Called only for expired checkouts. */
  readonly prunedBefore: () => Instant | undefined;
  /** The catalogue revision of the checkout; called only if needed. */
  readonly catalogue: () => Catalogue | undefined;
}

export type TopUpOutcome =
  | {
      readonly kind: "recorded";
      readonly transaction: Transaction;
      readonly plan: string;
      readonly entry: TopUpEntry;
      /** The balance after the top-up; undefined if the account is not guarded. */
      readonly balance: Money | undefined;
    }
  | { readonly kind: "replayed"; readonly transaction: Transaction }
  | RefusedTopUp;

export type RecordedTopUp = Extract<TopUpOutcome, { kind: "recorded" }>;

export interface RefusedTopUp {
  readonly kind: "refused";
  readonly refusal: Refusal;
  /** The checkout is retired: it was before, or must be stored so with this refusal. */
  readonly retired?: RetiredCheckout;
  /** The amount that the balance lacked, in the first refusal with `insufficient_balance`. */
  readonly missing?: Money | undefined;
}

/** How many months ahead a connection can be paid. */
export const DEFAULT_MONTHS_AHEAD = 36;
export const MOST_MONTHS_AHEAD = 12_000;

/** The provider's rules for every top-up. */
export interface SaleRules {
  readonly basePlans: BasePlans;
  /** The latest end that a top-up may reach. */
  readonly latestEnd: WallTime;
}

/** The outcome once it is durable. */
export type SettledTopUp =
  | { readonly kind: "recorded"; readonly transaction: Transaction }
  | Exclude<TopUpOutcome, { kind: "recorded" }>;

/**
 * Decides a top-up. The order of the checks is in docs/decisions.md, "Top-ups": recorded before, refused by balance or limit
 * before, token and partner, deleted history, expired checkout, business rules, limits, balance.
 */
export function decideTopUp(
  snapshot: TopUpSnapshot,
  command: TopUpCommand,
  now: Moment,
  { basePlans, latestEnd }: SaleRules,
): TopUpOutcome {
  const { recorded, token, retired, prunedBefore, customerStatus, connection: found, catalogue } = snapshot;
  if (recorded !== undefined) return decideAgain(recorded, command);
  if (retired?.refused !== undefined) return refuseAgain(retired);
  const { tokenId } = command;
  const state = tokenId === undefined ? undefined : token(tokenId);
  const lost = tokenId === undefined ? undefined : refusalOfToken(state, now.instant);
  if (lost !== undefined) return refuse(lost);
  const hasExpired = isCheckoutExpired(command.checkout, now.instant);
  if (retired !== undefined || hasExpired) {
    // The history of that time was deleted, so it is unknown whether the checkout was used.
    if (command.checkout.issuedAt < (prunedBefore() ?? 0)) return refuse("checkout_unknown");
    return { ...refuse("checkout_expired"), retired: retired ?? { retiredAt: now.instant, refused: undefined } };
  }
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
  const { limits, commission } = state?.partner.terms ?? NO_TERMS;
  const today = now.wall.slice(0, "YYYY-MM-DD".length);
  const transaction = transactionOf(command, now, commissionOf(commission, command, today));
  const topUp = { kind: "top_up", txnId: transaction.txnId, bouquet: { code, name, addOn }, period } as const;
  const entry = appendGrant(head, topUp, now);
  const isTooFar = entry.after.end > latestEnd;
  const charged = isTooFar
    ? limitReached("paid_ahead")
    : (chargeInPractice(command) ?? charge(snapshot.account(), limits, transaction, snapshot.soldToday));
  if (!charged.ok) return refuseForMoney(charged, command, now.instant);
  return { kind: "recorded", transaction, plan, entry, balance: charged.balance };
}

/** Answers a repeated request: the same request gets the recorded result, any other is refused. */
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

/** Answers every later request after a refusal by balance or limit: nothing with its checkout can succeed any more. */
export function refuseAgain(retired: RefusedCheckout): RefusedTopUp {
  return { ...refuse(retired.refused.reason), retired };
}

/** The record of a top-up that is decided now. */
export function transactionOf(
  command: TopUpCommand,
  { instant: at, wall: txnDate }: Moment,
  commission: Money,
): Transaction {
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
    commission,
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

/** The refusal of the connections where partners practise it; undefined for all others. */
function chargeInPractice(command: TopUpCommand): RefusedCharge | undefined {
  const refusal = faultOf(command)?.refusal;
  if (refusal === "insufficient_balance") return { ok: false, refusal, missing: command.amount };
  return refusal === "limit_reached" ? { ok: false, refusal, limit: "day_amount" } : undefined;
}

function refuseForMoney(
  { refusal: reason, limit, missing }: RefusedCharge,
  { partnerId, environment, amount }: TopUpCommand,
  retiredAt: Instant,
): RefusedTopUp {
  const refused = { partnerId, environment, amount, reason, limit };
  return { ...refuse(reason), retired: { retiredAt, refused }, missing };
}

export const TRANSACTION_ID_RANDOM_BYTES = 10;

/** Crockford's alphabet: without letters that can be confused with digits. */
const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

const SHAPE = new RegExp(`^[${ALPHABET}]{26}$`);

/** All pairs of digits, since a txnId is made for every top-up. */
const PAIRS = Array.from({ length: 1024 }, (_, bits) => `${ALPHABET[bits >> 5]}${ALPHABET[bits & 31]}`);

/**
 * A txnId: 10 characters of time, so that ids sort by time, and 16 random ones.
 * @param digits the random ones, from {@link randomDigits}. The pair of time and digits must be new.
 */
export function formatTransactionId(at: Instant, digits: string): string {
  return timeDigits(at) + digits;
}

/** 16 characters that carry 80 random bits. @param random 10 bytes. */
export function randomDigits(random: Uint8Array): string {
  // Five bytes make eight digits.
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

/** The least txnId of this time: every earlier txnId is less. A time before 1970 counts as 1970. */
export function firstTransactionId(at: Instant): string {
  return timeDigits(Math.max(0, at));
}

function timeDigits(at: Instant): string {
  let text = "";
  for (let rest = at; text.length < 10; rest = Math.floor(rest / 1024)) text = PAIRS[rest % 1024] + text;
  return text;
}
