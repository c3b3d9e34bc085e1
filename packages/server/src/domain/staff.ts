import { hash } from "node:crypto";
import { formatSecret, hasChecksum } from "./access-token.ts";
import type { AuditedChange } from "./audit.ts";
import type { Instant, WallTime } from "./wall-time.ts";

/* Permissions of the provider's staff (console) and systems (staff API). */

export const ROLES = ["viewer", "support", "finance", "admin"] as const;
export type Role = (typeof ROLES)[number];

/** `correct`: reverse, give goodwill, block. `settle`: settle and reconcile. `administer`: all other changes. */
export type Permission = "read" | "correct" | "settle" | "administer";

/** Permissions of each role. */
export const PERMISSIONS: Readonly<Record<Role, readonly Permission[]>> = {
  viewer: ["read"],
  support: ["read", "correct"],
  finance: ["read", "settle"],
  admin: ["read", "correct", "settle", "administer"],
};

/** The account or API key behind a change. The transaction of the change checks it again. */
export type Authority =
  | {
      readonly staffId: number;
      /** Role when the change was accepted. */
      readonly role: Role;
      /** Undefined for background work, which may outlast the log-in. */
      readonly sessionId: string | undefined;
    }
  | { readonly keyHash: Uint8Array };

/** A person's account. */
export interface StaffMember {
  readonly id: number;
  readonly name: string;
  readonly role: Role;
  readonly createdAt: Instant;
  /** Whether log-in needs a one-time code. */
  readonly hasTotp: boolean;
}

/** A log-in, as its owner sees it. */
export interface StaffSession {
  /** Public id. It gives no access. */
  readonly id: string;
  readonly createdAt: Instant;
  readonly lastUsedAt: Instant;
  readonly address: string | undefined;
  readonly userAgent: string | undefined;
}

/** An API key of one of the provider's systems. The key itself is shown once and never stored. */
export interface StaffKey {
  readonly name: string;
  readonly role: Role;
  readonly createdAt: Instant;
  readonly lastUsedAt: Instant | undefined;
}

/** Whether this is the only admin. */
export function isLastAdmin(staff: readonly Pick<StaffMember, "name" | "role">[], name: string): boolean {
  const admins = staff.filter(({ role }) => role === "admin");
  return admins.length === 1 && admins[0]?.name === name;
}

const KEY_PREFIX = "topup_staff_";
const KEY_SHAPE = /^topup_staff_[0-9A-Za-z]{49}$/;
export const STAFF_SECRET_RANDOM_BYTES = 32;

/** @param random {@link STAFF_SECRET_RANDOM_BYTES}. */
export function formatStaffKey(random: Uint8Array): string {
  return formatSecret(KEY_PREFIX, random);
}

/** Checks form and checksum, so that a mistyped key or a partner's token costs no look-up. */
export function isStaffKey(text: string): boolean {
  return KEY_SHAPE.test(text) && hasChecksum(text);
}

/** SHA-256 is enough: API keys, session secrets and recovery codes are random. */
export function hashStaffSecret(secret: string): Buffer {
  return Buffer.from(hash("sha256", secret, "binary"), "binary");
}

export const RECOVERY_CODES = 10;
export const RECOVERY_CODE_RANDOM_BYTES = 10;
/** Letters and digits that cannot be confused. */
const RECOVERY_ALPHABET = "abcdefghijkmnpqrstuvwxyz23456789";

/** A code that replaces one one-time code. @param random {@link RECOVERY_CODE_RANDOM_BYTES}. */
export function formatRecoveryCode(random: Uint8Array): string {
  const bits = BigInt(`0x${Buffer.from(random).toString("hex")}`);
  const digits = Array.from({ length: 16 }, (_, index) => RECOVERY_ALPHABET[Number((bits >> BigInt(index * 5)) & 31n)]);
  return digits.join("").replace(/.{4}(?=.)/g, "$&-");
}

/** Hash of a recovery code. Case, blanks and hyphens are ignored. */
export function hashRecoveryCode(code: string): string {
  return hashStaffSecret(code.toLowerCase().replace(/[\s-]/g, "")).toString("hex");
}

/* Audit entries about accounts and API keys. They contain no secrets. */

export function staffAdded({ name, role }: StaffMember): AuditedChange {
  return { action: "staff.add", subject: name, before: undefined, after: { role } };
}

export type AccountChange = "staff.role" | "staff.password" | "staff.totp_on" | "staff.totp_off";

export function staffChanged(action: AccountChange, before: StaffMember, after: StaffMember): AuditedChange {
  const of = ({ role }: StaffMember) => (action === "staff.role" ? { role } : undefined);
  return { action, subject: after.name, before: of(before), after: of(after) };
}

export function staffRemoved({ name, role }: StaffMember): AuditedChange {
  return { action: "staff.remove", subject: name, before: { role }, after: undefined };
}

export function staffKeyAdded({ name, role }: StaffKey): AuditedChange {
  return { action: "staff_key.add", subject: name, before: undefined, after: { role } };
}

export function staffKeyRemoved({ name, role }: StaffKey): AuditedChange {
  return { action: "staff_key.remove", subject: name, before: { role }, after: undefined };
}

/** Time, author and reason of something that staff did. */
export interface StaffAct {
  readonly at: Instant;
  readonly wall: WallTime;
  readonly author: string;
  readonly reason: string;
}
