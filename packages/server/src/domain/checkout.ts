import { hash, timingSafeEqual } from "node:crypto";
import type { LimitName, RefusedCharge } from "./account.ts";
import type { ConnectionKey, Environment } from "./customer.ts";
import type { Money } from "./money.ts";
import type { Instant } from "./wall-time.ts";

/** Validity of a checkout, this millisecond included (docs/decisions.md, "Checkouts"). */
export const CHECKOUT_VALID_MS = 300_000;
/** How long after expiry txn-status answers `never_topped_up` (docs/decisions.md, "txn-status"). */
export const CHECKOUT_GRACE_MS = 60_000;

/** The partner and environment that a checkout was issued to. */
export interface CheckoutHolder {
  readonly partnerId: number;
  readonly environment: Environment;
}

/** A checkout that can record nothing any more. Without a refusal by balance or limit, it had expired. */
export type RetiredCheckout = RefusedCheckout | { readonly retiredAt: Instant; readonly refused: undefined };

/** A checkout whose outcome is a refusal by balance or limit: every later request with it gets the same refusal. */
export interface RefusedCheckout {
  readonly retiredAt: Instant;
  readonly refused: RefusedForMoney;
}

export interface RefusedForMoney extends CheckoutHolder {
  readonly reason: RefusedCharge["refusal"];
  /** The limit of `limit_reached`. */
  readonly limit: LimitName | undefined;
  /** Amount of the refused top-up. */
  readonly amount: Money;
}

/** Content of an authentic checkoutId. */
export interface Checkout {
  readonly issuedAt: Instant;
  /** The catalogue revision of the quoted prices. */
  readonly revision: number;
}

/*
 * The 48 bytes of a checkoutId, written as 64 characters of base64url without padding:
 *
 *    0  format (high half) and secret id (low half)
 *    1  issue time, milliseconds, 48 bits: first, so that a store's index grows at its end
 *    7  catalogue revision, 24 bits
 *   10  customer digest, 32 bits
 *   14  connection digest, 48 bits
 *   20  nonce, 128 random bits
 *   36  HMAC-SHA-256 over the holder and all fields above, first 96 bits
 */
const FORMAT = 1;
export const CHECKOUT_NONCE_BYTES = 16;
const SEALED_BYTES = 36;
const TOTAL_BYTES = 48;
/** The first character contains the four bits of the format. */
const SHAPE = /^[E-H][A-Za-z0-9_-]{63}$/;

/**
 * Issues a checkoutId. It is authenticated by its HMAC: nothing is stored.
 * @param nonce 16 random bytes, never used before.
 */
export function issueCheckout(
  secret: CheckoutSecret,
  holder: CheckoutHolder,
  connection: ConnectionKey,
  quote: { readonly revision: number; readonly issuedAt: Instant; readonly nonce: Uint8Array },
): string {
  const bytes = Buffer.alloc(TOTAL_BYTES);
  bytes.writeUInt8((FORMAT << 4) | secret.id, 0);
  bytes.writeUIntBE(quote.issuedAt, 1, 6);
  bytes.writeUIntBE(quote.revision, 7, 3);
  bytes.writeUInt32BE(customerDigest(connection), 10);
  bytes.set(digestConnection(connection, quote.nonce), 14);
  bytes.set(quote.nonce, 20);
  bytes.set(seal(secret, holder, bytes), SEALED_BYTES);
  return bytes.toString("base64url");
}

/**
 * Opens a checkoutId.
 * @param secrets newest first.
 * @returns undefined if the checkoutId was not issued here, was altered, or belongs to another partner or environment.
 * Partners must not learn which.
 */
export function openCheckout(
  secrets: readonly CheckoutSecret[],
  holder: CheckoutHolder,
  checkoutId: string,
): Checkout | undefined {
  const bytes = bytesOf(checkoutId);
  const secret = secrets.find(({ id }) => bytes?.readUInt8(0) === ((FORMAT << 4) | id));
  if (bytes === undefined || secret === undefined) return undefined;
  if (!timingSafeEqual(seal(secret, holder, bytes), bytes.subarray(SEALED_BYTES))) return undefined;
  const issuedAt = bytes.readUIntBE(1, 6);
  return issuedAt > sealedUntil(secrets, secret) ? undefined : { issuedAt, revision: bytes.readUIntBE(7, 3) };
}

