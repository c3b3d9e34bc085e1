import { type Static, Type } from "typebox";
import { subjectOf } from "../../domain/correction.ts";
import { Refused } from "../../domain/refused.ts";
import type { ApprovalRow } from "../../store/tables.ts";
import { cancelWaiting, startConfirmed } from "../bulk/second-person.ts";
import { findRun, findRuns } from "../bulk/sql.ts";
import { ENVIRONMENT, environmentOf, ReasonSchema } from "../common.ts";
import { reverse } from "../corrections/reversal.ts";
import { decide } from "../decide.ts";
import type { Office } from "../office.ts";
import { type Operation, operation } from "../operation.ts";
import {
  ApprovalSchema,
  approvalData,
  decideRequest,
  findApproval,
  noApproval,
  readApprovals,
} from "../second-person.ts";
import { noTransaction } from "../transactions/operations.ts";
import { findByTxnIds, findTransaction } from "../transactions/sql.ts";

const AS = { tag: "Second person", permission: "correct", refuses: ["not_found", "conflict"] } as const;
const IdSchema = Type.String({ maxLength: 64, description: "The id of a request." });

export const listApprovals = operation({
  tag: AS.tag,
  permission: "read",
  http: "GET /approvals",
  summary: "List changes that wait for a second person, then those that were decided, newest first",
  input: Type.Object(ENVIRONMENT),
  answer: Type.Object({ items: Type.Array(ApprovalSchema) }),
  async run(office, input) {
    const { db } = office.store.engine;
    const approvals = await readApprovals(db, await environmentOf(office, input));
    const subjectsOf = (kind: ApprovalRow["kind"]) => {
      return approvals.flatMap((each) => (each.kind === kind ? [each.subject] : []));
    };
    const topUps = await findByTxnIds(db, subjectsOf("reversal"));
    const runs = await findRuns(db, subjectsOf("bulk").map(Number));
    return {
      items: approvals.map((each) => {
        return approvalData(office, each, { topUp: topUps.get(each.subject), run: runs.get(each.subject) });
      }),
    };
  },
});

export const confirmChange = operation({
  ...AS,
  http: "POST /approvals/:id/confirm",
  summary: "Confirm a change that another person requested, and make it. Keys cannot confirm",
  input: Type.Object({ id: IdSchema }),
  answer: ApprovalSchema,
  async run(office, { id }) {
    const { db } = office.store.engine;
    const { author, authority } = office.by;
    const approval = (await findApproval(db, id)) ?? noApproval();
    if (authority !== undefined && "keyHash" in authority)
      throw new Refused("forbidden", "only people can confirm, not keys");
    if (author === approval.requestedBy)
      throw new Refused("forbidden", "you requested it yourself: another person must confirm it");
    const confirming = { ...office, by: { ...office.by, reason: approval.reason } };
    if (approval.kind === "bulk") await startConfirmed(confirming, approval);
    else await reverse(confirming, (await findTransaction(db, approval.subject)) ?? noTransaction(), approval);
    return showOne(office, id);
  },
});

export const refuseChange = operation({
  ...AS,
  http: "POST /approvals/:id/refuse",
  summary: "Refuse a change that waits for a second person, or withdraw it",
  input: Type.Object({ id: IdSchema, reason: ReasonSchema }),
  answer: ApprovalSchema,
  async run(office, { id }) {
    await decide(office, [], async (tx) => {
      const { kind, subject, requestedBy } = (await findApproval(tx, id)) ?? noApproval();
      const topUp = kind === "reversal" ? await findTransaction(tx, subject) : undefined;
      const named = topUp === undefined ? subject : `${subject} ${subjectOf(topUp)}`;
      const audited = { action: "approval.refuse", subject: named, before: { requestedBy }, after: undefined } as const;
      const write = async () => {
        await decideRequest(office, tx, id, "refused");
        if (kind === "bulk") await cancelWaiting(office, tx, Number(subject));
      };
      return { answer: undefined, change: { write, audit: [audited] } };
    });
    return showOne(office, id);
  },
});

async function showOne(office: Office, id: string): Promise<Static<typeof ApprovalSchema>> {
  const { db } = office.store.engine;
  const approval = (await findApproval(db, id)) ?? noApproval();
  const isBulk = approval.kind === "bulk";
  return approvalData(office, approval, {
    topUp: isBulk ? undefined : await findTransaction(db, approval.subject),
    run: isBulk ? await findRun(db, Number(approval.subject)) : undefined,
  });
}

export const operations: readonly Operation[] = [listApprovals, confirmChange, refuseChange];
