import { hash } from "node:crypto";
import { crc32 } from "node:zlib";
import type { AddressList, Peer } from "./address-list.ts";
import type { Environment } from "./customer.ts";
import { done, type Refusal, type Result, refused } from "./failure.ts";
import { DAY_MS, type Instant } from "./wall-time.ts";

/** A trial token ends exactly this long after its issue (interface, section 5). */
export const TRIAL_TOKEN_VALID_MS = 7 * DAY_MS;

export const ACCESS_TOKEN_RANDOM_BYTES = 32;

const PREFIX: Readonly<Record<Environment, string>> = { trial: "topup_trial_", production: "topup_live_" };
const SHAPE = /^topup_(?:trial|live)_[0-9A-Za-z]{49}$/;
const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const RANDOM_DIGITS = 43;
const CHECKSUM_DIGITS = 6;

export type PartnerStatus = "active" | "suspended";

export interface Partner {
  readonly id: number;
  readonly name: string;
  readonly status: PartnerStatus;
  readonly createdAt: Instant;
  /** From where requests may come; undefined where they may from anywhere. */
  readonly allowedAddresses: AddressList | undefined;
}

/** What is kept of an access token. The token itself is shown once and stored nowhere. */
export interface AccessToken {
  /** Names the token to operators; of no use to a thief. */
  readonly id: string;
  readonly partner: Partner;
  readonly environment: Environment;
  readonly createdAt: Instant;
  /** The first instant at which it no longer holds; undefined where it lasts until revoked. */
  readonly expiresAt: Instant | undefined;
  readonly revokedAt: Instant | undefined;
  /** The id of the token that was issued to take its place. */
  readonly replacedBy: string | undefined;
}

/** @param random 32 random bytes. */
export function formatAccessToken(environment: Environment, random: Uint8Array): string {
  return formatSecret(PREFIX[environment], random);
}

/** A secret that whoever finds it can tell by its prefix, with a checksum at its end. @param random 32 random bytes. */
export function formatSecret(prefix: string, random: Uint8Array): string {
  const body = prefix + toBase62(BigInt(`0x${Buffer.from(random).toString("hex")}`), RANDOM_DIGITS);
  return body + checksum(body);
}

/** Tells a token from any other text by form and checksum, so that typing errors cost no look-up. */
export function isAccessToken(text: string): boolean {
  return SHAPE.test(text) && hasChecksum(text);
}

/** Of what {@link formatSecret} made. */
export function hasChecksum(secret: string): boolean {
  const body = secret.slice(0, -CHECKSUM_DIGITS);
  return checksum(body) === secret.slice(-CHECKSUM_DIGITS);
}

/** SHA-256: enough for a secret of 256 random bits, which no dictionary holds. */
export function hashAccessToken(token: string): Buffer {
  return Buffer.from(hash("sha256", token, "binary"), "binary");
}

/**
 * Whether a token that is on record may be used now (decisions, "Failures").
 * @param isQuery whether for txn-status, which a suspended partner can still call: open orders must end.
 */
export function admitAccessToken(
  token: AccessToken | undefined,
  now: Instant,
  peer: Peer,
  isQuery = false,
): Result<AccessToken> {
  const refusal = refusalOfToken(token, now);
  const isOpen = refusal === undefined || (refusal === "partner_suspended" && isQuery);
  if (token === undefined || !isOpen) return refused(refusal ?? "unknown_token");
  const { allowedAddresses } = token.partner;
  if (allowedAddresses !== undefined && !allowedAddresses.has(peer.ip)) return refused("address_not_allowed");
  return done(token);
}

/** What takes a token's rights away. */
export type TokenState = Pick<AccessToken, "expiresAt" | "revokedAt"> & { readonly partner: Pick<Partner, "status"> };

/** Why nobody may use a token now, from whatever address; undefined if its partner may. */
export function refusalOfToken(token: TokenState | undefined, now: Instant): Refusal | undefined {
  if (token === undefined) return "unknown_token";
  if (token.revokedAt !== undefined) return "revoked_token";
  if (hasTokenEnded(token, now)) return "expired_token";
  return token.partner.status === "suspended" ? "partner_suspended" : undefined;
}

/** Whether it was revoked before is another question. */
export function hasTokenEnded({ expiresAt }: Pick<AccessToken, "expiresAt">, now: Instant): boolean {
  return expiresAt !== undefined && expiresAt <= now;
}

function checksum(body: string): string {
  return toBase62(BigInt(crc32(body)), CHECKSUM_DIGITS);
}

function toBase62(value: bigint, digits: number): string {
  let text = "";
  for (let rest = value; text.length < digits; rest /= 62n) text = ALPHABET[Number(rest % 62n)] + text;
  return text;
}

/** What is to take the place of a token. */
export interface Succession {
  /** Of the new token. */
  readonly id: string;
  /** For how long the old token holds beside the new one, in milliseconds. */
  readonly overlapMs: number;
  /** When a new production token ends; `as_before` is when the old one would have ended, if ever. */
  readonly expiresAt: Instant | "as_before";
}

export interface Rotation {
  readonly kind: "rotated";
  /** As it is from now on. */
  readonly former: AccessToken;
  readonly successor: AccessToken;
}

/** Nothing has changed. `replaced`: there is a successor already, which is the one to be rotated. */
export interface RefusedRotation {
  readonly kind: "revoked" | "ended" | "replaced";
  readonly token: AccessToken;
}

/**
 * Replaces a token (decisions, "Environments and access tokens"). Each has one successor at most: else nobody would know
 * which new token counts.
 */
export function rotateAccessToken(token: AccessToken, to: Succession, at: Instant): Rotation | RefusedRotation {
  if (token.revokedAt !== undefined) return { kind: "revoked", token };
  if (hasTokenEnded(token, at)) return { kind: "ended", token };
  if (token.replacedBy !== undefined) return { kind: "replaced", token };
  const usual = to.expiresAt === "as_before" ? token.expiresAt : to.expiresAt;
  const expiresAt = token.environment === "trial" ? at + TRIAL_TOKEN_VALID_MS : usual;
  const end = Math.min(at + to.overlapMs, token.expiresAt ?? Number.POSITIVE_INFINITY);
  return {
    kind: "rotated",
    former: { ...token, expiresAt: end, replacedBy: to.id },
    successor: { ...token, id: to.id, createdAt: at, expiresAt },
  };
}
