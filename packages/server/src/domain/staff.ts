import { timingSafeEqual } from "node:crypto";
import { formatSecret, hasChecksum, hashSecret } from "./access-token.ts";
import type { AuditedChange } from "./audit.ts";
import { ROLES, type Role, type StaffRole } from "./authority.ts";
import { DAY_MS, type Instant, type WallTime } from "./wall-time.ts";

/* Permissions of the provider's staff (console), of systems (staff API) and of sellers (counter). */

export type Permission = "read" | "correct" | "settle" | "administer" | "sell";

export const PERMISSIONS: Readonly<Record<Role, readonly Permission[]>> = {
  viewer: ["read"],
  support: ["read", "correct"],
  finance: ["read", "settle"],
  admin: ["read", "correct", "settle", "administer"],
  seller: ["sell"],
};

const ALLOWED: Readonly<Record<Permission, string>> = {
  read: "read customers, top-ups, partners, balances, catalogue, imports, targets and the audit trail",
  correct: "reverse top-ups, give and reverse goodwill, block and unblock, also in bulk",
  settle: "read settlements and statements, reconcile, and enter deposits, withdrawals and adjustments",
  administer: "change partners, tokens, catalogue, taxes, imports, targets and staff",
  sell: "sell at the counter for one partner",
};

/** The role that allows exactly what both roles allow; undefined if there is none. */
export function sharedRole(one: Role, other: Role): StaffRole | undefined {
  const shared = PERMISSIONS[one].filter((permission) => PERMISSIONS[other].includes(permission));
  return ROLES.find((role) => PERMISSIONS[role].join() === shared.join());
}

export const ALL_PERMISSIONS = Object.keys(ALLOWED) as readonly Permission[];

/** The permissions of a role in words. */
export function allowedTo(role: Role): string {
  const words = PERMISSIONS[role].map((permission) => ALLOWED[permission]).join("; ");
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
}

export interface StaffMember {
  readonly id: number;
  readonly name: string;
  /** Undefined if the issuer stated none at the last log-in. Such a person has no session. */
  readonly role: Role | undefined;
  readonly createdAt: Instant;
  readonly lastLogInAt: Instant | undefined;
  /** Whether log-in needs a one-time code. */
  readonly hasTotp: boolean;
  /** Whether another person set the password. */
  readonly mustChangePassword: boolean;
  readonly logsInWith: LogInWay;
  /** Hash of a seller's access token, which sells for its partner; undefined for the provider's staff. */
  readonly tokenHash: Uint8Array | undefined;
}

/** Whether a person logs in here: sellers at the counter, staff at the console. */
export function logsInAt({ role }: Pick<StaffMember, "role">, { isCounter }: { readonly isCounter: boolean }): boolean {
  return (role === "seller") === isCounter;
}

/** `oidc`: OpenID Connect. */
export const LOG_IN_WAYS = ["password", "oidc"] as const;
export type LogInWay = (typeof LOG_IN_WAYS)[number];

/** The step before any other work: a new password, or one-time codes. */
export type SetUp = "password" | "totp";

/** @param totpRoles roles that require one-time codes. @returns undefined if the account is set up. */
export function setUpOf(
  { role, hasTotp, mustChangePassword, logsInWith }: StaffMember,
  totpRoles: ReadonlySet<Role>,
): SetUp | undefined {
  if (logsInWith === "oidc") return undefined;
  if (mustChangePassword) return "password";
  return role !== undefined && totpRoles.has(role) && !hasTotp ? "totp" : undefined;
}

/** A log-in, as its owner sees it. */
export interface StaffSession {
  /** Public id. It gives no access. */
  readonly id: string;
  readonly createdAt: Instant;
  readonly lastUsedAt: Instant;
  readonly address: string | undefined;
  readonly userAgent: string | undefined;
  /** Time at which the person last proved to the issuer who they are. */
  readonly authenticatedAt: Instant | undefined;
}

/** An API key of one of the provider's systems. The key itself is shown once and never stored. */
export interface StaffKey {
  readonly name: string;
  /** The role that it was made with, as far as its maker's present role allows it; undefined if that allows nothing. */
  readonly role: StaffRole | undefined;
  /** The person who made it; undefined if it was made in the shell. */
  readonly madeBy: string | undefined;
  readonly createdAt: Instant;
  readonly lastUsedAt: Instant | undefined;
}

