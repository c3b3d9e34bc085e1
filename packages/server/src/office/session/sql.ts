import { networkOf } from "../../domain/address-list.ts";
import type { LogInFailure, StaffKey, StaffMember, StaffSession } from "../../domain/staff.ts";
import type { Instant } from "../../domain/wall-time.ts";
import type { Db, Engine } from "../../store/engine.ts";
import { keysIn, toKey } from "../../store/rights.ts";
import type { StaffSessionRow } from "../../store/tables.ts";
import { type StaffSecrets, toMember, toSecrets } from "../staff/sql.ts";

/** How many networks and devices of a person are remembered. */
export const PLACES_KEPT = 40;

export async function findStaff(
  db: Db,
  name: string,
): Promise<(StaffMember & { readonly secrets: StaffSecrets }) | undefined> {
  const row = await db.selectFrom("staff").selectAll().where("name", "=", name).executeTakeFirst();
  return row && { ...toMember(row), secrets: toSecrets(row) };
}

/**
 * Uses a one-time code or a recovery code that was checked. Each can be used once.
 * @returns false if another log-in was quicker.
 */
export function useCode(
  engine: Engine,
  id: number,
  code: { readonly totpStep: number } | { readonly recoveryCode: string },
): Promise<boolean> {
  return engine.transact(async (tx) => {
    if ("totpStep" in code) {
      const step = code.totpStep;
      const later = tx.updateTable("staff").set({ totpStep: step }).where("id", "=", id);
      const isLater = later.where((eb) => eb.or([eb("totpStep", "is", null), eb("totpStep", "<", step)]));
      return (await isLater.executeTakeFirst()).numUpdatedRows > 0n;
    }
    const row = await tx.selectFrom("staff").select("recoveryCodes").where("id", "=", id).executeTakeFirst();
    if (row === undefined) return false;
    const codes = JSON.parse(row.recoveryCodes) as string[];
    if (!codes.includes(code.recoveryCode)) return false;
    const left = JSON.stringify(codes.filter((each) => each !== code.recoveryCode));
    const use = tx.updateTable("staff").set({ recoveryCodes: left }).where("id", "=", id);
    const used = await use.where("recoveryCodes", "=", row.recoveryCodes).executeTakeFirst();
    return used.numUpdatedRows > 0n;
  });
}

/**
 * Counts a log-in as failed, unless `decide` says how long to wait. Deletes failures up to `since`. `change` runs one at a
 * time, so that parallel log-ins count each other.
 * @param decide gets the failures of the source after `since`, newest first.
 * @returns what `decide` returned, in milliseconds.
 */
export function beginLogIn(
  engine: Engine,
  attempt: LogInFailure & { readonly id: string; readonly source: string },
  since: Instant,
  decide: (failures: readonly LogInFailure[]) => number,
): Promise<number> {
  return engine.change(async (tx) => {
    await tx.deleteFrom("logInFailure").where("at", "<=", since).execute();
    const query = tx.selectFrom("logInFailure").select(["name", "at"]).where("source", "=", attempt.source);
    const waitMs = decide(await query.orderBy("at", "desc").execute());
    if (waitMs === 0) await tx.insertInto("logInFailure").values(attempt).execute();
    return waitMs;
  });
}

/** Removes a log-in from the failures. */
export async function forgetLogIn(engine: Engine, id: string): Promise<void> {
  await engine.transact((tx) => tx.deleteFrom("logInFailure").where("id", "=", id).execute());
}

/**
 * Opens a session, and notes the time and the places of the log-in. Changes of the account, which end its sessions, run before or after it.
 * @param devices the one that is known from now on, then the one that it replaces.
 * @returns false if the account was removed or has another password by now.
 */
export function openSession(
  engine: Engine,
  hash: Uint8Array,
  staffId: number,
  password: string | undefined,
  session: StaffSession,
  devices: readonly string[] = [],
): Promise<boolean> {
  const { address } = session;
  return engine.change(async (tx) => {
    const row = await tx.selectFrom("staff").selectAll().where("id", "=", staffId).executeTakeFirst();
    if (row === undefined || (row.password ?? undefined) !== password) return false;
    const places = JSON.stringify(remembered(toSecrets(row).places, address, devices));
    const noted = { places, lastLogInAt: session.createdAt };
    await tx.updateTable("staff").set(noted).where("id", "=", staffId).execute();
    const { userAgent = null, authenticatedAt = null } = session;
    const values = { hash, staffId, ...session, address: address ?? null, userAgent, authenticatedAt };
    await tx.insertInto("staffSession").values(values).execute();
    return true;
  });
}

/** The places of a person after a log-in from an address and a device. */
function remembered(
  places: readonly string[],
  address: string | undefined,
  [device, ...replaced]: readonly string[],
): readonly string[] {
  const now = [...(address === undefined ? [] : [networkOf(address)]), ...(device === undefined ? [] : [device])];
  return [...now, ...places.filter((each) => !now.includes(each) && !replaced.includes(each))].slice(0, PLACES_KEPT);
}

/** Which of these devices are known as those of their persons. */
export async function findKnownDevices(db: Db, devices: ReadonlyMap<number, string>): Promise<string[]> {
  if (devices.size === 0) return [];
  const rows = await db
    .selectFrom("staff")
    .select(["id", "places"])
    .where("id", "in", [...devices.keys()])
    .execute();
  return rows.flatMap(({ id, places }) => (JSON.parse(places) as string[]).filter((each) => each === devices.get(id)));
}