/** Whether a value has the form of a checkoutId. No token, name or number has that form. */
export function looksIssued(checkoutId: unknown): checkoutId is string {
  return typeof checkoutId === "string" && SHAPE.test(checkoutId);
}

/* Content of a checkoutId, authentic or not; no secret is needed. Undefined or false if the text has another form. */

export function customerDigestIn(checkoutId: string): number | undefined {
  return bytesOf(checkoutId)?.readUInt32BE(10);
}

export function checkoutIssuedAt(checkoutId: string): Instant | undefined {
  return bytesOf(checkoutId)?.readUIntBE(1, 6);
}

export function isCheckoutFor(checkoutId: string, connection: ConnectionKey): boolean {
  const bytes = bytesOf(checkoutId);
  return (
    bytes !== undefined &&
    bytes.readUInt32BE(10) === customerDigest(connection) &&
    timingSafeEqual(bytes.subarray(14, 20), digestConnection(connection, bytes.subarray(20, SEALED_BYTES)))
  );
}

export function isCheckoutExpired(checkout: Checkout, now: Instant): boolean {
  return now - checkout.issuedAt > CHECKOUT_VALID_MS;
}

/**
 * What must happen before txn-status answers that an unused checkout will never have a top-up. `retire`: store it as
 * retired first. `retired`: that is done. `pruned`: its history was deleted, so the answer is unknown.
 */
export function concludeUnused(
  checkoutId: string,
  retired: RetiredCheckout | undefined,
  prunedBefore: Instant | undefined,
  now: Instant,
): "pruned" | "retire" | "retired" {
  const issuedAt = checkoutIssuedAt(checkoutId);
  if (prunedBefore !== undefined && (issuedAt ?? now) < prunedBefore) return "pruned";
  // A clock that was ahead may have retired the checkout before its grace ended.
  const wasDead = ({ retiredAt, refused }: RetiredCheckout) =>
    refused !== undefined || issuedAt === undefined || isCheckoutDead({ issuedAt }, retiredAt);
  return retired !== undefined && wasDead(retired) ? "retired" : "retire";
}

/** True once no top-up can be recorded any more, including one that was decided just before the expiry. */
export function isCheckoutDead(checkout: Pick<Checkout, "issuedAt">, now: Instant): boolean {
  return now - checkout.issuedAt > CHECKOUT_VALID_MS + CHECKOUT_GRACE_MS;
}

function bytesOf(checkoutId: string): Buffer | undefined {
  return looksIssued(checkoutId) ? Buffer.from(checkoutId, "base64url") : undefined;
}

/** Shared buffer for hashing: allocating one for each checkout takes longer than the hash. */
const scratch = Buffer.alloc(4_096);

function seal(secret: CheckoutSecret, { partnerId, environment }: CheckoutHolder, bytes: Buffer): Buffer {
  const length = scratch.write(`${environment}:${partnerId}:`);
  bytes.copy(scratch, length, 0, SEALED_BYTES);
  const digest = hmacSha256(secret.key, scratch.subarray(0, length + SEALED_BYTES));
  return Buffer.from(digest.slice(0, TOTAL_BYTES - SEALED_BYTES), "binary");
}

/** A 32-bit digest that lets a store on several machines find a customer's rows. */
export function customerDigest({ environment, cuid }: Pick<ConnectionKey, "environment" | "cuid">): number {
  return Number.parseInt(hash("sha256", `${environment}:${cuid}`, "hex").slice(0, 8), 16);
}

/** The nonce is the salt, so that two checkouts do not show that they have the same connection. */
function digestConnection({ cuid, service, reqId }: ConnectionKey, nonce: Uint8Array): Buffer {
  scratch.set(nonce);
  const length = nonce.length + scratch.write(JSON.stringify([cuid, service, reqId]), nonce.length);
  return Buffer.from(hash("sha256", scratch.subarray(0, length), "binary").slice(0, 6), "binary");
}

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
