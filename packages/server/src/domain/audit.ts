import { hash } from "node:crypto";
import type { AccessToken, Partner, PartnerStatus } from "./access-token.ts";
import type { StaffEntryKind } from "./account.ts";
import type { AddressList } from "./address-list.ts";
import type { Authority } from "./authority.ts";
import type { Service } from "./bouquet.ts";
import type { Rotation } from "./checkout.ts";
import type { Environment } from "./customer.ts";
import { type Instant, isoTimeOrNull } from "./wall-time.ts";

/*
 * The audit trail: every change by staff or an import, in a chain. The hash of each entry covers the entry before it.
 * To change one entry, a forger must rewrite all later hashes, and a checkpoint stored elsewhere still shows it.
 */

/** Actions that publish a revision. */
export const CATALOGUE_ACTIONS = [
  "catalogue.import",
  "catalogue.set",
  "catalogue.remove",
  "catalogue.restore",
] as const;

/** Every action that an entry can record. */
export const AUDIT_ACTIONS = [
  "partner.add",
  "partner.suspend",
  "partner.resume",
  "partner.allow",
  "partner.limit",
  "partner.details",
  "partner.certify",
  "partner.account",
  "partner.commission",
  "partner.deposit",
  "partner.withdrawal",
  "partner.adjustment",
  "partner.webhook",
  "token.issue",
  "token.rotate",
  "token.revoke",
  "secret.rotate",
  ...CATALOGUE_ACTIONS,
  "catalogue.withdraw",
  "customers.import",
  "customer.note",
  "customer.resend",
  "trial.reset",
  "transaction.reverse",
  "connection.block",
  "connection.unblock",
  "subscription.goodwill",
  "subscription.reverse_goodwill",
  "bulk.start",
  "bulk.pause",
  "bulk.continue",
  "bulk.cancel",
  "bulk.goodwill",
  "bulk.block",
  "bulk.unblock",
  "bulk.reverse_goodwill",
  "history.prune",
  "target.add",
  "target.change",
  "target.pause",
  "target.resume",
  "target.rotate",
  "target.key",
  "target.resend",
  "target.reconcile",
  "target.remove",
  "staff.add",
  "staff.role",
  "staff.password",
  "staff.totp_on",
  "staff.totp_off",
  "staff.remove",
  "staff_key.add",
  "staff_key.remove",
  "held_back.keep",
  "approval.request",
  "approval.refuse",
  "tax.add",
  "tax.remove",
  "shift.open",
  "shift.close",
  "sale.cash_returned",
  "data.export",
] as const;

export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/** Author, time and reason of a change. */
export interface Attribution {
  readonly author: string;
  /** Undefined for the command line, which has no account. */
  readonly authority: Authority | undefined;
  readonly at: Instant;
  readonly reason?: string | undefined;
}

