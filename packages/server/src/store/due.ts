import { sql } from "kysely";
import type { ToldChange } from "../domain/news.ts";
import { portionsOf } from "../domain/portions.ts";
import { isFact } from "../domain/subject.ts";
import { LONGEST_PAUSE_MS, type LoggedAttempt, MOST_LOGGED } from "../domain/target.ts";
import { DAY_MS, type Instant, type WallTime } from "../domain/wall-time.ts";
import { logAttempts } from "./delivery-log.ts";
import { type Db, type Engine, withRawNames } from "./engine.ts";
import type { HeldLease } from "./outbox.ts";
import { putOnlyRow } from "./settings.ts";
import { pick } from "./table.ts";
import { type DueRow, type RawRow, TABLES, type ToldRow } from "./tables.ts";

/*
 * How far is this news at that target? `due` has what is open, one row for a target and a subject; `told` has the last version
 * of each connection at a target. Nothing is read in the order of a log, and no two subjects share a lock. Nobody else reads
 * or writes these tables.
 */

/** Rows that one statement names. */
const ROWS_AT_ONCE = 500;
/** Rows of a list for staff. */
const MOST_SHOWN = 50;

/** The columns of a change. The others begin with their defaults. */
export const CHANGE = pick(
  TABLES.due.columns,
  ...(["target_id", "subject", "cuid", "changes", "kind", "since", "next_at"] as const),
);
export type ChangeRow = Pick<RawRow<"due">, keyof typeof CHANGE>;

/** A change of an open row: it is sent at once, and stays due since the oldest change that is not done. */
const CHANGED = {
  changes: "due.changes + excluded.changes",
  cuid: "excluded.cuid",
  kind: "excluded.kind",
  since: "CASE WHEN due.since < excluded.since THEN due.since ELSE excluded.since END",
  state: "'open'",
  next_at: "excluded.next_at",
  attempts: "0",
  problem: "NULL",
};
export const ON_CHANGE = `ON CONFLICT (target_id, subject) DO UPDATE SET ${Object.entries(CHANGED)
  .map(([column, value]) => `${column} = ${value}`)
  .join(", ")}`;

/** The rows of changes in the order of their keys, each subject of a target once. */
export function changeRows(changes: readonly ToldChange[]): ChangeRow[] {
  const rows = new Map<string, ChangeRow>();
  for (const { subject, cuid = null, kind, at, targets } of changes)
    for (const target_id of targets) {
      const key = `${target_id} ${subject}`;
      const before = rows.get(key);
      const since = Math.min(at, before?.since ?? at);
      rows.set(key, { target_id, subject, cuid, changes: (before?.changes ?? 0) + 1, kind, since, next_at: at });
    }
  return inOrder([...rows.values()]);
}

/** Sorts by key, in the order of PostgreSQL's locks: by bytes, unlike JavaScript's order. */
function inOrder<Row extends { readonly target_id: number; readonly subject: string }>(rows: readonly Row[]): Row[] {
  return rows
    .map((row) => ({ row, bytes: Buffer.from(row.subject) }))
    .sort((a, b) => a.row.target_id - b.row.target_id || Buffer.compare(a.bytes, b.bytes))
    .map(({ row }) => row);
}

/** Called in the transaction of a change, where events are written: after all other locks. */
export async function change(tx: Db, changes: readonly ToldChange[]): Promise<void> {
  for (const some of portionsOf(changeRows(changes), ROWS_AT_ONCE)) await insert(tx, some, CHANGED);
}

/**
 * Makes connections due although nothing changed: late for nobody, until a change joins them. After a restore, receivers know
 * versions that the database does not, so the next version is greater than the time of this call.
 */
export async function refresh(
  tx: Db,
  targetId: number,
  connections: readonly Pick<ToldChange, "subject" | "cuid">[],
  at: Instant,
): Promise<void> {
  const rows = connections.map(({ subject, cuid = null }) => {
    const begun = { changes: 1, kind: "subscription.changed", since: null, next_at: at, sent: at } as const;
    return { target_id: targetId, subject, cuid, ...begun };
  });
  for (const some of portionsOf(inOrder(rows), ROWS_AT_ONCE)) await insert(tx, some, REFRESHED);
}

const { kind: _, since: __, ...SENT_AGAIN } = CHANGED;
const REFRESHED = {
  ...SENT_AGAIN,
  sent: "CASE WHEN due.sent > excluded.sent THEN due.sent ELSE excluded.sent END",
};

