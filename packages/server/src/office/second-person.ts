import { type Static, Type } from "typebox";
import type { AuditedChange } from "../domain/audit.ts";
import type { Environment } from "../domain/customer.ts";
import { formatMoneyInFull } from "../domain/money.ts";
import { Refused } from "../domain/refused.ts";
import { PERMISSIONS } from "../domain/staff.ts";
import type { Transaction } from "../domain/transaction.ts";
import { DAY_MS, type Instant, isoTime, isoTimeOrNull } from "../domain/wall-time.ts";
import type { Db } from "../store/engine.ts";
import type { Ports } from "../store/ports.ts";
import type { ApprovalRow, BulkRunRow } from "../store/tables.ts";
import { AmountSchema, BULK_ACTIONS, EnvironmentSchema, InstantSchema, oneOf, orNull } from "./common.ts";
import type { Change } from "./decide.ts";
import type { Corrector } from "./limits.ts";

/* A change that needs a second person is requested, and made in the transaction that confirms it. */

export const ApprovalSchema = Type.Object(
  {
    id: Type.String(),
    kind: oneOf(["reversal", "bulk"]),
    environment: EnvironmentSchema,
    subject: Type.String({ description: "The txnId of the top-up, or the id of the bulk change." }),
    topUp: orNull(Type.Object({ cuid: Type.String(), amount: AmountSchema })),
    bulk: orNull(Type.Object({ action: oneOf(BULK_ACTIONS), days: orNull(Type.Integer()), count: Type.Integer() })),
    reason: Type.String(),
    requestedBy: Type.String(),
    requestedAt: InstantSchema,
    state: oneOf(
      ["waiting", "confirmed", "refused", "expired"],
      "`expired`: nobody decided within 7 days, so it cannot be confirmed any more.",
    ),
    decidedBy: orNull(Type.String()),
    decidedAt: orNull(InstantSchema),
    refusal: orNull(Type.String({ description: "Reason of a refusal." })),
  },
  { title: "Approval", description: "A change that needs a second person." },
);

export function approvalData(
  { store, clock }: Pick<Ports, "store" | "clock">,
  approval: ApprovalRow,
  { topUp, run }: { readonly topUp?: Transaction | undefined; readonly run?: BulkRunRow | undefined },
): Static<typeof ApprovalSchema> {
  const { currencyExponent } = store.provider;
  return {
    ...approval,
    topUp: topUp === undefined ? null : { cuid: topUp.cuid, amount: formatMoneyInFull(topUp.amount, currencyExponent) },
    bulk: run === undefined ? null : { action: run.action, days: run.days, count: run.count },
    requestedAt: isoTime(approval.requestedAt),
    decidedAt: isoTimeOrNull(approval.decidedAt ?? undefined),
    state: stateOf(approval, clock()),
  };
}

const ID_BYTES = 9;

/**
 * Requests a change, in a transaction that excludes other requests for it. If one waits already, nothing changes.
 * @param audited the subject and values of the audit entry.
 */
export async function requestChange(
  { by, random }: Corrector,
  tx: Db,
  of: Subject & Pick<ApprovalRow, "environment">,
  audited: Pick<AuditedChange, "subject" | "after">,
): Promise<{ readonly approval: ApprovalRow; readonly change?: Change }> {
  const { author: requestedBy, at: requestedAt, reason = "" } = by;
  const last = await approvalOf(tx, of);
  if (last !== undefined && stateOf(last, requestedAt) === "waiting") return { approval: last };
  const id = Buffer.from(random(ID_BYTES)).toString("hex");
  const undecided = { state: "waiting", decidedBy: null, decidedAt: null, refusal: null } as const;
  const approval = { ...of, ...undecided, id, reason, requestedBy, requestedAt };
  const audit = [{ ...audited, action: "approval.request", before: undefined } as const];
  return { approval, change: { write: () => writeRequest(tx, approval), audit } };
}

/** Confirms a request, in the transaction that makes its change. @throws Refused */
export async function confirmRequest(office: Corrector, tx: Db, approval: ApprovalRow): Promise<void> {
  const { id, requestedBy, requestedAt } = approval;
  const role = await roleAt(tx, requestedBy, requestedAt);
  if (role === undefined || !PERMISSIONS[role].includes("correct"))
    throw new Refused("conflict", `${requestedBy} may not do this any more: refuse the request, and make it again`);
  await decideRequest(office, tx, id, "confirmed");
}

/** Records a decision on a request. @throws Refused if it does not wait any more. */
export async function decideRequest(
  { by }: Corrector,
  tx: Db,
  id: string,
  state: "confirmed" | "refused",
): Promise<void> {
  const refusal = state === "refused" ? (by.reason ?? null) : null;
  if (await recordDecision(tx, id, { state, refusal, decidedBy: by.author, decidedAt: by.at })) return;
  const found = (await findApproval(tx, id)) ?? noApproval();
  if (stateOf(found, by.at) === "expired")
    throw new Refused("conflict", "this request is older than 7 days: make it again");
  throw new Refused("conflict", `this request was ${found.state} already, by ${found.decidedBy}`);
}

/** @throws Refused */
export function noApproval(): never {
  throw new Refused("not_found", "there is no request with this id: it may have been made again");
}

/** A request that nobody decided within this time is expired. */
export const WAITS_MS = 7 * DAY_MS;
const MOST_LISTED = 100;

/** The change that a request asks for. */
type Subject = Pick<ApprovalRow, "kind" | "subject">;

function stateOf({ state, requestedAt }: Pick<ApprovalRow, "state" | "requestedAt">, now: Instant) {
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
async function writeRequest(tx: Db, approval: ApprovalRow): Promise<void> {
  const { kind, subject } = approval;
  await tx.deleteFrom("approval").where("kind", "=", kind).where("subject", "=", subject).execute();
  await tx.insertInto("approval").values(approval).execute();
}

type Decision = Pick<ApprovalRow, "state" | "decidedBy" | "refusal"> & { readonly decidedAt: Instant };

/** Records the decision on a waiting request. @returns whether it waited. */
async function recordDecision(tx: Db, id: string, decision: Decision): Promise<boolean> {
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
async function roleAt(db: Db, author: string, at: Instant) {
  const key = /^key (.*)$/su.exec(author)?.[1];
  const found =
    key === undefined
      ? db.selectFrom("staff").select("role").where("name", "=", author).where("createdAt", "<=", at)
      : db.selectFrom("staffKey").select("role").where("name", "=", key).where("createdAt", "<=", at);
  return (await found.executeTakeFirst())?.role ?? undefined;
}
