import { portionsOf } from "../domain/portions.ts";
import { CONFIRMED_WITHIN_MS, type DueUser, NEVER, type ToldUser } from "../domain/sessions.ts";
import type { Target } from "../domain/target.ts";
import type { Instant } from "../domain/wall-time.ts";
import type { Db, Engine } from "./engine.ts";
import type { SessionDueRow } from "./tables.ts";

/* Users of RADIUS whose sessions have to end: one row for each that a delivered event ever altered. */

/** Rows that one statement names. */
const ROWS_AT_ONCE = 500;
const ANEW = { state: "due", endedAt: null, problem: null, attempts: 0, noted: null } as const;

/**
 * Records what deliveries tell of users, in their transaction. A later event that alters begins anew. A repeated one changes
 * nothing, unless its rows were not written before.
 */
export async function tellUsers(tx: Db, targetId: number, told: readonly ToldUser[]): Promise<void> {
  const altered = new Map<string, ToldUser>();
  const written = new Map<string, Instant>();
  for (const user of told) {
    const { username, dueAt } = user;
    if (user.alters) altered.set(username, user);
    if (dueAt !== undefined) written.set(username, dueAt);
    else if (user.alters) written.delete(username);
  }
  const rows = [...altered.values()].toSorted(byName).map(({ username, seq, at, dueAt }) => {
    return { targetId, username, seq, at, dueAt: dueAt ?? 0, nextAt: dueAt ?? NEVER, ...ANEW };
  });
  for (const some of portionsOf(rows, ROWS_AT_ONCE))
    await tx
      .insertInto("sessionDue")
      .values(some)
      .onConflict((on) =>
        on
          .columns(["targetId", "username"])
          .doUpdateSet((eb) => ({
            seq: eb.ref("excluded.seq"),
            at: eb.ref("excluded.at"),
            dueAt: eb.ref("excluded.dueAt"),
            nextAt: eb.ref("excluded.nextAt"),
            ...ANEW,
          }))
          .where((eb) => eb("sessionDue.seq", "<", eb.ref("excluded.seq"))),
      )
      .execute();
  for (const [dueAt, usernames] of byTime(written))
    for (const some of portionsOf(usernames, ROWS_AT_ONCE))
      await tx
        .updateTable("sessionDue")
        .set({ dueAt, nextAt: dueAt })
        .where((eb) => eb.and({ targetId, state: "due", nextAt: NEVER }))
        .where("username", "in", some)
        .execute();
}

/** All writers use the same order, so that they cannot deadlock. */
function byName(one: { readonly username: string }, other: { readonly username: string }): number {
  return one.username < other.username ? -1 : 1;
}

function byTime(written: ReadonlyMap<string, Instant>): Map<Instant, string[]> {
  const times = new Map<Instant, string[]>();
  for (const [username, at] of written) times.set(at, [...(times.get(at) ?? []), username]);
  return times;
}

/** By then, each process has read a target's new settings. */
const SETTINGS_READ_MS = 2_000;

/** After a change of a target's settings, sessions that are still open are ended anew; without devices, none are due. */
export async function restartDue(tx: Db, { id, config }: Target, now: Instant): Promise<void> {
  const at = now + SETTINGS_READ_MS;
  const open = tx.updateTable("sessionDue").where("targetId", "=", id).where("nextAt", "<", NEVER);
  if (config.kind === "radius" && config.sessions !== undefined)
    await open.set({ ...ANEW, dueAt: at, nextAt: at }).execute();
  else await tx.deleteFrom("sessionDue").where("targetId", "=", id).where("endedAt", "is", null).execute();
}

type HeldBy = Readonly<Record<"lease" | "holder", string>>;

export type SessionsDue = ReturnType<typeof sessionsDueOf>;

/** The reads and writes of the worker that ends sessions. */
export function sessionsDueOf(engine: Engine) {
  return {
    /** All users with something left to do, after a name; also those that another process has begun. */
    async open(targetId: number, after: string, limit: number): Promise<DueUser[]> {
      const rows = openRows(engine.db, targetId).where("username", ">", after).orderBy("username").limit(limit);
      return (await rows.execute()).map(toDueUser);
    },
    async due(targetId: number, now: Instant, limit: number): Promise<DueUser[]> {
      const rows = openRows(engine.db, targetId).where("nextAt", "<=", now).orderBy("nextAt").limit(limit);
      return (await rows.execute()).map(toDueUser);
    },
    /**
     * Writes the progress of users, who are not due again before `heldUntil`.
     * @returns users who were begun anew meanwhile, by a change of theirs or of the target; undefined, and nothing is
     * written, if another process has the lease by now.
     */
    save: (targetId: number, users: readonly DueUser[], heldUntil: Instant, by: HeldBy) =>
      engine.transact(async (tx): Promise<DueUser[] | undefined> => {
        if ((await engine.holderOf(tx, by.lease)) !== by.holder) return undefined;
        const left: DueUser[] = [];
        for (const user of users.toSorted(byName)) {
          const { username, seq, dueAt, state, endedAt = null, problem = null, attempts, sessions } = user;
          const nextAt = Math.max(user.nextAt, heldUntil);
          const { numUpdatedRows } = await tx
            .updateTable("sessionDue")
            .set({ state, endedAt, problem, nextAt, attempts, noted: JSON.stringify(sessions) })
            .where((eb) => eb.and({ targetId, username, seq, dueAt }))
            .executeTakeFirst();
          if (Number(numUpdatedRows) === 0) left.push(user);
        }
        return left;
      }),
  };
}

function openRows(db: Db, targetId: number) {
  return db.selectFrom("sessionDue").selectAll().where("targetId", "=", targetId).where("nextAt", "<", NEVER);
}

export function toDueUser({ targetId: _, noted, endedAt, problem, ...row }: SessionDueRow): DueUser {
  const sessions = noted === null ? [] : JSON.parse(noted);
  return { ...row, endedAt: endedAt ?? undefined, problem: problem ?? undefined, sessions };
}

/** Problems that keep sessions open longer than a minute after the change, with their numbers of users. */
export async function openSessions(db: Db, targetId: number, now: Instant) {
  const rows = await openRows(db, targetId)
    .clearSelect()
    .select((eb) => ["problem", eb.fn.countAll().as("count"), eb.fn.min("dueAt").as("since")])
    .where("state", "in", ["due", "failed"])
    .where("dueAt", "<", now - CONFIRMED_WITHIN_MS)
    .groupBy("problem")
    .orderBy("problem")
    .execute();
  return rows.map(({ problem, count, since }) => ({ problem, count: Number(count), since: Number(since) }));
}
