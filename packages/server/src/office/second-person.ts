import { type Static, Type } from "typebox";
import { STAFF_ENTRY_KINDS } from "../domain/account.ts";
import type { AuditedChange } from "../domain/audit.ts";
import type { Role } from "../domain/authority.ts";
import type { Environment } from "../domain/customer.ts";
import { formatMoneyInFull } from "../domain/money.ts";
import { Refused } from "../domain/refused.ts";
import { PERMISSIONS, type Permission } from "../domain/staff.ts";
import type { Transaction } from "../domain/transaction.ts";
import { DAY_MS, type Instant, isoTime, isoTimeOrNull } from "../domain/wall-time.ts";
import type { Db } from "../store/engine.ts";
import { keysIn, toKey } from "../store/rights.ts";
import type { ApprovalRow, BulkRunRow } from "../store/tables.ts";
import { AmountSchema, BULK_ACTIONS, EnvironmentSchema, InstantSchema, oneOf, orNull } from "./common.ts";
import type { Change } from "./decide.ts";
import { type Corrector, readPerson } from "./limits.ts";
import { permissionsNow } from "./rights.ts";

/* A change that needs a second person is requested, and made in the transaction that confirms it. */

/** The permission that requesting, confirming and refusing a change needs. */
export const PERMISSION_FOR: Readonly<Record<ApprovalRow["kind"], Permission>> = {
  reversal: "correct",
  bulk: "correct",
  account_entry: "settle",
  credit_limit: "administer",
};
const KINDS = ["reversal", "bulk", "account_entry", "credit_limit"] as const;

/** The change of an account that a request asks for. */
const AccountChangeSchema = Type.Object({
  partner: Type.String(),
  entry: orNull(oneOf(STAFF_ENTRY_KINDS)),
  amount: orNull(Type.String({ ...AmountSchema, description: "Amount, or the credit limit; null for no limit." })),
  reference: orNull(Type.String()),
});
export type AccountChange = Static<typeof AccountChangeSchema>;

export const ApprovalSchema = Type.Object(
  {
    id: Type.String(),
    kind: oneOf(KINDS),
    environment: EnvironmentSchema,
    subject: Type.String({ description: "The txnId of the top-up, the id of the bulk change, or the account." }),
    topUp: orNull(Type.Object({ cuid: Type.String(), amount: AmountSchema })),
    bulk: orNull(
      Type.Object({
        action: oneOf(BULK_ACTIONS),
        days: orNull(Type.Integer()),
        count: Type.Integer(),
        startsAgain: Type.Integer({ description: "Number of connections whose plan has ended, and starts again." }),
        reverses: orNull(Type.Integer()),
      }),
    ),
    account: orNull(AccountChangeSchema),
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
    own: Type.Boolean({ description: "Whether you count as the requester: then you can only withdraw it." }),
    mayDecide: Type.Boolean({ description: "Whether your role can confirm and refuse it." }),
  },
  { title: "Approval", description: "A change that needs a second person." },
);

interface Subjects {
  readonly topUp?: Transaction | undefined;
  readonly run?: BulkRunRow | undefined;
}

/** @returns a function that shows requests to the author of the office. */
export async function approvalShower({ store, clock, by }: Pick<Corrector, "store" | "clock" | "by">, db: Db) {
  const { currencyExponent } = store.provider;
  const own = await readPerson(db, by.author, by.at);
  const permissions = await permissionsNow({ by }, db);
  return (approval: ApprovalRow, { topUp, run }: Subjects): Static<typeof ApprovalSchema> => ({
    ...approval,
    own: by.authority !== undefined && own.includes(approval.requestedBy),
    mayDecide: permissions.includes(PERMISSION_FOR[approval.kind]),
    account: accountChangeOf(approval),
    topUp: topUp === undefined ? null : { cuid: topUp.cuid, amount: formatMoneyInFull(topUp.amount, currencyExponent) },
    bulk: run === undefined ? null : bulkOf(run),
    requestedAt: isoTime(approval.requestedAt),
    decidedAt: isoTimeOrNull(approval.decidedAt ?? undefined),
    state: stateOf(approval, clock()),
  });
}

function bulkOf({ action, days, count, startsAgain, reverses }: BulkRunRow) {
  return { action, days, count, startsAgain, reverses };
}

export function accountChangeOf({ account }: Pick<ApprovalRow, "account">): AccountChange | null {
  return account === null ? null : (JSON.parse(account) as AccountChange);
}

const ID_BYTES = 9;

interface WantedChange extends Subject, Pick<ApprovalRow, "environment"> {
  readonly account?: AccountChange;
  /** Subject and values of the audit entry of a request. */
  readonly audited: Pick<AuditedChange, "subject" | "after">;
}

interface Wanted extends WantedChange {
  /** Counts the change, unless a request for it waits that counts as the first person. @returns whether it needs a second person. */
  readonly needsAnother: (isWaiting: boolean) => boolean | Promise<boolean>;
}

interface Requested {
  readonly approval: ApprovalRow;
  /** Undefined if the request waits already. */
  readonly change?: Change;
}

/**
 * Requests a change that needs a second person, in a transaction that excludes other requests for it.
 * @returns undefined if the change can be made now.
 * @throws Refused
 */
