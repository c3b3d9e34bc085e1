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
export type RotationRefusal = "too_soon";

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
