import type { Instant } from "./calendar.ts";

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

/**
 * Whether what names a secret, and was issued at a time, can have been sealed with no other. None is given up before there
 * is no room for one more: as long as there is, each has its number alone. Later, another had the number before it, and
 * the clocks by which both times were taken may have been wrong.
 * @param secrets newest first.
 */
export function mustHaveSealed(secrets: readonly CheckoutSecret[], secret: CheckoutSecret, issuedAt: Instant): boolean {
  if (secrets.length < SECRETS_KEPT) return true;
  return issuedAt >= secret.createdAt + ROTATION_PAUSE_MS && issuedAt <= sealedUntil(secrets, secret);
}

/** Why no secret is added. */
export type RotationRefusal =
  /** Checkouts may still be in use that the oldest one sealed, and there is no room for one more. */
  | "too_soon"
  /** The newest is of a time to come: a clock was ahead then, or this one is behind, and nothing here knows which. */
  | { readonly kind: "secret_ahead"; readonly until: Instant }
  /** So are top-ups on record: their checkoutIds would not be opened any more if the secrets were of today. */
  | { readonly kind: "top_ups_ahead"; readonly until: Instant };

export interface Rotation {
  readonly added: CheckoutSecret;
  /** Those that were of a time to come, as they are from now on. */
  readonly redated: readonly CheckoutSecret[];
}

export interface RotationRequest {
  readonly key: Uint8Array;
  readonly now: Instant;
  /** Somebody has looked at the clock: what is of a time to come was made by one that was ahead. */
  readonly isClockRight: boolean;
  /** When the newest top-up was recorded; undefined where there is none. */
  readonly newestTopUp: Instant | undefined;
}

/**
 * One more secret, which takes the place of the oldest where there is no room. It is never older than the
 * newest one: the newest is the one that counts. Where that is far ahead of the clock, and the clock is right, it would
 * seal nothing for so long, and what was stolen would be good until then: so those from ahead become today's, and each
 * former one is closed with them.
 * @param secrets newest first, at least one.
 */
export function rotation(
  secrets: readonly CheckoutSecret[],
  { key, now, isClockRight, newestTopUp }: RotationRequest,
): Rotation | RotationRefusal {
  const [newest] = secrets as [CheckoutSecret];
  if (newest.createdAt <= now + ROTATION_PAUSE_MS) return withOneMore(secrets, [], key, now);
  if (!isClockRight) return { kind: "secret_ahead", until: newest.createdAt };
  if (newestTopUp !== undefined && newestTopUp > now + CLOCK_TOLERANCE_MS)
    return { kind: "top_ups_ahead", until: newestTopUp };
  const others = secrets.filter(({ createdAt }) => createdAt <= now);
  const ahead = secrets.slice(0, secrets.length - others.length);
  // In their order, after the others.
  const redated = ahead.map((secret, index) => ({ ...secret, createdAt: now + ahead.length - index }));
  return withOneMore([...redated, ...others], redated, key, now);
}

function withOneMore(
  secrets: readonly CheckoutSecret[],
  redated: readonly CheckoutSecret[],
  key: Uint8Array,
  now: Instant,
): Rotation | "too_soon" {
  const [newest] = secrets as [CheckoutSecret];
  const createdAt = Math.max(now, newest.createdAt + 1);
  const evicted = secrets.length < SECRETS_KEPT ? undefined : secrets.at(-1);
  if (evicted === undefined) return { added: { id: freeId(secrets, newest), key, createdAt }, redated };
  const isIdle = now >= sealedUntil(secrets, evicted) + ROTATION_PAUSE_MS;
  const kept = redated.filter(({ id }) => id !== evicted.id);
  return isIdle ? { added: { id: evicted.id, key, createdAt }, redated: kept } : "too_soon";
}

function freeId(secrets: readonly CheckoutSecret[], newest: CheckoutSecret): number {
  const taken = new Set(secrets.map(({ id }) => id));
  for (let step = 1; ; step += 1) {
    const id = (newest.id + step) % SECRETS_KEPT;
    if (!taken.has(id)) return id;
  }
}
