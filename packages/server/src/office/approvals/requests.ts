import type { AuditedChange } from "../../domain/audit.ts";
import { Refused } from "../../domain/refused.ts";
import { PERMISSIONS } from "../../domain/staff.ts";
import type { Db } from "../../store/engine.ts";
import type { ApprovalRow } from "../../store/tables.ts";
import type { Change } from "../decide.ts";
import type { Corrector } from "../limits.ts";
import { approvalOf, findApproval, recordDecision, roleAt, type Subject, stateOf, writeRequest } from "./sql.ts";

/* A change that needs a second person is requested, and made in the transaction that confirms it. */

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