const BEGUN = { state: "open", attempts: 0, problem: null, sent: 0, sent_changes: 0 } as const;

/** @param put what becomes of the columns of a row that exists. */
async function insert(tx: Db, rows: readonly ChangeRow[], put: Readonly<Record<string, string>>): Promise<void> {
  if (rows.length === 0) return;
  const values = Object.entries(put).map(([column, value]) => [column, sql.raw(value)]);
  await withRawNames(tx)
    .insertInto("due")
    .values(rows.map((row) => ({ ...BEGUN, ...row })))
    .onConflict((on) => on.columns(["target_id", "subject"]).doUpdateSet(Object.fromEntries(values)))
    .execute();
}

/**
 * Called in the transaction of a restore, whose clock must be right and need not be later. What the copy waits for may have
 * been confirmed, so each open row is due. All connections must be refreshed afterwards.
 */
export async function restored(tx: Db, now: Instant): Promise<void> {
  await tx.updateTable("due").set({ state: "open", nextAt: now, sentChanges: 0 }).execute();
  await tx.updateTable("told").set({ rights: null }).where("rights", "is not", null).execute();
}

/** A row whose attempt begins. */
export interface BegunDue extends DueRow {
  /** The version that this attempt sends. */
  readonly sent: number;
  /** The rights that RADIUS last carried out: see `told`. */
  readonly rights: string | null;
}

/** How an attempt ended. */
export type Attempt = AcceptedAttempt | FailedAttempt;

export interface AcceptedAttempt {
  readonly ok: true;
  readonly sentAt: Instant;
  readonly at: Instant;
  /** Whether the receiver promised a confirmation. */
  readonly waits: boolean;
  /** The rights that RADIUS has now; undefined for other targets. */
  readonly rights?: string | undefined;
}

export interface FailedAttempt {
  readonly ok: false;
  /** The failures that count against the subject, with this one. */
  readonly attempts: number;
  /** Whether the subject is set aside until it changes. */
  readonly isHopeless: boolean;
  readonly retryAt: Instant;
  readonly problem: string;
}

export interface EndedAttempt {
  readonly due: BegunDue;
  readonly end: Attempt;
  /** Undefined if nothing was sent. */
  readonly logged?: LoggedAttempt | undefined;
}

/** Said by a receiver about a version that it was sent. */
export interface Confirmation {
  readonly subject: string;
  /** Undefined for a fact, whose id names no version. */
  readonly version: number | undefined;
  readonly state: "done" | "failed";
  readonly detail?: string | undefined;
}

/** `unknown`: this version was not sent. `replaced`: a later one is on record. */
export type Confirmed = { readonly state: "unknown" | "replaced" } | RecordedConfirmation;
interface RecordedConfirmation {
  readonly state: "done" | "failed";
  /** Time of the oldest change that is done now; undefined if none is. */
  readonly doneSince: Instant | undefined;
}

export type DueStore = ReturnType<typeof dueOf>;

/** The reads and writes of delivery, receivers and the desk. Each write of an attempt checks the holder of the target's lease. */
export function dueOf(engine: Engine) {
  const { db } = engine;
  return {
    targetsDue: (now: Instant) => targetsDue(db, now),
    begin: (portion: Portion, by: HeldLease) => begin(engine, portion, by),
    recordAttempts: (ended: EndedAttempts, by: HeldLease) => recordAttempts(engine, ended, by),
    forget: (now: Instant) => forget(engine, now),
    retryAll: (targetId: number, now: Instant, by: HeldLease) => retryAll(engine, targetId, now, by),
    confirm: (targetId: number, confirmation: Confirmation, at: Instant) => confirm(engine, targetId, confirmation, at),
    turn: (now: WallTime, find: FindTurns, by: HeldLease) => turn(engine, now, find, by),
    counts: (targetId?: number) => countDue(db, targetId),
    late: (targetIds: readonly number[], before: Instant) => findLate(db, targetIds, before),
    status: (subjects: readonly string[]) => readStatus(db, subjects),
  };
}

/** The subjects to begin at a target. */
export interface Portion {
  readonly targetId: number;
  readonly now: Instant;
  readonly limit: number;
  /** Subjects with an attempt that is not recorded. */
  readonly busy: ReadonlySet<string>;
}

/**
 * The targets with something due that are not paused. It jumps from one target with open rows to the next, so that others
 * cost nothing.
 */
