import { hash, timingSafeEqual } from "node:crypto";
import { type CheckoutSecret, hmacSha256, sealedUntil } from "./checkout-secret.ts";
import type { ConnectionKey, Environment } from "./customer.ts";
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
  retiredAt: Instant | undefined,
  prunedBefore: Instant | undefined,
  now: Instant,
): "pruned" | "retire" | "retired" {
  const issuedAt = checkoutIssuedAt(checkoutId);
  if (prunedBefore !== undefined && (issuedAt ?? now) < prunedBefore) return "pruned";
  // A refused top-up may have retired the checkout before its grace ended.
  const wasDead = retiredAt !== undefined && (issuedAt === undefined || isCheckoutDead({ issuedAt }, retiredAt));
  return wasDead ? "retired" : "retire";
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
