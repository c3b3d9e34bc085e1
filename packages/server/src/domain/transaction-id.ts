import type { Instant } from "./calendar.ts";

export const TRANSACTION_ID_RANDOM_BYTES = 10;

/** Crockford's alphabet: no letter that reads as a digit over the telephone. */
const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/**
 * A txnId: 26 characters, of which 10 are the time, so that ids sort by it, and 16 carry 80 random bits.
 * @param random 10 random bytes.
 */
export function formatTransactionId(at: Instant, random: Uint8Array): string {
  return toBase32(BigInt(at), 10) + toBase32(BigInt(`0x${Buffer.from(random).toString("hex")}`), 16);
}

function toBase32(value: bigint, digits: number): string {
  let text = "";
  for (let rest = value; text.length < digits; rest >>= 5n) text = ALPHABET[Number(rest & 31n)] + text;
  return text;
}
