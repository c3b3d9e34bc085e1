import { type AccessToken, hasTokenEnded, TRIAL_TOKEN_VALID_MS } from "./access-token.ts";
import type { Instant } from "./wall-time.ts";

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
