import type { Instant } from "./calendar.ts";

export const TRANSACTION_ID_RANDOM_BYTES = 10;

/** Crockford's alphabet: no letter that reads as a digit over the telephone. */
const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/**
 * A txnId: 26 characters, of which 10 are the time, so that ids sort by it, and 16 carry 80 random bits.
 * @param random 10 random bytes.
 */
export function formatTransactionId(at: Instant, random: Uint8Array): string {
  return timeDigits(at) + randomDigits(random);
}

function timeDigits(at: Instant): string {
  let text = "";
  for (let rest = at; text.length < 10; rest = Math.floor(rest / 32)) text = ALPHABET[rest % 32] + text;
  return text;
}

/** Five bytes are eight digits. */
function randomDigits(random: Uint8Array): string {
  let text = "";
  for (let byte = 0; byte < TRANSACTION_ID_RANDOM_BYTES; byte += 5) {
    const [a = 0, b = 0, c = 0, d = 0, e = 0] = random.subarray(byte, byte + 5);
    const digits = [
      a >> 3,
      (a << 2) | (b >> 6),
      b >> 1,
      (b << 4) | (c >> 4),
      (c << 1) | (d >> 7),
      d >> 2,
      (d << 3) | (e >> 5),
      e,
    ];
    for (const digit of digits) text += ALPHABET[digit & 31];
  }
  return text;
}
