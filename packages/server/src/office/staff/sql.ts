import type { StaffKey, StaffMember } from "../../domain/staff.ts";
import type { StaffKeyRow, StaffRow } from "../../store/staff-tables.ts";
import type { Db } from "../office.ts";

/** What a log-in is checked against. Nothing of it is ever shown. */
export interface StaffSecrets {
  /** As the service hashed it. */
  readonly password: string;
  readonly totpSecret: string | undefined;
  /** The step of the last one-time code that was taken. */
  readonly totpStep: number | undefined;
  /** Hashes of the recovery codes that are left. */
  readonly recoveryCodes: readonly string[];
  /** From where the person has logged in, newest first: as networkOf gives them. */
  readonly networks: readonly string[];
}

/** What of an account is written: its role, and what a log-in is checked against. */
export type AccountValues = Pick<StaffMember, "role"> & Omit<StaffSecrets, "networks">;

/** By name. */
export async function readStaff(db: Db): Promise<StaffMember[]> {
  return (await db.selectFrom("staff").selectAll().orderBy("name").execute()).map(toMember);
}

export async function insertMember(
  tx: Db,
  { id, name, role, createdAt }: StaffMember,
  password: string,
): Promise<void> {
  const none = { totp_secret: null, totp_step: null, recovery_codes: "[]", networks: "[]" };
  const row: StaffRow = { id, name, role, password, ...none, created_at: createdAt };
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

function columnsOf({ role, password, recoveryCodes, ...to }: Partial<AccountValues>): Partial<StaffRow> {
  return {
    ...(role === undefined ? {} : { role }),
    ...(password === undefined ? {} : { password }),
    ...("totpSecret" in to ? { totp_secret: to.totpSecret ?? null } : {}),
    ...("totpStep" in to ? { totp_step: to.totpStep ?? null } : {}),
    ...(recoveryCodes === undefined ? {} : { recovery_codes: JSON.stringify(recoveryCodes) }),
  };
}

export async function deleteMember(tx: Db, { id }: StaffMember): Promise<void> {
  await endSessions(tx, id);
  await tx.deleteFrom("staff").where("id", "=", id).execute();
}

async function endSessions(tx: Db, staffId: number, keepSession?: string): Promise<void> {
  const sessions = tx.deleteFrom("staff_session").where("staff_id", "=", staffId);
  await (keepSession === undefined ? sessions : sessions.where("id", "<>", keepSession)).execute();
}

/** By name. */
export async function readKeys(db: Db): Promise<StaffKey[]> {
  return (await db.selectFrom("staff_key").selectAll().orderBy("name").execute()).map(toKey);
}

export async function insertKey(tx: Db, { name, role, createdAt }: StaffKey, hash: Uint8Array): Promise<void> {
  const row: StaffKeyRow = { hash, name, role, created_at: createdAt, last_used_at: null };
  await tx.insertInto("staff_key").values(row).execute();
}

export async function deleteKey(tx: Db, { name }: StaffKey): Promise<void> {
  await tx.deleteFrom("staff_key").where("name", "=", name).execute();
}

export function toMember({ id, name, role, created_at: createdAt, totp_secret }: StaffRow): StaffMember {
  return { id, name, role, createdAt, hasTotp: totp_secret !== null };
}

export function toSecrets({ password, totp_secret, totp_step, ...row }: StaffRow): StaffSecrets {
  const recoveryCodes = JSON.parse(row.recovery_codes) as string[];
  const networks = JSON.parse(row.networks) as string[];
  return { password, totpSecret: totp_secret ?? undefined, totpStep: totp_step ?? undefined, recoveryCodes, networks };
}

export function toKey({ name, role, created_at: createdAt, last_used_at }: StaffKeyRow): StaffKey {
  return { name, role, createdAt, lastUsedAt: last_used_at ?? undefined };
}
