import { sql } from "kysely";
import type { AccountKey } from "../domain/account.ts";
import { type LoggedAttempt, MOST_LOGGED, type Target } from "../domain/target.ts";
import type { Db } from "./engine.ts";
import { toTarget } from "./events.ts";
import type { DeliveryLogRow } from "./tables.ts";

/** Characters of a body or an answer that are kept. */
const MOST_CHARACTERS = 4_096;

/** Logs attempts at a target, and deletes all but the last ones. @param attempts at most as many as are kept. */
export async function logAttempts(tx: Db, targetId: number, attempts: readonly LoggedAttempt[]): Promise<void> {
  if (attempts.length === 0) return;
  const rows = attempts.map((attempt) => toRow(targetId, attempt));
  await tx
    .insertInto("deliveryLog")
    .values(rows)
    .onConflict((on) => on.doNothing())
    .execute();
  const surplus = await logOf(tx, targetId).offset(MOST_LOGGED).limit(1).executeTakeFirst();
  if (surplus === undefined) return;
  await tx
    .deleteFrom("deliveryLog")
    .where("targetId", "=", targetId)
    .where(sql<boolean>`(at, seq) <= (${surplus.at}, ${surplus.seq})`)
    .execute();
}

/** The logged attempts at a target, newest first. */
export async function loggedAttempts(db: Db, targetId: number): Promise<LoggedAttempt[]> {
  const rows = await logOf(db, targetId).limit(MOST_LOGGED).execute();
  return rows.map(({ targetId: _, ...row }) => ({
    ...row,
    status: row.status ?? undefined,
    request: row.request ?? undefined,
    answer: row.answer ?? undefined,
    problem: row.problem ?? undefined,
  }));
}

/** An attempt at a partner's webhook. */
export interface OwnDelivery extends LoggedAttempt {
  /** Id and type of the fact. */
  readonly id: string;
  readonly type: string;
}

/** The logged attempts at a partner's webhook, newest first. */
export async function ownDeliveries(db: Db, targetId: number): Promise<OwnDelivery[]> {
  return (await loggedAttempts(db, targetId)).flatMap((attempt) => {
    if (attempt.request === undefined) return [];
    const { id, type }: Pick<OwnDelivery, "id" | "type"> = JSON.parse(attempt.request);
    return [{ ...attempt, id, type }];
  });
}

/** The webhook of an account. */
export async function findWebhook(db: Db, { partnerId, environment }: AccountKey): Promise<Target | undefined> {
  const rows = db
    .selectFrom("target")
    .selectAll()
    .where((eb) => eb.and({ partnerId, environment }));
  const row = await rows.executeTakeFirst();
  return row && toTarget(row);
}

function logOf(db: Db, targetId: number) {
  return db
    .selectFrom("deliveryLog")
    .selectAll()
    .where("targetId", "=", targetId)
    .orderBy("at", "desc")
    .orderBy("seq", "desc");
}

function toRow(targetId: number, attempt: LoggedAttempt): DeliveryLogRow {
  const { at, seq, attempt: number, status = null, request, answer, problem = null, durationMs } = attempt;
  const texts = { request: textOf(request), answer: textOf(answer) };
  return { targetId, at, seq, attempt: number, status, ...texts, problem, durationMs };
}

/** PostgreSQL stores no NUL. */
function textOf(text: string | undefined): string | null {
  if (text === undefined) return null;
  const cut = text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS - 1)}…` : text;
  return cut.replaceAll("\0", "\uFFFD");
}
