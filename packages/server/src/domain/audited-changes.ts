import type { AccessToken, Partner, PartnerStatus } from "./access-token.ts";
import type { AddressList } from "./address-list.ts";
import type { AuditedChange } from "./audit.ts";
import type { Rotation } from "./checkout-secret.ts";
import type { Environment } from "./customer.ts";
import type { Instant } from "./wall-time.ts";

/*
 * What the audit trail keeps of a change of partners, tokens, secrets and catalogues. Nothing here is secret:
 * tokens are named by their ids, and secrets by their numbers.
 */

export function partnerAdded({ name, id, status }: Partner): AuditedChange {
  return { action: "partner.add", subject: name, before: undefined, after: { id, status } };
}

export function partnerStatusSet({ name, status: before }: Partner, after: PartnerStatus): AuditedChange {
  const action = after === "suspended" ? "partner.suspend" : "partner.resume";
  return { action, subject: name, before: { status: before }, after: { status: after } };
}

/** The ranges; null where requests may come from anywhere. */
export function partnerAllowed({ name, allowedAddresses }: Partner, after: AddressList | undefined): AuditedChange {
  const of = (list: AddressList | undefined) => ({ addresses: list?.ranges ?? null });
  return { action: "partner.allow", subject: name, before: of(allowedAddresses), after: of(after) };
}

export function tokenIssued({ id, partner, environment, expiresAt }: AccessToken): AuditedChange {
  const after = { partner: partner.name, environment, expiresAt: isoOrNull(expiresAt) };
  return { action: "token.issue", subject: id, before: undefined, after };
}

export function tokenRevoked({ id, partner, environment }: AccessToken, at: Instant): AuditedChange {
  const of = { partner: partner.name, environment };
  const [before, after] = [
    { ...of, revokedAt: null },
    { ...of, revokedAt: isoOrNull(at) },
  ];
  return { action: "token.revoke", subject: id, before, after };
}

/** The old token's part; that the new one was issued is an entry of its own. */
export function tokenRotated(before: AccessToken, after: AccessToken): AuditedChange {
  const of = ({ partner, environment, expiresAt, replacedBy }: AccessToken) => {
    const successor = replacedBy ?? null;
    return { partner: partner.name, environment, expiresAt: isoOrNull(expiresAt), replacedBy: successor };
  };
  return { action: "token.rotate", subject: before.id, before: of(before), after: of(after) };
}

export function secretRotated({ added: { id, createdAt } }: Rotation): AuditedChange {
  const after = { createdAt: isoOrNull(createdAt) };
  return { action: "secret.rotate", subject: String(id), before: undefined, after };
}

/** A revision never changes, so its number says all that is in it. */
export function cataloguePublished(
  environment: Environment,
  before: number | undefined,
  after: { readonly revision: number; readonly bouquets: number },
): AuditedChange {
  const former = before === undefined ? undefined : { revision: before };
  return { action: "catalogue.import", subject: environment, before: former, after };
}

/** Written before anything goes. */
export function horizonMoved(before: Instant | undefined, after: Instant): AuditedChange {
  const former = before === undefined ? undefined : { prunedBefore: isoOrNull(before) };
  return { action: "history.prune", subject: "horizon", before: former, after: { prunedBefore: isoOrNull(after) } };
}

/** Written when all has gone; what an interrupted run let go of is told of by nothing but its horizon. */
export function historyPruned(went: object): AuditedChange {
  return { action: "history.prune", subject: "history", before: went, after: undefined };
}

function isoOrNull(instant: Instant | undefined): string | null {
  return instant === undefined ? null : new Date(instant).toISOString();
}