async function targetsDue(db: Db, now: Instant): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`WITH RECURSIVE target_open (id) AS (
      SELECT min(target_id) FROM due WHERE state = 'open'
      UNION ALL
      SELECT (SELECT min(target_id) FROM due WHERE state = 'open' AND target_id > target_open.id) FROM target_open
      WHERE target_open.id IS NOT NULL)
    SELECT id FROM target_open WHERE id IS NOT NULL AND NOT EXISTS (
        SELECT 1 FROM target AS t WHERE t.id = target_open.id AND t.paused = 1) AND (
      EXISTS (SELECT 1 FROM due WHERE target_id = target_open.id AND state = 'open' AND next_at <= ${now})
      OR EXISTS (SELECT 1 FROM due WHERE target_id = target_open.id AND state = 'open' AND next_at > ${now + LONGEST_PAUSE_MS}))
    ORDER BY id`.execute(withRawNames(db));
  return rows.map(({ id }) => Number(id));
}

/**
 * Gives what is due its versions before anything is sent, the longest due first. A version is greater than all that were sent
 * or recorded before, so that a receiver ignores what is not greater: whatever a kill, a lost answer or the clock does.
 * @returns undefined, and writes nothing, if another process has the lease by now.
 */
async function begin(
  engine: Engine,
  { targetId, now, limit, busy }: Portion,
  by: HeldLease,
): Promise<BegunDue[] | undefined> {
  const subjects = await findDue(engine.db, { targetId, now, limit, busy });
  if (subjects.length === 0) return [];
  return engine.transact(async (tx) => {
    if (!(await holds(engine, tx, by))) return undefined;
    await engine.lockDue(tx, targetId, subjects);
    const rows = await withRawNames(tx)
      .selectFrom("due as d")
      .leftJoin("told as t", (on) => on.onRef("t.target_id", "=", "d.target_id").onRef("t.subject", "=", "d.subject"))
      .selectAll("d")
      .select(["t.version", "t.rights"])
      .where("d.target_id", "=", targetId)
      .where("d.subject", "in", subjects)
      .where("d.state", "=", "open")
      .execute();
    const begun = rows.map(({ version, rights, ...row }) => {
      const sent = Math.max(now, row.sent + 1, (version ?? 0) + 1);
      return { rights, row: { ...row, sent, sent_changes: row.changes } };
    });
    await engine.rows.put(
      tx,
      "due",
      begun.map(({ row }) => row),
    );
    const places = new Map(subjects.map((subject, place) => [subject, place]));
    const placeOf = ({ subject }: { readonly subject: string }) => places.get(subject) ?? 0;
    return begun.map(toBegun).sort((a, b) => placeOf(a) - placeOf(b));
  });
}

/** A time that no attempt could name was written while the clock was ahead: it is due too. */
async function findDue(db: Db, { targetId, now, limit, busy }: Portion): Promise<string[]> {
  const open = db.selectFrom("due").select("subject").where("targetId", "=", targetId).where("state", "=", "open");
  const ordered = open
    .orderBy("nextAt")
    .orderBy("subject")
    .limit(limit + busy.size);
  const found = [
    ...(await ordered.where("nextAt", "<=", now).execute()),
    ...(await ordered.where("nextAt", ">", now + LONGEST_PAUSE_MS).execute()),
  ];
  return found.flatMap(({ subject }) => (busy.has(subject) ? [] : [subject])).slice(0, limit);
}

async function holds(engine: Engine, tx: Db, { lease, holder }: HeldLease): Promise<boolean> {
  return (await engine.holderOf(tx, lease)) === holder;
}

function toBegun({ row, rights }: { readonly row: RawRow<"due">; readonly rights: string | null }): BegunDue {
  const { target_id: targetId, next_at: nextAt, sent_changes: sentChanges, ...same } = row;
  return { ...same, targetId, nextAt, sentChanges, rights };
}

/** Ended attempts at a target, at most one of each subject. */
export interface EndedAttempts {
  readonly targetId: number;
  readonly ended: readonly EndedAttempt[];
  /** Whether the target wants nothing more: it is paused. */
  readonly isGone: boolean;
}

/**
 * Records attempts. What changed meanwhile stays due, and a confirmation that came before the answer counts.
 * @returns false, and writes nothing, if another process has the lease by now.
 */
