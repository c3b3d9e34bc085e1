import type { StaffKey, StaffMember } from "../../domain/staff.ts";
import { toKey, toMember } from "../../store/back-office/staff.ts";
import type { StaffSecrets } from "../../store/staff.ts";
import type { StaffKeyRow, StaffRow } from "../../store/staff-tables.ts";
import type { Db } from "../office.ts";

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
