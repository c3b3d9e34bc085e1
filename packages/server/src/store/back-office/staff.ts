import type * as staff from "../../domain/staff.ts";
import type { Engine } from "../engine.ts";
import type { StaffAccounts, StaffSecrets } from "../staff.ts";
import type { StaffKeyRow, StaffRow, StaffSessionRow } from "../staff-tables.ts";
import { answersOf } from "./answers.ts";
import { hasRights } from "./authority.ts";
import { logInsOf, remembered } from "./log-ins.ts";

export function staffOf(engine: Engine): StaffAccounts {
  const { db } = engine;
  return {
    async find(name) {
      const row = await db.selectFrom("staff").selectAll().where("name", "=", name).executeTakeFirst();
      return row && { ...toMember(row), secrets: toSecrets(row) };
    },

    useCode: (id, code) =>
      engine.transact(async (tx) => {
        if ("totpStep" in code) {
          const step = code.totpStep;
          const later = tx.updateTable("staff").set({ totp_step: step }).where("id", "=", id);
          const isLater = later.where((eb) => eb.or([eb("totp_step", "is", null), eb("totp_step", "<", step)]));
          return (await isLater.executeTakeFirst()).numUpdatedRows > 0n;
        }
        const row = await tx.selectFrom("staff").select("recovery_codes").where("id", "=", id).executeTakeFirst();
        if (row === undefined) return false;
        const codes = JSON.parse(row.recovery_codes) as string[];
        if (!codes.includes(code.recoveryCode)) return false;
        const left = JSON.stringify(codes.filter((each) => each !== code.recoveryCode));
        const use = tx.updateTable("staff").set({ recovery_codes: left }).where("id", "=", id);
        const used = await use.where("recovery_codes", "=", row.recovery_codes).executeTakeFirst();
        return used.numUpdatedRows > 0n;
      }),

    ...logInsOf(engine),

    // In turn with whatever changes the account, which ends the sessions that there are.
    openSession: (hash, staffId, password, { id, createdAt, lastUsedAt, address, userAgent }) =>
      engine.change(async (tx) => {
        const row = await tx.selectFrom("staff").selectAll().where("id", "=", staffId).executeTakeFirst();
        if (row?.password !== password) return false;
        const networks = JSON.stringify(remembered(toSecrets(row).networks, address));
        if (networks !== row.networks)
          await tx.updateTable("staff").set({ networks }).where("id", "=", staffId).execute();
        const times = { created_at: createdAt, last_used_at: lastUsedAt };
        const from = { address: address ?? null, user_agent: userAgent ?? null };
        await tx
          .insertInto("staff_session")
          .values({ hash, id, staff_id: staffId, ...times, ...from })
          .execute();
        return true;
      }),

    async findSession(hash) {
      const session = await db.selectFrom("staff_session").selectAll().where("hash", "=", hash).executeTakeFirst();
      if (session === undefined) return undefined;
      const row = await db.selectFrom("staff").selectAll().where("id", "=", session.staff_id).executeTakeFirst();
      return row && { member: toMember(row), session: toSession(session) };
    },

    touchSession: (hash, at) =>
      engine.transact(async (tx) => {
        await tx.updateTable("staff_session").set({ last_used_at: at }).where("hash", "=", hash).execute();
      }),

    async listSessions(staffId) {
      const query = db.selectFrom("staff_session").selectAll().where("staff_id", "=", staffId);
      return (await query.orderBy("created_at", "desc").orderBy("id").execute()).map(toSession);
    },

    endSession: (staffId, id) =>
      engine.transact(async (tx) => {
        const query = tx.deleteFrom("staff_session").where("staff_id", "=", staffId).where("id", "=", id);
        return (await query.executeTakeFirst()).numDeletedRows > 0n;
      }),

    pruneSessions: (begunBefore, usedBefore) =>
      engine.transact(async (tx) => {
        await tx
          .deleteFrom("staff_session")
          .where((eb) => eb.or([eb("created_at", "<", begunBefore), eb("last_used_at", "<", usedBefore)]))
          .execute();
      }),

    hasRights: (authority) => hasRights(db, authority),

    async findKey(hash) {
      const row = await db.selectFrom("staff_key").selectAll().where("hash", "=", hash).executeTakeFirst();
      return row && toKey(row);
    },

    touchKey: (hash, at) =>
      engine.transact(async (tx) => {
        await tx.updateTable("staff_key").set({ last_used_at: at }).where("hash", "=", hash).execute();
      }),

    ...answersOf(engine),
  };
}

export function toMember({ id, name, role, created_at: createdAt, totp_secret }: StaffRow): staff.StaffMember {
  return { id, name, role, createdAt, hasTotp: totp_secret !== null };
}

function toSecrets({ password, totp_secret, totp_step, ...row }: StaffRow): StaffSecrets {
  const recoveryCodes = JSON.parse(row.recovery_codes) as string[];
  const networks = JSON.parse(row.networks) as string[];
  return { password, totpSecret: totp_secret ?? undefined, totpStep: totp_step ?? undefined, recoveryCodes, networks };
}

function toSession(row: StaffSessionRow): staff.StaffSession {
  const { id, created_at: createdAt, last_used_at: lastUsedAt, address, user_agent } = row;
  return { id, createdAt, lastUsedAt, address: address ?? undefined, userAgent: user_agent ?? undefined };
}

export function toKey({ name, role, created_at: createdAt, last_used_at }: StaffKeyRow): staff.StaffKey {
  return { name, role, createdAt, lastUsedAt: last_used_at ?? undefined };
}