function recordAttempts(engine: Engine, { targetId, ended, isGone }: EndedAttempts, by: HeldLease): Promise<boolean> {
  return engine.transact(async (tx) => {
    if (!(await holds(engine, tx, by))) return false;
    if (isGone) await tx.updateTable("target").set({ paused: 1, gone: 1 }).where("id", "=", targetId).execute();
    const subjects = ended.map(({ due }) => due.subject);
    const rows = await lockRows(engine, tx, targetId, subjects);
    await putTold(tx, ended.flatMap(toToldRow));
    const left: RawRow<"due">[] = [];
    const done: string[] = [];
    for (const attempt of ended) {
      const row = rows.get(attempt.due.subject);
      if (!isOpenStill(row, attempt.due)) continue;
      const after = rowAfter(row, attempt.end);
      if (after === undefined) done.push(row.subject);
      else left.push(after);
    }
    await engine.rows.put(tx, "due", left);
    if (done.length > 0) await remove(tx, targetId, done);
    await logAttempts(tx, targetId, ended.flatMap(({ logged }) => logged ?? []).slice(-MOST_LOGGED));
    return true;
  });
}

/** Whether the row has not changed since it was read: a confirmation has deleted it, or made it `failed`. */
function isOpenStill(row: RawRow<"due"> | undefined, due: BegunDue): row is RawRow<"due"> {
  return row?.state === "open" && row.changes === due.changes && row.sent === due.sent;
}

/** The row after an attempt that has read all of its changes; undefined if it is done. */
function rowAfter(row: RawRow<"due">, end: Attempt): RawRow<"due"> | undefined {
  if (end.ok) return end.waits ? { ...row, state: "waits", attempts: 0, problem: null } : undefined;
  const { isHopeless, retryAt, attempts, problem } = end;
  return { ...row, state: isHopeless ? "aside" : "open", next_at: retryAt, attempts, problem: storable(problem) };
}

async function lockRows(
  engine: Engine,
  tx: Db,
  targetId: number,
  subjects: readonly string[],
): Promise<Map<string, RawRow<"due">>> {
  if (subjects.length === 0) return new Map();
  await engine.lockDue(tx, targetId, subjects);
  const query = withRawNames(tx).selectFrom("due").selectAll().where("target_id", "=", targetId);
  const rows = await query.where("subject", "in", subjects).execute();
  return new Map(rows.map((row) => [row.subject, row]));
}

async function remove(tx: Db, targetId: number, subjects: readonly string[]): Promise<void> {
  await tx.deleteFrom("due").where("targetId", "=", targetId).where("subject", "in", subjects).execute();
}

/** PostgreSQL stores no NUL. */
function storable(text: string): string {
  return text.replaceAll("\0", "\uFFFD");
}

function toToldRow({ due, end }: EndedAttempt): RawRow<"told">[] {
  if (!end.ok || isFact(due.subject)) return [];
  const { targetId: target_id, subject, sent: version, kind } = due;
  const times = { sent_at: end.sentAt, accepted_at: end.at, ended_at: null };
  const state = end.waits ? "waits" : "done";
  return [{ target_id, subject, version, kind, ...times, state, detail: null, rights: end.rights ?? null }];
}

/** The version is on record already: then what its receiver said about it stays, and so do the times of its attempt. */
const IS_KNOWN = "told.version = excluded.version";
const IS_CONFIRMED = `${IS_KNOWN} AND told.ended_at IS NOT NULL AND excluded.ended_at IS NULL`;
const TOLD = {
  version: "excluded.version",
  kind: "excluded.kind",
  sent_at: `CASE WHEN ${IS_KNOWN} THEN coalesce(excluded.sent_at, told.sent_at) ELSE excluded.sent_at END`,
  accepted_at: `CASE WHEN ${IS_KNOWN} THEN coalesce(excluded.accepted_at, told.accepted_at) ELSE excluded.accepted_at END`,
  ended_at: `CASE WHEN ${IS_CONFIRMED} THEN told.ended_at ELSE excluded.ended_at END`,
  state: `CASE WHEN ${IS_CONFIRMED} THEN told.state ELSE excluded.state END`,
  detail: `CASE WHEN ${IS_CONFIRMED} THEN told.detail ELSE excluded.detail END`,
  rights: "coalesce(excluded.rights, told.rights)",
};