/** A program with a key that was used within this time would stop by surprise if the key ended. */
const IN_USE_MS = 7 * DAY_MS;

export function isInUse({ lastUsedAt }: StaffKey, now: Instant): boolean {
  return lastUsedAt !== undefined && lastUsedAt > now - IN_USE_MS;
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
  return hashSecret(code.toLowerCase().replace(/[\s-]/g, "")).toString("hex");
}

/** Compares in constant time. @param code of the first admin, in the form of a recovery code. */
export function isSetUpCode(code: string, given: string): boolean {
  return timingSafeEqual(Buffer.from(hashRecoveryCode(code)), Buffer.from(hashRecoveryCode(given)));
}

/* Audit entries about accounts and API keys. They contain no secrets. */

/** @param sellerOf the partner of a seller. */
export function staffAdded({ name, role }: StaffMember, sellerOf?: string): AuditedChange {
  return { action: "staff.add", subject: name, before: undefined, after: { role, sellerOf } };
}

export type AccountChange = "staff.role" | "staff.password" | "staff.totp_on" | "staff.totp_off";

export function staffChanged(action: AccountChange, before: StaffMember, after: StaffMember): AuditedChange {
  const of = ({ role }: StaffMember) => (action === "staff.role" ? { role: role ?? null } : undefined);
  return { action, subject: after.name, before: of(before), after: of(after) };
}

export function staffRemoved({ name, role }: StaffMember): AuditedChange {
  return { action: "staff.remove", subject: name, before: { role: role ?? null }, after: undefined };
}

export function staffKeyAdded({ name, role }: StaffKey): AuditedChange {
  return { action: "staff_key.add", subject: name, before: undefined, after: { role } };
}

export function staffKeyRemoved({ name, role }: StaffKey): AuditedChange {
  return { action: "staff_key.remove", subject: name, before: { role: role ?? null }, after: undefined };
}

/** Time, author and reason of something that staff did. */
export interface StaffAct {
  readonly at: Instant;
  readonly wall: WallTime;
  readonly author: string;
  readonly reason: string;
}

const MINUTE_MS = 60_000;
/** A session ends after this time without use. */
export const IDLE_MS = 30 * MINUTE_MS;
/** A session ends after this time in any case. */
export const LONGEST_MS = 12 * 60 * MINUTE_MS;

/** Why a session is not on record: the next log-in deletes unused ones. */
export const SESSION_GONE = "Your session has ended: somebody ended it, your account changed, or it was not used.";

/** Words why a session has ended by its age; undefined if it has not. */
export function sessionEnd({ createdAt, lastUsedAt }: StaffSession, now: Instant): string | undefined {
  if (now - lastUsedAt >= IDLE_MS) return `Your session ended after ${IDLE_MS / MINUTE_MS} minutes without use.`;
  if (now - createdAt < LONGEST_MS) return undefined;
  return `Your session ended ${LONGEST_MS / MINUTE_MS / 60} hours after you logged in.`;
}

/*
 * Limits for log-ins. Failures are counted by name and source together, so that a stranger cannot lock out a person from
 * elsewhere, and by source alone, against trying many names. A known device is a source of its own. So are all one-time
 * codes: a person who tries them has the password.
 */

/** Lifetime of a failed log-in. */
export const FAILURE_COUNTS_MS = 15 * MINUTE_MS;
const MOST_FOR_NAME = 10;
const MOST_FOR_SOURCE = 100;

export interface LogInFailure {
  /** Empty if there is no name. */
  readonly name: string;
  readonly at: Instant;
}

/**
 * @param failures failures from the source, newest first.
 * @param isKnown whether the person logged in from this source before. Then failures of other names do not count.
 * @returns milliseconds to wait; 0 if a log-in may be tried.
 */
export function logInWaitMs(failures: readonly LogInFailure[], name: string, isKnown: boolean, now: Instant): number {
  const ofName = name === "" ? [] : failures.filter((failure) => failure.name === name);
  const forName = waitMs(ofName, MOST_FOR_NAME, now);
  return isKnown ? forName : Math.max(forName, waitMs(failures, MOST_FOR_SOURCE, now));
}

function waitMs(failures: readonly LogInFailure[], most: number, now: Instant): number {
  const decisive = failures[most - 1];
  return decisive === undefined ? 0 : Math.max(0, decisive.at + FAILURE_COUNTS_MS - now);
}
