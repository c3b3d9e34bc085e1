import { isEasilyGuessed } from "../../domain/easy-password.ts";
import { NAME } from "../../domain/name.ts";
import {
  formatStaffKey,
  hashStaffSecret,
  type Role,
  STAFF_SECRET_RANDOM_BYTES,
  type StaffKey,
  type StaffMember,
} from "../../domain/staff.ts";
import { type Actor, attributionOf, type Ports, type ReadingPorts } from "../ports.ts";

/** Too many passwords wait to be hashed or checked. */
export class PasswordsBusy extends Error {
  override readonly name = "PasswordsBusy";
}

/** What is known of passwords and one-time codes where they are made and checked. */
export interface AccountTools {
  /** Takes a while, and much memory. Rejects with {@link PasswordsBusy}, as {@link AccountTools.checkPassword} does. */
  hashPassword(password: string): Promise<string>;
  /** @param hashed undefined where there is no account: then it takes as long, and is false. */
  checkPassword(password: string, hashed: string | undefined): Promise<boolean>;
  /** @param name of the account, as the person's device shows it. */
  offerTotp(name: string): Promise<TotpOffer>;
  /**
   * @param after the step of the last code that was taken: none before it, nor it, is taken.
   * @returns the step of the code; undefined where it is wrong.
   */
  checkTotp(secret: string, code: string, after: number | undefined): Promise<number | undefined>;
}

export interface TotpOffer {
  /** In base 32. */
  readonly secret: string;
  /** `otpauth://`, for a QR code. */
  readonly uri: string;
}

export type AccountPorts = Ports & { readonly accounts: AccountTools };

const LEAST_PASSWORD = 12;
const MOST_PASSWORD = 256;

export interface BadPassword {
  readonly kind: "bad_password";
  /** As it goes on after "the password". */
  readonly problem: string;
}

/** @param name of whom it is to be. @returns why nobody should have it; undefined where it may be. */
export function refusePassword(password: string, name: string): BadPassword | undefined {
  const refused = (problem: string): BadPassword => ({ kind: "bad_password", problem });
  if (password.length < LEAST_PASSWORD) return refused(`must have ${LEAST_PASSWORD} characters or more`);
  if (password.length > MOST_PASSWORD) return refused(`must have at most ${MOST_PASSWORD} characters`);
  if (isEasilyGuessed(password, name))
    return refused("is among those that are guessed first: take something longer that nobody else would");
  return undefined;
}

export interface StaffRequest {
  readonly name: string;
  readonly role: Role;
}

/** `key NAME` is how the audit trail names a key. */
export function isStaffName(name: string): boolean {
  return NAME.test(name) && !name.startsWith("key ");
}

export type StaffAdded =
  | { readonly kind: "added"; readonly member: StaffMember }
  | { readonly kind: "name_taken" }
  /** See {@link isStaffName}. */
  | { readonly kind: "bad_name" }
  | BadPassword;

export async function addStaff(
  ports: AccountPorts,
  actor: Actor,
  { name, role, password }: StaffRequest & { readonly password: string },
): Promise<StaffAdded> {
  if (!isStaffName(name)) return { kind: "bad_name" };
  const refused = refusePassword(password, name);
  if (refused !== undefined) return refused;
  const hashed = await ports.accounts.hashPassword(password);
  const member = await ports.store.staff.add(name, role, hashed, attributionOf(ports, actor));
  return member === "name_taken" ? { kind: "name_taken" } : { kind: "added", member };
}

/** By name. */
export function listStaff({ store }: ReadingPorts): Promise<readonly StaffMember[]> {
  return store.staff.list();
}

export type StaffChanged =
  | { readonly kind: "changed"; readonly member: StaffMember }
  | { readonly kind: "not_found" }
  /** Nobody would be left to administer. */
  | { readonly kind: "last_admin" };

/** All of the person's sessions end, as with everything that is changed for them. */
export async function changeRole(ports: Ports, actor: Actor, { name, role }: StaffRequest): Promise<StaffChanged> {
  return changed(await ports.store.staff.change(name, "staff.role", { role }, attributionOf(ports, actor)));
}

/** For somebody who has lost their password. */
export async function setPassword(
  ports: AccountPorts,
  actor: Actor,
  { name, password }: { readonly name: string; readonly password: string },
): Promise<StaffChanged | BadPassword> {
  const refused = refusePassword(password, name);
  if (refused !== undefined) return refused;
  const to = { password: await ports.accounts.hashPassword(password) };
  return changed(await ports.store.staff.change(name, "staff.password", to, attributionOf(ports, actor)));
}

/** For somebody who has lost their device: from then on, the password is enough. */
export async function switchTotpOff(
  ports: Ports,
  actor: Actor,
  { name }: { readonly name: string },
): Promise<StaffChanged> {
  return changed(await ports.store.staff.change(name, "staff.totp_off", NO_TOTP, attributionOf(ports, actor)));
}

export const NO_TOTP = { totpSecret: undefined, totpStep: undefined, recoveryCodes: [] } as const;

export async function removeStaff(
  ports: Ports,
  actor: Actor,
  { name }: { readonly name: string },
): Promise<StaffChanged> {
  return changed(await ports.store.staff.remove(name, attributionOf(ports, actor)));
}

function changed(member: StaffMember | "last_admin" | undefined): StaffChanged {
  if (member === undefined) return { kind: "not_found" };
  return member === "last_admin" ? { kind: "last_admin" } : { kind: "changed", member };
}

export type KeyAdded =
  /** `key` is shown once, and stored nowhere. */
  | { readonly kind: "added"; readonly key: string; readonly record: StaffKey }
  | { readonly kind: "name_taken" }
  /** It is empty, longer than 64 characters, begins or ends with a blank, or has a blank other than the space. */
  | { readonly kind: "bad_name" };

/** Makes a key with which one of the provider's systems uses the staff API. */
export async function addStaffKey(ports: Ports, actor: Actor, { name, role }: StaffRequest): Promise<KeyAdded> {
  if (!NAME.test(name)) return { kind: "bad_name" };
  const by = attributionOf(ports, actor);
  const key = formatStaffKey(ports.random(STAFF_SECRET_RANDOM_BYTES));
  const record: StaffKey = { name, role, createdAt: by.at, lastUsedAt: undefined };
  const added = await ports.store.staff.addKey(hashStaffSecret(key), record, by);
  return added === "name_taken" ? { kind: "name_taken" } : { kind: "added", key, record };
}

/** By name. */
export function listStaffKeys({ store }: ReadingPorts): Promise<readonly StaffKey[]> {
  return store.staff.listKeys();
}

/** It holds nowhere from then on. @returns undefined if there is none. */
export function removeStaffKey(
  ports: Ports,
  actor: Actor,
  { name }: { readonly name: string },
): Promise<StaffKey | undefined> {
  return ports.store.staff.removeKey(name, attributionOf(ports, actor));
}