/** Finds a session and its person as they are now. */
export async function findSession(
  db: Db,
  hash: Uint8Array,
): Promise<{ readonly member: StaffMember; readonly session: StaffSession } | undefined> {
  const session = await db.selectFrom("staffSession").selectAll().where("hash", "=", hash).executeTakeFirst();
  if (session === undefined) return undefined;
  const row = await db.selectFrom("staff").selectAll().where("id", "=", session.staffId).executeTakeFirst();
  return row && { member: toMember(row), session: toSession(session) };
}

export async function touchSession(engine: Engine, hash: Uint8Array, at: Instant): Promise<void> {
  const used = { lastUsedAt: at };
  await engine.transact((tx) => tx.updateTable("staffSession").set(used).where("hash", "=", hash).execute());
}

/** Sessions of a person, newest first. */
export async function listSessions(db: Db, staffId: number): Promise<StaffSession[]> {
  const query = db.selectFrom("staffSession").selectAll().where("staffId", "=", staffId);
  return (await query.orderBy("createdAt", "desc").orderBy("id").execute()).map(toSession);
}

/** @returns false if the person has no such session. */
export function endSession(engine: Engine, staffId: number, id: string): Promise<boolean> {
  return engine.transact(async (tx) => {
    const session = tx.deleteFrom("staffSession").where("staffId", "=", staffId).where("id", "=", id);
    return (await session.executeTakeFirst()).numDeletedRows > 0n;
  });
}

/** Deletes sessions begun, or last used, before these times. */
export async function pruneSessions(engine: Engine, begunBefore: Instant, usedBefore: Instant): Promise<void> {
  await engine.transact((tx) =>
    tx
      .deleteFrom("staffSession")
      .where((eb) => eb.or([eb("createdAt", "<", begunBefore), eb("lastUsedAt", "<", usedBefore)]))
      .execute(),
  );
}

export async function findKey(db: Db, hash: Uint8Array): Promise<StaffKey | undefined> {
  const row = await keysIn(db).where("k.hash", "=", hash).executeTakeFirst();
  return row && toKey(row);
}

export async function touchKey(engine: Engine, hash: Uint8Array, at: Instant): Promise<void> {
  const used = { lastUsedAt: at };
  await engine.transact((tx) => tx.updateTable("staffKey").set(used).where("hash", "=", hash).execute());
}

function toSession(row: StaffSessionRow): StaffSession {
  const { id, createdAt, lastUsedAt, address, userAgent, authenticatedAt } = row;
  const device = { address: address ?? undefined, userAgent: userAgent ?? undefined };
  return { id, createdAt, lastUsedAt, ...device, authenticatedAt: authenticatedAt ?? undefined };
}

/** A request with an Idempotency-Key, and its answer. */
export interface KeptAnswer {
  readonly request: Uint8Array;
  /** Undefined while the request is not answered. */
  readonly status: number | undefined;
  /** Undefined if the answer is not kept. */
  readonly body: string | undefined;
}

/**
 * Records that a request is being answered, unless one with this hash is on record already.
 * @param asked.owner the account or key that asks.
 * @param most how many an owner may have on record; undefined for any number.
 * @returns the answer on record; undefined if the request is recorded now; `too_many` if there is no room.
 */
export function beginAnswer(
  engine: Engine,
  asked: { readonly hash: Uint8Array; readonly owner: string; readonly request: Uint8Array; readonly at: Instant },
  most: number | undefined,
): Promise<KeptAnswer | "too_many" | undefined> {
  const { hash, owner } = asked;
  return engine.transact(async (tx) => {
    const insert = tx.insertInto("staffAnswer").values({ ...asked, status: null, body: null });
    const { numInsertedOrUpdatedRows: inserted } = await insert
      .onConflict((on) => on.column("hash").doNothing())
      .executeTakeFirstOrThrow();
    if (inserted !== 1n) {
      const kept = await tx.selectFrom("staffAnswer").selectAll().where("hash", "=", hash).executeTakeFirstOrThrow();
      return { request: kept.request, status: kept.status ?? undefined, body: kept.body ?? undefined };
    }
    if (most === undefined) return undefined;
    const { count } = await tx
      .selectFrom("staffAnswer")
      .select((eb) => eb.fn.countAll<number>().as("count"))
      .where("owner", "=", owner)
      .executeTakeFirstOrThrow();
    if (Number(count) <= most) return undefined;
    await tx.deleteFrom("staffAnswer").where("hash", "=", hash).execute();
    return "too_many";
  });
}

/** @param body undefined if the answer must not be kept. */
export async function keepAnswer(
  engine: Engine,
  hash: Uint8Array,
  status: number,
  body: string | undefined,
): Promise<void> {
  const values = { status, body: body ?? null };
  await engine.transact((tx) => tx.updateTable("staffAnswer").set(values).where("hash", "=", hash).execute());
}

/** Deletes answers that were recorded before. */
export async function pruneAnswers(engine: Engine, before: Instant): Promise<void> {
  await engine.transact((tx) => tx.deleteFrom("staffAnswer").where("at", "<", before).execute());
}
