import { hash } from "node:crypto";
import type { Instant } from "./wall-time.ts";

/*
 * The audit trail: every change that staff or an import makes, in a chain in which each entry's hash covers the
 * one before it. Who changes, removes or reorders an entry would have to write all later hashes anew, and those
 * of a checkpoint that is kept elsewhere stay as they were.
 */

/** What can be done by staff. */
export const AUDIT_ACTIONS = [
  "partner.add",
  "partner.suspend",
  "partner.resume",
  "partner.allow",
  "token.issue",
  "token.rotate",
  "token.revoke",
  "secret.rotate",
  "catalogue.import",
  "customers.import",
  "trial.reset",
  "transaction.reverse",
  "connection.block",
  "connection.unblock",
  "subscription.grant",
  "subscription.reverse_grant",
  "history.prune",
] as const;

export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/** Who makes a change, when, and why where that was said. */
export interface Attribution {
  readonly author: string;
  readonly at: Instant;
  readonly reason?: string | undefined;
}

/** One change. What it was before and is after, as far as it changed; undefined where there was, or is, nothing. */
export interface AuditedChange {
  readonly action: AuditAction;
  /** What was changed, by the name that commands know it by. */
  readonly subject: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** What is a JSON text already, and goes on record as it is. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A change as it is on record. */
export interface AuditEntry {
  /** Counted from 1, without a gap. */
  readonly seq: number;
  readonly at: Instant;
  readonly author: string;
  readonly action: string;
  readonly subject: string;
  readonly reason: string | undefined;
  /** JSON texts, byte for byte as they were hashed. */
  readonly before: string | undefined;
  readonly after: string | undefined;
  /** 64 hexadecimal digits. */
  readonly hash: string;
}

/** An entry by which the trail up to it can be told from any other. */
export type AuditCheckpoint = Pick<AuditEntry, "seq" | "hash">;

/** Before the first entry. */
export const NO_ENTRY: AuditCheckpoint = { seq: 0, hash: "0".repeat(64) };

/** The entry that a change makes, after the last one. */
export function nextEntry(last: AuditCheckpoint, change: AuditedChange, by: Attribution): AuditEntry {
  const { action, subject } = change;
  const { at, author, reason } = by;
  const [before, after] = [toJson(change.before), toJson(change.after)];
  const entry = { seq: last.seq + 1, at, author, action, subject, reason, before, after };
  return { ...entry, hash: hashOf(last, entry) };
}

/** Why an entry cannot stand after `last`; undefined where it can. */
export function findBreak(last: AuditCheckpoint, entry: AuditEntry): string | undefined {
  if (entry.seq !== last.seq + 1) return `entry ${entry.seq} stands after entry ${last.seq}`;
  if (entry.hash !== hashOf(last, entry)) return `entry ${entry.seq} is not as it was written`;
  return undefined;
}

/** The list is a JSON text, so no two entries have the same one. */
function hashOf(last: AuditCheckpoint, entry: Omit<AuditEntry, "hash">): string {
  const { seq, at, author, action, subject, reason, before, after } = entry;
  const said = [last.hash, seq, at, author, action, subject, reason ?? null, before ?? null, after ?? null];
  return hash("sha256", JSON.stringify(said), "hex");
}

function toJson(value: unknown): string | undefined {
  if (value instanceof JsonText) return value.text;
  return JSON.stringify(value, (_, each: unknown) => (typeof each === "bigint" ? String(each) : each));
}
