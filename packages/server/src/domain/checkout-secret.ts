import { hash } from "node:crypto";
import type { Instant } from "./wall-time.ts";

/** A secret that signs checkoutIds. The store keeps it, and all processes share it. */
export interface CheckoutSecret {
  /** Number from 0 to 15. Every checkoutId contains it, so that checkouts stay valid after a rotation. */
  readonly id: number;
  readonly key: Uint8Array;
  readonly createdAt: Instant;
}

export const CHECKOUT_KEY_BYTES = 32;

/** Number of ids that a checkoutId can name. */
const SECRETS_KEPT = 16;

/** Delay before a new secret is used: by then every process knows it. */
export const SECRET_REST_MS = 10_000;

/** Greatest difference between the clocks of the processes. */
const CLOCK_TOLERANCE_MS = 60_000;

/** Longer than the life of a checkout plus the grace of txn-status. */
const ROTATION_PAUSE_MS = 10 * 60_000;

/**
 * The secret that signs new checkouts.
 * @param secrets newest first, at least one.
 */
export function sealingSecret(secrets: readonly CheckoutSecret[], now: Instant): CheckoutSecret {
  const rested = secrets.find(({ createdAt }) => now - createdAt >= SECRET_REST_MS);
  return rested ?? (secrets.at(-1) as CheckoutSecret);
}

/**
 * The last time at which a secret can have signed a checkout. After its successor took over, it opens only older
 * checkouts, so that a stolen previous secret cannot make valid ones.
 * @param secrets newest first.
 */
export function sealedUntil(secrets: readonly CheckoutSecret[], { id }: CheckoutSecret): Instant {
  const successor = secrets[secrets.findIndex((secret) => secret.id === id) - 1];
  return successor === undefined ? Number.POSITIVE_INFINITY : successor.createdAt + SECRET_REST_MS + CLOCK_TOLERANCE_MS;
}

/** There is no free number, and checkouts signed with the oldest secret may still be in use. */
type RotationRefusal = "too_soon";

export interface Rotation {
  readonly added: CheckoutSecret;
}

/**
 * Makes the next secret, which replaces the one with the same number. It is always younger than the newest one, even if
 * the clock was set back, because the newest one counts.
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
 * HMAC-SHA-256 (RFC 2104) of short messages by two one-shot digests. Node's own HMAC makes an object for each message,
 * which costs several times the hashing.
 */

const BLOCK_BYTES = 64;
const DIGEST_BYTES = 32;
const INNER_PAD = 0x36;
const OUTER_PAD = 0x5c;

/** Longest message. */
const MOST_BYTES = 1024;

/** The two padded key blocks, each with room for the message or the inner digest. */
interface Pads {
  readonly inner: Buffer;
  readonly outer: Buffer;
}

const padsOfKeys = new WeakMap<Uint8Array, Pads>();

/**
 * @param key at most 64 bytes. Pass the same object each time: its pads are cached by object.
 * @param message at most 1,024 bytes.
 * @returns 32 bytes as a string, one character each.
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
