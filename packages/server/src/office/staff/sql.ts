import { Refused } from "../../domain/refused.ts";
import { type AccountChange, isLastAdmin, type StaffKey, type StaffMember, staffChanged } from "../../domain/staff.ts";
import type { Instant } from "../../domain/wall-time.ts";
import type { Db } from "../../store/engine.ts";
import { keysIn, toKey } from "../../store/rights.ts";
import { flag } from "../../store/rows.ts";
import type { StaffKeyRow, StaffRow } from "../../store/tables.ts";
import { type Decider, decide } from "../decide.ts";

/** Changes of an account, each with its entry in the audit trail. */
export type AccountChanges = readonly (readonly [change: AccountChange, to: Partial<AccountValues>])[];

export const NO_TOTP = { totpSecret: undefined, totpStep: undefined, recoveryCodes: [] } as const;

/**
 * Changes an account and ends its sessions. @param keepSession the id of the only session that stays.
 * @throws Refused
 */
export function changeAccount(
  office: Decider,
  name: string,
  changes: AccountChanges,
  keepSession?: string,
): Promise<StaffMember> {
  return decide(office, "reference", async (tx) => {
    const staff = await readStaff(tx);
    const before = memberNamed(staff, name);
    if (before.logsInWith === "oidc")
      throw new Refused("conflict", `${name} logs in with OpenID Connect: change the account at the issuer`);
    const to = Object.assign({}, ...changes.map(([, values]) => values)) as Partial<AccountValues>;
    if (to.role !== undefined && before.role === "seller")
      throw new Refused("conflict", `${name} is a seller: remove the account, and add a new one`);
    if ((to.role ?? "admin") !== "admin") refuseLastAdmin(staff, name);
    const hasTotp = "totpSecret" in to ? to.totpSecret !== undefined : before.hasTotp;
    const { role = before.role, mustChangePassword = before.mustChangePassword } = to;
    const after = { ...before, role, hasTotp, mustChangePassword };
    const write = () => updateMember(tx, before, to, keepSession);
    const audit = changes.map(([change]) => staffChanged(change, before, after));
    return { answer: after, change: { write, audit } };
  });
}

/** @throws Refused if this person is the only admin. */
export function refuseLastAdmin(staff: readonly StaffMember[], name: string): void {
  if (isLastAdmin(staff, name))
    throw new Refused("conflict", `${name} is the last admin: give another person the role admin first`);
}

/** @throws Refused */
export function memberNamed(staff: readonly StaffMember[], name: string): StaffMember {
  const member = staff.find((each) => each.name === name);
  if (member === undefined) throw new Refused("not_found", `there is no account named ${name}`);
  return member;
}

/** Secrets that a log-in is checked against. They are never shown. */
export interface StaffSecrets {
  /** The hash of the password; undefined if the person has none. */
  readonly password: string | undefined;
  readonly totpSecret: string | undefined;
  /** The step of the last one-time code that was taken. */
  readonly totpStep: number | undefined;
  /** Hashes of the recovery codes that are left. */
  readonly recoveryCodes: readonly string[];
  /** Networks and devices of the person's log-ins, newest first, in the forms of networkOf and deviceOf. */
  readonly places: readonly string[];
}

/** The role and the secrets of an account that can be changed. */
export type AccountValues = Pick<StaffMember, "role" | "mustChangePassword"> & Omit<StaffSecrets, "places">;

/** Id of a new account. The id of a removed person is not used again: a log-in may still be checking that person. */
export function nextId(staff: readonly StaffMember[], at: Instant): number {
  return Math.max(...staff.map(({ id }) => id + 1), at);
}

/** Accounts by name. */
export async function readStaff(db: Db): Promise<StaffMember[]> {
  return (await db.selectFrom("staff").selectAll().orderBy("name").execute()).map(toMember);
}

export async function insertMember(
  tx: Db,
  { id, name, role, createdAt, mustChangePassword, tokenHash }: StaffMember,
  proof: Pick<StaffRow, "password" | "oidcSubject">,
): Promise<void> {
  const none = { totpSecret: null, totpStep: null, recoveryCodes: "[]", places: "[]" };
  const times = { createdAt, lastLogInAt: null };
  const row: StaffRow = {
    id,
    name,
    role: role ?? null,
    ...proof,
    ...none,
    ...times,
    mustChangePassword: flag(mustChangePassword),
    tokenHash: tokenHash ?? null,
  };
  await tx.insertInto("staff").values(row).execute();
}

/** Ends the person's sessions, too. @param keepSession the id of the only session that stays. */
export async function updateMember(
  tx: Db,
  { id }: StaffMember,
  to: Partial<AccountValues>,
  keepSession?: string,
): Promise<void> {
  await tx.updateTable("staff").set(columnsOf(to)).where("id", "=", id).execute();
  await endSessions(tx, id, keepSession);
}

function columnsOf(values: Partial<AccountValues>): Partial<StaffRow> {
  const { password, mustChangePassword, recoveryCodes, ...to } = values;
  return {
    ...(mustChangePassword === undefined ? {} : { mustChangePassword: flag(mustChangePassword) }),
    ...("role" in to ? { role: to.role ?? null } : {}),
    ...(password === undefined ? {} : { password }),
    ...("totpSecret" in to ? { totpSecret: to.totpSecret ?? null } : {}),
    ...("totpStep" in to ? { totpStep: to.totpStep ?? null } : {}),
    ...(recoveryCodes === undefined ? {} : { recoveryCodes: JSON.stringify(recoveryCodes) }),
  };
}

export async function deleteMember(tx: Db, { id }: StaffMember): Promise<void> {
  await endSessions(tx, id);
  await tx.deleteFrom("staff").where("id", "=", id).execute();
}

async function endSessions(tx: Db, staffId: number, keepSession?: string): Promise<void> {
  const sessions = tx.deleteFrom("staffSession").where("staffId", "=", staffId);
  await (keepSession === undefined ? sessions : sessions.where("id", "<>", keepSession)).execute();
}

/** Keys by name. */
export async function readKeys(db: Db): Promise<StaffKey[]> {
  return (await keysIn(db).orderBy("k.name").execute()).map(toKey);
}

export async function insertKey(tx: Db, key: Omit<StaffKeyRow, "lastUsedAt">): Promise<void> {
  await tx
    .insertInto("staffKey")
    .values({ ...key, lastUsedAt: null })
    .execute();
}

export async function deleteKey(tx: Db, { name }: StaffKey): Promise<void> {
  await tx.deleteFrom("staffKey").where("name", "=", name).execute();
}

export function toMember({ id, name, role, createdAt, lastLogInAt, totpSecret, ...row }: StaffRow): StaffMember {
  const mustChangePassword = row.mustChangePassword === 1;
  return {
    ...{ id, name, role: role ?? undefined, createdAt, lastLogInAt: lastLogInAt ?? undefined },
    ...{ hasTotp: totpSecret !== null, mustChangePassword, logsInWith: row.password === null ? "oidc" : "password" },
    tokenHash: row.tokenHash ?? undefined,
  };
}

export function toSecrets({ password, totpSecret, totpStep, ...row }: StaffRow): StaffSecrets {
  const recoveryCodes = JSON.parse(row.recoveryCodes) as string[];
  const places = JSON.parse(row.places) as string[];
  return {
    password: password ?? undefined,
    totpSecret: totpSecret ?? undefined,
    totpStep: totpStep ?? undefined,
    recoveryCodes,
    places,
  };
}
