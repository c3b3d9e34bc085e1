import { hash } from "node:crypto";
import { formatSecret, hasChecksum } from "./access-token.ts";
import type { AuditedChange } from "./audit.ts";
import type { Instant, WallTime } from "./wall-time.ts";

/*
 * People of the provider's who work with the console, and its systems that work with the staff API: what each may do.
 */

export const ROLES = ["viewer", "support", "finance", "admin"] as const;
export type Role = (typeof ROLES)[number];

/** `correct`: reverse, grant goodwill, block. `settle`: settle and reconcile. `administer`: all else that changes something. */
export type Permission = "read" | "correct" | "settle" | "administer";

/** What each role may do: the only place that says so. */
export const PERMISSIONS: Readonly<Record<Role, readonly Permission[]>> = {
  viewer: ["read"],
  support: ["read", "correct"],
  finance: ["read", "settle"],
  admin: ["read", "correct", "settle", "administer"],
};

/** What gives a change its rights. The transaction that makes the change looks it up again. */
export type Authority =
  | {
      readonly staffId: number;
      /** The role with which the change was let in. */
      readonly role: Role;
      /** Undefined for work in the background, which may outlast the log-in. */
      readonly sessionId: string | undefined;
    }
  | { readonly keyHash: Uint8Array };

/** A person's account. */
export interface StaffMember {
  readonly id: number;
  readonly name: string;
  readonly role: Role;
  readonly createdAt: Instant;
  /** Whether a one-time code is asked for beside the password. */
  readonly hasTotp: boolean;
}

/** A log-in of a person, as its owner sees it. */
export interface StaffSession {
  /** Of no use to a thief. */
  readonly id: string;
  readonly createdAt: Instant;
  readonly lastUsedAt: Instant;
  readonly address: string | undefined;
  readonly userAgent: string | undefined;
}

/** A key of one of the provider's systems. The key itself is shown once and stored nowhere. */
export interface StaffKey {
  readonly name: string;
  readonly role: Role;
  readonly createdAt: Instant;
  readonly lastUsedAt: Instant | undefined;
}

/** Whether nobody could administer any more without this one. */
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

/** Tells a key from any other text, so that typing errors and partners' tokens cost no look-up. */
export function isStaffKey(text: string): boolean {
  return KEY_SHAPE.test(text) && hasChecksum(text);
}

/** SHA-256 of a key, of what a session is known by, or of a recovery code: enough for what no dictionary holds. */
export function hashStaffSecret(secret: string): Buffer {
  return Buffer.from(hash("sha256", secret, "binary"), "binary");
}

export const RECOVERY_CODES = 10;
export const RECOVERY_CODE_RANDOM_BYTES = 10;
/** Without those that are read for one another. */
const RECOVERY_ALPHABET = "abcdefghijkmnpqrstuvwxyz23456789";

/** Stands in for the device with the one-time codes, once. @param random {@link RECOVERY_CODE_RANDOM_BYTES}. */
export function formatRecoveryCode(random: Uint8Array): string {
  const bits = BigInt(`0x${Buffer.from(random).toString("hex")}`);
  const digits = Array.from({ length: 16 }, (_, index) => RECOVERY_ALPHABET[Number((bits >> BigInt(index * 5)) & 31n)]);
  return digits.join("").replace(/.{4}(?=.)/g, "$&-");
}

/** As it is kept, however it was typed. */
export function hashRecoveryCode(code: string): string {
  return hashStaffSecret(code.toLowerCase().replace(/[\s-]/g, "")).toString("hex");
}

/*
 * What the audit trail keeps of a change of accounts and keys. Nothing here is secret.
 */

export function staffAdded({ name, role }: StaffMember): AuditedChange {
  return { action: "staff.add", subject: name, before: undefined, after: { role } };
}

/** What was changed of an account. */
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

/** When staff did something, who did it, and why. */
export interface StaffAct {
  readonly at: Instant;
  readonly wall: WallTime;
  readonly author: string;
  readonly reason: string;
}