/** Writes what connections were told. A later version is kept. */
async function putTold(tx: Db, rows: readonly RawRow<"told">[]): Promise<void> {
  if (rows.length === 0) return;
  const values = Object.entries(TOLD).map(([column, value]) => [column, sql.raw(value)]);
  await withRawNames(tx)
    .insertInto("told")
    .values(inOrder(rows))
    .onConflict((on) =>
      on
        .columns(["target_id", "subject"])
        .doUpdateSet(Object.fromEntries(values))
        .where(sql<boolean>`excluded.version >= told.version`),
    )
    .execute();
}

/** Makes what failed due at once, because the target takes events again. What its failures count for stays. */
async function retryAll(engine: Engine, targetId: number, now: Instant, by: HeldLease): Promise<void> {
  const later = (tx: Db) =>
    tx
      .selectFrom("due")
      .select("subject")
      .where("targetId", "=", targetId)
      .where("state", "=", "open")
      .where("nextAt", ">", now);
  for (;;) {
    const some = (await later(engine.db).limit(ROWS_AT_ONCE).execute()).map(({ subject }) => subject);
    if (some.length === 0) return;
    const isHeld = await engine.transact(async (tx) => {
      if (!(await holds(engine, tx, by))) return false;
      await engine.lockDue(tx, targetId, some);
      const rows = tx.updateTable("due").set({ nextAt: now }).where("targetId", "=", targetId);
      await rows.where("subject", "in", some).where("state", "=", "open").execute();
      return true;
    });
    if (!isHeld) return;
  }
}

/** How long facts are kept that a target does not take, unless it is billing. */
export const FACTS_KEPT_MS = 30 * DAY_MS;

/**
 * Deletes a portion of the rows of removed targets, and of facts that are too old.
 * @returns the number of rows.
 */
function forget(engine: Engine, now: Instant): Promise<number> {
  return engine.transact(async (tx) => {
    const others = await tx.selectFrom("target").select("id").where("billing", "=", 0).execute();
    let forgotten = 0;
    const drop = async (targetId: number, rows: readonly { readonly subject: string }[]) => {
      const subjects = rows.map(({ subject }) => subject);
      if (subjects.length === 0) return;
      await engine.lockDue(tx, targetId, subjects);
      await remove(tx, targetId, subjects);
      forgotten += subjects.length;
    };
    for (const { id } of others) {
      const old = tx.selectFrom("due").select("subject").where("targetId", "=", id);
      const facts = old.where("since", "<", now - FACTS_KEPT_MS).where("subject", "like", "fact %");
      await drop(id, await facts.limit(ROWS_AT_ONCE).execute());
    }
    for (const id of await removedIn(tx, "due")) {
      const rows = tx.selectFrom("due").select("subject").where("targetId", "=", id);
      await drop(id, await rows.limit(ROWS_AT_ONCE).execute());
    }
    for (const id of await removedIn(tx, "told")) {
      const rows = tx.selectFrom("told").select("subject").where("targetId", "=", id).limit(ROWS_AT_ONCE);
      const told = tx.deleteFrom("told").where("targetId", "=", id).where("subject", "in", rows);
      forgotten += Number((await told.executeTakeFirst()).numDeletedRows);
    }
    for (const id of await removedIn(tx, "delivery_log"))
      await tx.deleteFrom("deliveryLog").where("targetId", "=", id).execute();
    return forgotten;
  });
}

/** Numbers of removed targets that still have rows. It jumps from one number to the next. */
async function removedIn(db: Db, name: "due" | "told" | "delivery_log"): Promise<number[]> {
  const table = sql.table(name);
  const { rows } = await sql<{ id: number }>`WITH RECURSIVE known (id) AS (
      SELECT min(target_id) FROM ${table}
      UNION ALL
      SELECT (SELECT min(target_id) FROM ${table} WHERE target_id > known.id) FROM known WHERE known.id IS NOT NULL)
    SELECT id FROM known WHERE id IS NOT NULL AND id NOT IN (SELECT id FROM target)`.execute(withRawNames(db));
  return rows.map(({ id }) => Number(id));
}

/** Makes due at once, by a decision of staff, what failed, waits for a confirmation or is set aside. @returns its number. */
export async function sendFailedAgain(engine: Engine, tx: Db, targetId: number, now: Instant): Promise<number> {
  const failed = tx.selectFrom("due").select("subject").where("targetId", "=", targetId);
  const subjects = (
    await failed.where((eb) => eb.or([eb("attempts", ">", 0), eb("state", "in", ["aside", "failed"])])).execute()
  ).map(({ subject }) => subject);
  for (const some of portionsOf(subjects, ROWS_AT_ONCE)) {
    await engine.lockDue(tx, targetId, some);
    const again = { state: "open", nextAt: now, attempts: 0, problem: null } as const;
    await tx.updateTable("due").set(again).where("targetId", "=", targetId).where("subject", "in", some).execute();
  }
  return subjects.length;
}

