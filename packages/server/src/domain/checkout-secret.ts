import { hash } from "node:crypto";
import type { Instant } from "./wall-time.ts";

/** One of the secrets with which checkoutIds are sealed. Kept in the store, shared by all processes. */
export interface CheckoutSecret {
  /** 0 to 15: it travels in the checkoutId, so that checkouts outlive a change of secret. */
  readonly id: number;
  readonly key: Uint8Array;
  readonly createdAt: Instant;
}

export const CHECKOUT_KEY_BYTES = 32;

/** As many as a checkoutId can name. */
const SECRETS_KEPT = 16;

/** A new secret seals nothing for so long: by then every process knows it, and opens what another sealed with it. */
export const SECRET_REST_MS = 10_000;

/** How far the clocks of the processes may be apart. */
const CLOCK_TOLERANCE_MS = 60_000;

/** Longer than a checkout lives, and txn-status doubts it. */
const ROTATION_PAUSE_MS = 10 * 60_000;

/**
 * The secret that seals new checkouts.
 * @param secrets newest first, at least one.
 */
export function sealingSecret(secrets: readonly CheckoutSecret[], now: Instant): CheckoutSecret {
  const rested = secrets.find(({ createdAt }) => now - createdAt >= SECRET_REST_MS);
  return rested ?? (secrets.at(-1) as CheckoutSecret);
}

/**
 * Until when a secret can have sealed a checkout: once its successor has taken over, it opens what was
 * issued before, and nothing else. Whoever stole a former secret can make no checkout with it that is still good.
 * @param secrets newest first.
 */
export function sealedUntil(secrets: readonly CheckoutSecret[], { id }: CheckoutSecret): Instant {
  const successor = secrets[secrets.findIndex((secret) => secret.id === id) - 1];
  return successor === undefined ? Number.POSITIVE_INFINITY : successor.createdAt + SECRET_REST_MS + CLOCK_TOLERANCE_MS;
}

/** Checkouts may still be in use that the oldest one sealed, and there is no room for one more. */
type RotationRefusal = "too_soon";

export interface Rotation {
  readonly added: CheckoutSecret;
}

/**
 * One more secret; it takes the place of the one that has its number. It is younger than the newest one, whatever the clock
 * shows: the newest is the one that counts.
 * @param secrets newest first, at least one.
 */
export function rotation(
  secrets: readonly CheckoutSecret[],
  key: Uint8Array,
  now: Instant,
): Rotation | RotationRefusal {
  const [newest] = secrets as [CheckoutSecret];
  const id = (newest.id + 1) % SECRETS_KEPT;
  const evicted = secrets.find((secret) => secret.id === id);
  if (evicted !== undefined && now < sealedUntil(secrets, evicted) + ROTATION_PAUSE_MS) return "too_soon";
  return { added: { id, key, createdAt: Math.max(now, newest.createdAt + 1) } };
}

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