export async function requestIfNeeded(office: Corrector, tx: Db, wanted: Wanted): Promise<Requested | undefined> {
  const { limits, confirms } = office;
  if (limits === undefined) return undefined;
  if (confirms !== undefined) {
    if (!(await countsAsPerson(tx, confirms)) && (await wanted.needsAnother(false)))
      throw new Refused("conflict", "this amount needs two people of the staff: reverse it on the page of the top-up");
    return undefined;
  }
  const last = await waitingFor(office, tx, wanted);
  const waiting = last !== undefined && (await countsAsPerson(tx, last)) ? last : undefined;
  if (!(await wanted.needsAnother(waiting !== undefined))) return undefined;
  return waiting === undefined ? newRequest(office, tx, wanted) : sameRequest(waiting, wanted);
}

/** Requests a change in the name of a seller, in such a transaction. A request that waits already stays. */
export async function requestForSeller(office: Corrector, tx: Db, wanted: WantedChange): Promise<Requested> {
  const waiting = await waitingFor(office, tx, wanted);
  return waiting === undefined ? newRequest(office, tx, wanted) : { approval: waiting };
}

async function waitingFor({ by }: Corrector, tx: Db, of: Subject): Promise<ApprovalRow | undefined> {
  const last = await approvalOf(tx, of);
  return last !== undefined && stateOf(last, by.at) === "waiting" ? last : undefined;
}

/** @throws Refused if it asks for another amount. */
function sameRequest(waiting: ApprovalRow, wanted: Wanted): Requested {
  if (waiting.account === accountOf(wanted)) return { approval: waiting };
  throw new Refused("conflict", `a request of ${waiting.requestedBy} for another amount waits: refuse it first`);
}

function accountOf({ account }: Pick<Wanted, "account">): string | null {
  return account === undefined ? null : JSON.stringify(account);
}

function newRequest(office: Corrector, tx: Db, wanted: WantedChange): Requested {
  const { kind, subject, environment, audited } = wanted;
  const account = accountOf(wanted);
  const { author: requestedBy, at: requestedAt, reason = "" } = office.by;
  const id = Buffer.from(office.random(ID_BYTES)).toString("hex");
  const undecided = { state: "waiting", decidedBy: null, decidedAt: null, refusal: null } as const;
  const approval = { kind, subject, environment, account, ...undecided, id, reason, requestedBy, requestedAt };
  const audit = [{ ...audited, action: "approval.request", before: undefined } as const];
  return { approval, change: { write: () => writeRequest(tx, approval), audit } };
}

/** Confirms the office's request, if it has one, in the transaction that makes the change. @throws Refused */
export async function confirmRequest(office: Corrector, tx: Db): Promise<void> {
  if (office.confirms === undefined) return;
  const { id, requestedBy, requestedAt } = office.confirms;
  const { author, at } = office.by;
  if (author === requestedBy)
    throw new Refused("forbidden", "you requested it yourself: another person must confirm it");
  // A seller is no person of the staff, also if the author added the account.
  const isBySeller = (await roleAt(tx, requestedBy, requestedAt)) === "seller";
  if (!isBySeller && (await readPerson(tx, author, at)).includes(requestedBy)) {
    const why = "as you have access to one another's accounts or keys";
    throw new Refused("forbidden", `${requestedBy} and you count as one person, ${why}: another one must confirm it`);
  }
  if (!isBySeller && !(await countsAsPerson(tx, office.confirms)))
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

export function stateOf({ state, requestedAt }: Pick<ApprovalRow, "state" | "requestedAt">, now: Instant) {
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

/** The last requests for changes of some subjects, by subject. */
export async function approvalsOf(db: Db, kind: ApprovalRow["kind"], subjects: readonly string[]) {
  if (subjects.length === 0) return new Map<string, ApprovalRow>();
  const query = db.selectFrom("approval").selectAll().where("kind", "=", kind).where("subject", "in", subjects);
  return new Map((await query.execute()).map((approval) => [approval.subject, approval]));
}

/** Lists the waiting requests, newest first, then the others. */
export function readApprovals(db: Db, environment: Environment): Promise<ApprovalRow[]> {
  const query = db.selectFrom("approval").selectAll().where("environment", "=", environment);
  const inOrder = query.orderBy("state", "desc").orderBy("requestedAt", "desc").orderBy("id");
  return inOrder.limit(MOST_LISTED).execute();
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

/** Whether the requester counts as the first of two people: a seller does not, nor a person who lost the permission. */
async function countsAsPerson(db: Db, { kind, requestedBy, requestedAt }: ApprovalRow): Promise<boolean> {
  const role = await roleAt(db, requestedBy, requestedAt);
  return role !== undefined && PERMISSIONS[role].includes(PERMISSION_FOR[kind]);
}

/** The role of an account or API key that existed at a time: a later one of the same name is somebody else's. */
async function roleAt(db: Db, author: string, at: Instant): Promise<Role | undefined> {
  const keyName = /^key (.*)$/su.exec(author)?.[1];
  if (keyName !== undefined) {
    const key = await keysIn(db).where("k.name", "=", keyName).where("k.createdAt", "<=", at).executeTakeFirst();
    return key && toKey(key).role;
  }
  const account = db.selectFrom("staff").select("role").where("name", "=", author).where("createdAt", "<=", at);
  return (await account.executeTakeFirst())?.role ?? undefined;
}