/** Finds the rows of a target that failed or are set aside, the oldest first. */
export function findFailed(db: Db, targetId: number, limit: number): Promise<DueRow[]> {
  const rows = db.selectFrom("due").selectAll().where("targetId", "=", targetId);
  return rows
    .where((eb) => eb.or([eb("attempts", ">", 0), eb("state", "in", ["aside", "failed"])]))
    .orderBy("since")
    .orderBy("subject")
    .limit(limit)
    .execute();
}

/**
 * Records what a receiver says about a version, also before its answer. It says nothing about a later change. A failure stays
 * open, and late, until the next change; also of a version that had counted as done.
 */
function confirm(
  engine: Engine,
  targetId: number,
  { subject, version: named, state, detail }: Confirmation,
  at: Instant,
): Promise<Confirmed> {
  return engine.transact(async (tx): Promise<Confirmed> => {
    const row = (await lockRows(engine, tx, targetId, [subject])).get(subject);
    const known = await readTold(tx, targetId, subject);
    const version = versionOf(named, row, known);
    if (typeof version === "string") return { state: version };
    const kind = row?.kind ?? known?.kind ?? "subscription.changed";
    const said = { state, detail: detail === undefined ? null : storable(detail), ended_at: at };
    const told = { target_id: targetId, subject, version, kind, ...NO_ATTEMPT, ...said };
    if (!isFact(subject)) await putTold(tx, [told]);
    return { state, doneSince: await applyToDue(engine, tx, told, { row, since: known?.accepted_at ?? at }) };
  });
}

/** The version that a confirmation means, if it was sent, and no later one is on record. */
function versionOf(
  named: number | undefined,
  row: RawRow<"due"> | undefined,
  known: RawRow<"told"> | undefined,
): number | "unknown" | "replaced" {
  const [sent, recorded] = [row?.sent ?? 0, known?.version ?? 0];
  const version = named ?? sent;
  if (version === 0 || version > Math.max(sent, recorded)) return "unknown";
  return version < recorded ? "replaced" : version;
}

/**
 * @param of.since when the receiver took the version.
 * @returns time of the oldest change that is done now; undefined if none is.
 */
async function applyToDue(
  engine: Engine,
  tx: Db,
  told: RawRow<"told">,
  { row, since }: { readonly row: RawRow<"due"> | undefined; readonly since: Instant },
): Promise<Instant | undefined> {
  const { target_id, subject, version, state, detail } = told;
  if (row === undefined) {
    if (state === "failed") await engine.rows.add(tx, "due", [reopened(told, since)]);
    return undefined;
  }
  // A subject that changed since, or is under way again, is open anyway.
  if (row.sent !== version || row.changes !== row.sent_changes) return undefined;
  if (state === "failed") {
    await engine.rows.put(tx, "due", [{ ...row, state, problem: detail }]);
    return undefined;
  }
  await remove(tx, target_id, [subject]);
  return row.since ?? undefined;
}

const NO_ATTEMPT = { sent_at: null, accepted_at: null, rights: null } as const;

function readTold(tx: Db, targetId: number, subject: string): Promise<RawRow<"told"> | undefined> {
  const rows = withRawNames(tx).selectFrom("told").selectAll().where("target_id", "=", targetId);
  return rows.where("subject", "=", subject).executeTakeFirst();
}

/** The row of a version that had counted as done. @param since when its receiver took it. */
function reopened({ target_id, subject, kind, version, detail }: RawRow<"told">, since: Instant): RawRow<"due"> {
  const read = { changes: 1, sent: version, sent_changes: 1 };
  const failed = { state: "failed", problem: detail } as const;
  return { ...BEGUN, target_id, subject, cuid: null, kind, since, next_at: since, ...read, ...failed };
}

/** Finds the beginnings and ends after a time, up to another. */
export type FindTurns = (tx: Db, after: WallTime, until: WallTime) => Promise<readonly ToldChange[]>;

