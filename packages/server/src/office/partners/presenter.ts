import { type AccessToken, hasTokenEnded, type Partner } from "../../domain/access-token.ts";
import { type Instant, isoTime, isoTimeOrNull } from "../../domain/wall-time.ts";
import { Refused } from "../refused.ts";

/* Partners and tokens as operations answer them. */

export function partnerData({ id, name, status, createdAt, allowedAddresses }: Partner) {
  const addresses = allowedAddresses === undefined ? null : [...allowedAddresses.ranges];
  return { id, name, status, createdAt: isoTime(createdAt), allowedAddresses: addresses };
}

/** @param lastUse the last request that was accepted; those of the last half minute may be missing. */
export function tokenData(token: AccessToken, now: Instant, lastUse?: Instant) {
  const { id, partner, environment, createdAt, expiresAt, revokedAt, replacedBy } = token;
  return {
    ...{ id, partner: partner.name, environment, state: tokenState(token, now), createdAt: isoTime(createdAt) },
    ...{ expiresAt: isoTimeOrNull(expiresAt), revokedAt: isoTimeOrNull(revokedAt) },
    ...{ replacedBy: replacedBy ?? null, lastUsedAt: isoTimeOrNull(lastUse) },
  };
}

export function tokenState(token: AccessToken, now: Instant): "valid" | "expired" | "revoked" {
  if (token.revokedAt !== undefined) return "revoked";
  return hasTokenEnded(token, now) ? "expired" : "valid";
}

/** @throws Refused */
export function noPartner(name: string): never {
  throw new Refused("not_found", `there is no partner named ${name}`);
}
