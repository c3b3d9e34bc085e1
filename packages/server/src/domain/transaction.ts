import type { ConnectionKey } from "./customer.ts";
import type { Money } from "./money.ts";
import type { Instant, Moment, WallTime } from "./wall-time.ts";

export const TRANSACTION_STATUSES = ["success", "reversed"] as const;

export type TransactionStatus = (typeof TRANSACTION_STATUSES)[number];

/** The values of a partner's request that stay on record. */
export interface RequestedTopUp extends ConnectionKey {
  readonly checkoutId: string;
  readonly partnerId: number;
  readonly bouquetCode: string;
  readonly amount: Money;
  readonly udf1?: string | undefined;
  readonly udf2?: string | undefined;
}

/** A recorded top-up. */
export interface Transaction extends Required<RequestedTopUp> {
  readonly txnId: string;
  /** The part of the amount that the partner keeps, fixed at the top-up. */
  readonly commission: Money;
  readonly at: Instant;
  /** Wall time of the record. Replays return it unchanged, and it decides the day of settlement. */
  readonly txnDate: WallTime;
  readonly status: TransactionStatus;
}

/**
 * The record of a top-up that is decided now.
 * @param txnDigits the random digits of the txnId.
 */
export function transactionOf(
  requested: RequestedTopUp & { readonly txnDigits: string },
  { instant: at, wall: txnDate }: Moment,
  commission: Money,
): Transaction {
  const { checkoutId, partnerId, environment, cuid, service, reqId, bouquetCode, amount, udf1, udf2 } = requested;
  return {
    checkoutId,
    txnId: formatTransactionId(at, requested.txnDigits),
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

export const TRANSACTION_ID_RANDOM_BYTES = 10;

/** Crockford's alphabet: without letters that can be confused with digits. */
const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

const SHAPE = new RegExp(`^[${ALPHABET}]{26}$`);
/** The console's lists show six characters. */
const END = new RegExp(`^[${ALPHABET}]{6,25}$`);

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

/** Whether a text can be the end of a txnId by which staff search for it. */
export function isTransactionIdEnd(text: string): boolean {
  return END.test(text);
}

/** The least txnId of this time: every earlier txnId is less. A time before 1970 counts as 1970. */
export function firstTransactionId(at: Instant): string {
  return timeDigits(Math.max(0, at));
}

/** The time in a txnId: that of the record. */
export function transactionTime(txnId: string): Instant {
  let at = 0;
  for (const digit of txnId.slice(0, 10)) at = at * 32 + ALPHABET.indexOf(digit);
  return at;
}

function timeDigits(at: Instant): string {
  let text = "";
  for (let rest = at; text.length < 10; rest = Math.floor(rest / 1024)) text = PAIRS[rest % 1024] + text;
  return text;
}