/**
 * Plans begin and end by themselves. A look finds those since the last look. If the clock was set back, so is the look: what is
 * told twice does no harm, and what ends meanwhile is not missed. The first look finds nothing.
 * @returns false, and writes nothing, if another process has the lease by now.
 */
function turn(engine: Engine, now: WallTime, find: FindTurns, by: HeldLease): Promise<boolean> {
  return engine.transact(async (tx) => {
    if (!(await holds(engine, tx, by))) return false;
    const last = await tx.selectFrom("endsTold").select("toldUntil").executeTakeFirst();
    if (last !== undefined && last.toldUntil < now) await change(tx, await find(tx, last.toldUntil, now));
    await putOnlyRow(tx, "endsTold", { toldUntil: now });
    return true;
  });
}

/** Numbers of subjects that a target lacks. */
export interface DueCounts {
  readonly targetId: number;
  /** Those that are sent as soon as their time comes, and how many of them failed. */
  readonly open: number;
  readonly failing: number;
  readonly waits: number;
  readonly failed: number;
  readonly aside: number;
  /** Those that did not change, and are only sent once more: they are late for nobody. */
  readonly refreshed: number;
  /** Time of the oldest change that is not done. */
  readonly oldest: Instant | undefined;
  /** The same of those that are not set aside. */
  readonly oldestDue: Instant | undefined;
}

export async function countDue(db: Db, targetId?: number): Promise<DueCounts[]> {
  const due = db.selectFrom("due");
  const rows = await (targetId === undefined ? due : due.where("targetId", "=", targetId))
    .select(({ fn }) => [
      "targetId",
      fn.countAll().filterWhere("state", "=", "open").as("open"),
      fn.countAll().filterWhere("state", "=", "open").filterWhere("attempts", ">", 0).as("failing"),
      fn.countAll().filterWhere("state", "=", "waits").as("waits"),
      fn.countAll().filterWhere("state", "=", "failed").as("failed"),
      fn.countAll().filterWhere("state", "=", "aside").as("aside"),
      fn.countAll().filterWhere("since", "is", null).as("refreshed"),
      fn.min("since").as("oldest"),
      fn.min("since").filterWhere("state", "!=", "aside").as("oldestDue"),
    ])
    .groupBy("targetId")
    .orderBy("targetId")
    .execute();
  return rows.map(({ targetId: id, open, failing, waits, failed, aside, refreshed, ...times }) => {
    const numbers = { open: Number(open), failing: Number(failing), waits: Number(waits), failed: Number(failed) };
    const [oldest, oldestDue] = [times.oldest ?? undefined, times.oldestDue ?? undefined];
    return { targetId: id, ...numbers, aside: Number(aside), refreshed: Number(refreshed), oldest, oldestDue };
  });
}

export interface Late {
  readonly count: number;
  /** The longest late, at most 50. */
  readonly longest: readonly DueRow[];
}

/** Connections whose oldest change at some targets is from before a time, in whatever state. */
async function findLate(db: Db, targetIds: readonly number[], before: Instant): Promise<Late> {
  if (targetIds.length === 0) return { count: 0, longest: [] };
  const late = db
    .selectFrom("due")
    .where("targetId", "in", targetIds)
    .where("since", "<", before)
    .where("subject", "like", "connection %");
  const { count } = await late.select(({ fn }) => fn.countAll().as("count")).executeTakeFirstOrThrow();
  const longest = late.selectAll().orderBy("since").orderBy("targetId").orderBy("subject").limit(MOST_SHOWN);
  return { count: Number(count), longest: await longest.execute() };
}

export interface DueStatus {
  readonly due: readonly DueRow[];
  readonly told: readonly ToldRow[];
}

/** How far some subjects are at all targets. */
async function readStatus(db: Db, subjects: readonly string[]): Promise<DueStatus> {
  const [due, told]: [DueRow[], ToldRow[]] = [[], []];
  // The keys begin with the target.
  const targets = db.selectFrom("target").select("id");
  for (const some of portionsOf(subjects, ROWS_AT_ONCE)) {
    const rows = db.selectFrom("due").selectAll().where("targetId", "in", targets).where("subject", "in", some);
    due.push(...(await rows.orderBy("targetId").orderBy("subject").execute()));
    const versions = db.selectFrom("told").selectAll().where("targetId", "in", targets).where("subject", "in", some);
    told.push(...(await versions.orderBy("targetId").orderBy("subject").execute()));
  }
  return { due, told };
}
