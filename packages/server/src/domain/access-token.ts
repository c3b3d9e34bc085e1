import { hash } from "node:crypto";
import { crc32 } from "node:zlib";
import type { PartnerTerms } from "./account.ts";
import type { AddressList, Peer } from "./address-list.ts";
import type { Environment } from "./customer.ts";
import { done, type Refusal, type Result, refused } from "./failure.ts";
import type { PartnerLimits } from "./partner-limits.ts";
import { DAY_MS, type Instant } from "./wall-time.ts";

/** Validity of a trial token, exactly (docs/decisions.md, "Environments, partners and access tokens"). */
export const TRIAL_TOKEN_VALID_MS = 7 * DAY_MS;

export const ACCESS_TOKEN_RANDOM_BYTES = 32;

const PREFIX: Readonly<Record<Environment, string>> = { trial: "topup_trial_", production: "topup_live_" };
const SHAPE = /^topup_(?:trial|live)_[0-9A-Za-z]{49}$/;
const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const RANDOM_DIGITS = 43;
const CHECKSUM_DIGITS = 6;

export type PartnerStatus = "active" | "suspended";

/** Lines of a partner on papers. */
export const LEGAL_LINES = ["legalName", "address", "taxNumber", "contact"] as const;
export type LegalLines = { readonly [Line in (typeof LEGAL_LINES)[number]]?: string };

export interface Partner {
  readonly id: number;
  readonly name: string;
  readonly status: PartnerStatus;
  readonly createdAt: Instant;
  /** Addresses that may send requests; undefined means any. */
  readonly allowedAddresses: AddressList | undefined;
  /** Time of the first practice report without a complaint. */
  readonly certifiedAt: Instant | undefined;
  readonly limits: PartnerLimits;
  readonly terms: PartnerTerms;
  readonly legal: LegalLines;
}

/** Record of an access token. The token itself is shown once and never stored. */
export interface AccessToken {
  /** Name of the token for operators. It gives no access. */
  readonly id: string;
  readonly partner: Partner;
  readonly environment: Environment;
  readonly createdAt: Instant;
  /** First instant at which the token is invalid; undefined means valid until revoked. */
  readonly expiresAt: Instant | undefined;
  readonly revokedAt: Instant | undefined;
  /** Id of the token that replaces this one. */
  readonly replacedBy: string | undefined;
}

/** @param random 32 random bytes. */
export function formatAccessToken(environment: Environment, random: Uint8Array): string {
  return formatSecret(PREFIX[environment], random);
}

/** A secret with a recognisable prefix and a checksum at its end. @param random 32 random bytes. */
export function formatSecret(prefix: string, random: Uint8Array): string {
  const body = prefix + toBase62(BigInt(`0x${Buffer.from(random).toString("hex")}`), RANDOM_DIGITS);
  return body + checksum(body);
}

/** Checks form and checksum, so that a mistyped token costs no look-up. */
export function isAccessToken(text: string): boolean {
  return SHAPE.test(text) && hasChecksum(text);
}

/** Checks a secret that {@link formatSecret} made. */
export function hasChecksum(secret: string): boolean {
  const body = secret.slice(0, -CHECKSUM_DIGITS);
  return checksum(body) === secret.slice(-CHECKSUM_DIGITS);
}

/** SHA-256 is enough: tokens, API keys, session secrets and recovery codes are random. */
export function hashSecret(secret: string): Buffer {
  return Buffer.from(hash("sha256", secret, "binary"), "binary");
}

/**
 * Whether a token may be used now. The order of the checks is in docs/decisions.md, "Environments, partners and access
 * tokens".
 * @param isQuery true for txn-status, which a suspended partner can still call to close open orders.
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

/** The facts that end a token's validity. */
export type TokenState = Pick<AccessToken, "expiresAt" | "revokedAt"> & {
  readonly partner: Pick<Partner, "status" | "terms">;
};

/** Why the token is invalid now from any address; undefined if it is valid. */
export function refusalOfToken(token: TokenState | undefined, now: Instant): Refusal | undefined {
  if (token === undefined) return "unknown_token";
  if (token.revokedAt !== undefined) return "revoked_token";
  if (hasTokenEnded(token, now)) return "expired_token";
  return token.partner.status === "suspended" ? "partner_suspended" : undefined;
}

/** Whether the token has expired. A revocation is not checked here. */
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

/** How to replace a token. */
export interface Succession {
  /** Id of the new token. */
  readonly id: string;
  /** How long the old token stays valid beside the new one, in milliseconds. */
  readonly overlapMs: number;
  /** End of a new production token; `as_before` means the end of the old one, if any. */
  readonly expiresAt: Instant | "as_before";
}

export interface Rotation {
  readonly kind: "rotated";
  /** The replaced token, as it is from now on. */
  readonly former: AccessToken;
  readonly successor: AccessToken;
}

/** Nothing changed. `replaced`: the token already has a successor. Rotate that one. */
export interface RefusedRotation {
  readonly kind: "revoked" | "ended" | "replaced";
  readonly token: AccessToken;
}

/**
 * Replaces a token. A token has at most one successor, so that it is clear which new token counts.
 * A new trial token gets the full validity again.
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