/** One change, with the changed values before and after; undefined if there were, or are, none. */
export interface AuditedChange {
  readonly action: AuditAction;
  /** The changed object, by the name that commands use. */
  readonly subject: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** A text that is JSON already. It is recorded unchanged. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A recorded change. */
export interface AuditEntry {
  /** Number of the entry, from 1, without gaps. */
  readonly seq: number;
  readonly at: Instant;
  readonly author: string;
  /** Whether the author is an account or API key of staff. */
  readonly byStaff: boolean;
  readonly action: string;
  readonly subject: string;
  readonly reason: string | undefined;
  /** JSON texts, byte for byte as they were hashed. */
  readonly before: string | undefined;
  readonly after: string | undefined;
  /** 64 hexadecimal digits. */
  readonly hash: string;
}

/** An entry that identifies the trail up to it. */
export type AuditCheckpoint = Pick<AuditEntry, "seq" | "hash">;

/** The checkpoint of an empty trail. */
export const NO_ENTRY: AuditCheckpoint = { seq: 0, hash: "0".repeat(64) };

/** The entry of a change, after the last entry. */
export function nextEntry(last: AuditCheckpoint, change: AuditedChange, by: Attribution): AuditEntry {
  const { action, subject } = change;
  const { at, author, reason } = by;
  const byStaff = by.authority !== undefined;
  const [before, after] = [toJson(change.before), toJson(change.after)];
  const entry = { seq: last.seq + 1, at, author, byStaff, action, subject, reason, before, after };
  return { ...entry, hash: hashOf(last, entry) };
}

/** Why an entry cannot follow `last`; undefined if it can. */
export function findBreak(last: AuditCheckpoint, entry: AuditEntry): string | undefined {
  if (entry.seq !== last.seq + 1) return `entry ${entry.seq} stands after entry ${last.seq}`;
  if (entry.hash !== hashOf(last, entry)) return `entry ${entry.seq} is not as it was written`;
  return undefined;
}

/** The hash covers a JSON list, so that different entries never have the same text. */
function hashOf(last: AuditCheckpoint, entry: Omit<AuditEntry, "hash">): string {
  const { seq, at, author, byStaff, action, subject, reason, before, after } = entry;
  const said = [last.hash, seq, at, author, byStaff, action, subject, reason ?? null, before ?? null, after ?? null];
  return hash("sha256", JSON.stringify(said), "hex");
}

function toJson(value: unknown): string | undefined {
  if (value instanceof JsonText) return value.text;
  return JSON.stringify(value, (_, each: unknown) => (typeof each === "bigint" ? String(each) : each));
}

/* Entries about partners, tokens, secrets, catalogues. They contain no secrets, only their ids. */

export function partnerAdded({ name, id, status }: Partner): AuditedChange {
  return { action: "partner.add", subject: name, before: undefined, after: { id, status } };
}

export function partnerCertified({ name }: Partner, at: Instant): AuditedChange {
  return { action: "partner.certify", subject: name, before: undefined, after: { certifiedAt: isoTimeOrNull(at) } };
}

export function partnerStatusSet({ name, status: before }: Partner, after: PartnerStatus): AuditedChange {
  const action = after === "suspended" ? "partner.suspend" : "partner.resume";
  return { action, subject: name, before: { status: before }, after: { status: after } };
}

/** The ranges before and after; null means any address. */
export function partnerAllowed({ name, allowedAddresses }: Partner, after: AddressList | undefined): AuditedChange {
  const of = (list: AddressList | undefined) => ({ addresses: list?.ranges ?? null });
  return { action: "partner.allow", subject: name, before: of(allowedAddresses), after: of(after) };
}

type TermsAction = `partner.${"limit" | "details" | "account" | "commission" | "webhook" | StaffEntryKind}`;

/** @param before with amounts in major units, as for people. */
export function partnerTermsSet(action: TermsAction, { name }: Partner, before: object | undefined, after: object) {
  return { action, subject: name, before, after } satisfies AuditedChange;
}

export function tokenIssued({ id, partner, environment, expiresAt }: AccessToken): AuditedChange {
  const after = { partner: partner.name, environment, expiresAt: isoTimeOrNull(expiresAt) };
  return { action: "token.issue", subject: id, before: undefined, after };
}

export function tokenRevoked({ id, partner, environment }: AccessToken, at: Instant): AuditedChange {
  const of = (revokedAt: string | null) => ({ partner: partner.name, environment, revokedAt });
  return { action: "token.revoke", subject: id, before: of(null), after: of(isoTimeOrNull(at)) };
}

/** The entry of the old token. The new token has an entry of its own (`token.issue`). */
export function tokenRotated(before: AccessToken, after: AccessToken): AuditedChange {
  const of = ({ partner, environment, expiresAt, replacedBy }: AccessToken) => ({
    partner: partner.name,
    environment,
    expiresAt: isoTimeOrNull(expiresAt),
    replacedBy: replacedBy ?? null,
  });
  return { action: "token.rotate", subject: before.id, before: of(before), after: of(after) };
}

export function secretRotated({ added: { id, createdAt } }: Rotation): AuditedChange {
  const after = { createdAt: isoTimeOrNull(createdAt) };
  return { action: "secret.rotate", subject: String(id), before: undefined, after };
}

/** The action that publishes a revision, with the bouquet or earlier revision that it names. */
export type CatalogueAction =
  | { readonly action: "catalogue.import" }
  | { readonly action: "catalogue.set" | "catalogue.remove"; readonly service: Service; readonly code: string }
  | { readonly action: "catalogue.restore"; readonly restored: number };

/** A revision never changes, so its number is enough. */
export function cataloguePublished(
  environment: Environment,
  before: number | undefined,
  after: { readonly revision: number; readonly bouquets: number; readonly from?: string | undefined },
  { action, ...more }: CatalogueAction,
): AuditedChange {
  const former = before === undefined ? undefined : { revision: before };
  return { action, subject: environment, before: former, after: { ...after, ...more } };
}

/** The entry before a deletion starts. */
export function horizonMoved(before: Instant | undefined, after: Instant): AuditedChange {
  const former = before === undefined ? undefined : { prunedBefore: isoTimeOrNull(before) };
  return { action: "history.prune", subject: "horizon", before: former, after: { prunedBefore: isoTimeOrNull(after) } };
}

/** The entry after a deletion is complete. An interrupted run has only the entry of {@link horizonMoved}. */
export function historyPruned(went: object): AuditedChange {
  return { action: "history.prune", subject: "history", before: went, after: undefined };
}

/** @param filter without personal data. */
export function dataExported(file: string, filter: object): AuditedChange {
  return { action: "data.export", subject: file, before: undefined, after: filter };
}

/** @param kept the end of each subscription that the file would have shortened. */
export function heldBackKept(environment: Environment, cuid: string, kept: object): AuditedChange {
  return { action: "held_back.keep", subject: `${environment} ${cuid} held back`, before: undefined, after: kept };
}
