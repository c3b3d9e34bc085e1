import type { Instant } from "./wall-time.ts";

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
