import { hash } from "node:crypto";

/*
 * HMAC-SHA-256 (RFC 2104) of short messages, by two digests that are taken at one go: to make an object for each
 * message, as the runtime's own HMAC does, costs several times the hashing itself.
 */

const BLOCK_BYTES = 64;
const DIGEST_BYTES = 32;
const INNER_PAD = 0x36;
const OUTER_PAD = 0x5c;

/** Messages are short: a longer one is refused. */
const MOST_BYTES = 1024;

/** The two blocks that a key makes, each with room behind it: for the message, and for the inner digest. */
interface Pads {
  readonly inner: Buffer;
  readonly outer: Buffer;
}

const padsOfKeys = new WeakMap<Uint8Array, Pads>();

/**
 * @param key at most 64 bytes, and the same object each time: what it comes to is remembered.
 * @param message at most 1,024 bytes.
 * @returns the 32 bytes, as a string of one character each.
 */
export function hmacSha256(key: Uint8Array, message: Uint8Array): string {
  const { inner, outer } = padsOf(key);
  if (message.length > MOST_BYTES) throw new RangeError("the message is too long");
  inner.set(message, BLOCK_BYTES);
  const digest = hash("sha256", inner.subarray(0, BLOCK_BYTES + message.length), "binary");
  outer.write(digest, BLOCK_BYTES, "binary");
  return hash("sha256", outer, "binary");
}

function padsOf(key: Uint8Array): Pads {
  const known = padsOfKeys.get(key);
  if (known !== undefined) return known;
  if (key.length > BLOCK_BYTES) throw new RangeError("the key is longer than a block");
  const padded = (byte: number, bytes: number) =>
    Buffer.alloc(bytes)
      .fill(byte, 0, BLOCK_BYTES)
      .map((pad, at) => pad ^ (key[at] ?? 0)) as Buffer;
  const pads = {
    inner: padded(INNER_PAD, BLOCK_BYTES + MOST_BYTES),
    outer: padded(OUTER_PAD, BLOCK_BYTES + DIGEST_BYTES),
  };
  padsOfKeys.set(key, pads);
  return pads;
}
