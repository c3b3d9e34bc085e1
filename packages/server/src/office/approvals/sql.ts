import type { Environment } from "../../domain/customer.ts";
import { DAY_MS, type Instant } from "../../domain/wall-time.ts";
import type { Db } from "../../store/engine.ts";
import type { ApprovalRow } from "../../store/tables.ts";

/** A request that nobody decided within this time is expired. */
export const WAITS_MS = 7 * DAY_MS;
const MOST_LISTED = 100;

/** The change that a request asks for. */
export type Subject = Pick<ApprovalRow, "kind" | "subject">;
export type ApprovalState = ApprovalRow["state"] | "expired";

export function stateOf(
  { state, requestedAt }: Pick<ApprovalRow, "state" | "requestedAt">,
  now: Instant,
): ApprovalState {
  return state === "waiting" && requestedAt < now - WAITS_MS ? "expired" : state;
}

export function findApproval(db: Db, id: string): Promise<ApprovalRow | undefined> {
  return db.selectFrom("approval").selectAll().where("id", "=", id).executeTakeFirst();
}

/** The last request for a change. */
export function approvalOf(db: Db, { kind, subject }: Subject): Promise<ApprovalRow | undefined> {
  const query = db.selectFrom("approval").selectAll().where("kind", "=", kind).where("subject", "=", subject);
  return query.executeTakeFirst();
}

/** Lists the waiting requests, newest first, then the others. */
export function readApprovals(db: Db, environment: Environment): Promise<ApprovalRow[]> {
  const query = db.selectFrom("approval").selectAll().where("environment", "=", environment);
  return query.orderBy("state", "desc").orderBy("requestedAt", "desc").limit(MOST_LISTED).execute();
}

export async function countWaiting(db: Db, environment: Environment, now: Instant): Promise<number> {
  const { count } = await db
    .selectFrom("approval")
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .where("environment", "=", environment)
    .where("state", "=", "waiting")
    .where("requestedAt", ">=", now - WAITS_MS)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Writes a request. It replaces the previous one for its change. */
export async function writeRequest(tx: Db, approval: ApprovalRow): Promise<void> {
  const { kind, subject } = approval;
  await tx.deleteFrom("approval").where("kind", "=", kind).where("subject", "=", subject).execute();
  await tx.insertInto("approval").values(approval).execute();
}

type Decision = Pick<ApprovalRow, "state" | "decidedBy" | "refusal"> & { readonly decidedAt: Instant };

/** Records the decision on a waiting request. @returns whether it waited. */
export async function recordDecision(tx: Db, id: string, decision: Decision): Promise<boolean> {
  const update = tx.updateTable("approval").set(decision).where("id", "=", id).where("state", "=", "waiting");
  const { numUpdatedRows } = await update
    .where("requestedAt", ">=", decision.decidedAt - WAITS_MS)
    .executeTakeFirstOrThrow();
  return numUpdatedRows > 0n;
}

/** Ends a waiting request whose change was made or cancelled without it. */
export async function endRequest(
  tx: Db,
  { kind, subject }: Subject,
  decision: Pick<ApprovalRow, "state" | "decidedBy" | "decidedAt">,
): Promise<void> {
  const update = tx.updateTable("approval").set(decision);
  await update.where("kind", "=", kind).where("subject", "=", subject).where("state", "=", "waiting").execute();
}

/** The role of an account or API key that existed at a time: a later one of the same name is somebody else's. */
export async function roleAt(db: Db, author: string, at: Instant) {
  const key = /^key (.*)$/su.exec(author)?.[1];
  const found =
    key === undefined
      ? db.selectFrom("staff").select("role").where("name", "=", author).where("createdAt", "<=", at)
      : db.selectFrom("staffKey").select("role").where("name", "=", key).where("createdAt", "<=", at);
  return (await found.executeTakeFirst())?.role;
}
