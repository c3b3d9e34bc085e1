import { type Static, Type } from "typebox";
import { subjectOf } from "../../domain/correction.ts";
import { Refused } from "../../domain/refused.ts";
import type { ApprovalRow } from "../../store/tables.ts";
import { changeAccount, enterIntoAccount } from "../accounts/operations.ts";
import { cancelWaiting, startConfirmed } from "../bulk/second-person.ts";
import { findRun, findRuns } from "../bulk/sql.ts";
import { ENVIRONMENT, environmentOf, ReasonSchema } from "../common.ts";
import { reverse } from "../corrections/reversal.ts";
import { decide } from "../decide.ts";
import type { Office } from "../office.ts";
import { type Operation, operation, type Shown } from "../operation.ts";
import { requirePermission } from "../rights.ts";
import {
  ApprovalSchema,
  accountChangeOf,
  approvalShower,
  decideRequest,
  findApproval,
  noApproval,
  PERMISSION_FOR,
  readApprovals,
} from "../second-person.ts";
import { count, table } from "../text.ts";
import { noTransaction } from "../transactions/operations.ts";
import { findByTxnIds, findTransaction } from "../transactions/sql.ts";

/** Confirming and refusing need the permission of the requested change. */
const AS = { tag: "Second person", permission: "read", refuses: ["not_found", "conflict", "forbidden"] } as const;
const IdSchema = Type.String({ maxLength: 64, description: "The id of a request." });

export const listApprovals = operation({
  tag: AS.tag,
  permission: "read",
  http: "GET /approvals",
  summary: "List changes that wait for a second person, then those that were decided, newest first",
  input: Type.Object(ENVIRONMENT),
  answer: Type.Object({ items: Type.Array(ApprovalSchema) }),
  cli: [{ words: "approval list", show: approvalLines, examples: ["topupd approval list"] }],
  async run(office, input) {
    const { db } = office.store.engine;
    const approvals = await readApprovals(db, await environmentOf(office, input));
    const subjectsOf = (kind: ApprovalRow["kind"]) => {
      return approvals.flatMap((each) => (each.kind === kind ? [each.subject] : []));
    };
    const topUps = await findByTxnIds(db, subjectsOf("reversal"));
    const runs = await findRuns(db, subjectsOf("bulk").map(Number));
    const show = await approvalShower(office, db);
    return {
      items: approvals.map((each) => show(each, { topUp: topUps.get(each.subject), run: runs.get(each.subject) })),
    };
  },
});

export const confirmChange = operation({
  ...AS,
  http: "POST /approvals/:id/confirm",
  summary:
    "Confirm a change that another person requested, and make it, with the permission for it. Keys cannot confirm",
  input: Type.Object({ id: IdSchema }),
  answer: ApprovalSchema,
  async run(office, { id }) {
    const { db } = office.store.engine;
    const { authority } = office.by;
    const approval = (await findApproval(db, id)) ?? noApproval();
    await requirePermission(office, PERMISSION_FOR[approval.kind]);
    if (authority !== undefined && "keyHash" in authority)
      throw new Refused("forbidden", "only people can confirm, not keys");
    const by = { ...office.by, reason: approval.reason || undefined };
    await makeRequested({ ...office, by, confirms: approval }, approval);
    return showOne(office, id);
  },
});

async function makeRequested(confirming: Office, approval: ApprovalRow): Promise<void> {
  const { kind, subject, environment } = approval;
  const { db } = confirming.store.engine;
  const { partner: name = "", entry, amount, reference } = accountChangeOf(approval) ?? {};
  if (kind === "bulk") await startConfirmed(confirming, approval);
  else if (kind === "reversal") await reverse(confirming, (await findTransaction(db, subject)) ?? noTransaction());
  else if (!entry) await changeAccount.run(confirming, { name, environment, creditLimit: amount ?? "none" });
  else
    await enterIntoAccount.run(confirming, {
      ...{ name, environment, kind: entry, amount: amount ?? "", reference: reference ?? "" },
    });
}

export const refuseChange = operation({
  ...AS,
  http: "POST /approvals/:id/refuse",
  summary: "Refuse a change that waits for a second person, or withdraw it, with the permission for it",
  input: Type.Object({ id: IdSchema, reason: ReasonSchema }),
  answer: ApprovalSchema,
  async run(office, { id }) {
    const found = (await findApproval(office.store.engine.db, id)) ?? noApproval();
    await requirePermission(office, PERMISSION_FOR[found.kind]);
    await decide(office, [], async (tx) => {
      const { kind, subject, requestedBy } = found;
      const topUp = kind === "reversal" ? await findTransaction(tx, subject) : undefined;
      const named =
        topUp === undefined ? (accountChangeOf(found)?.partner ?? subject) : `${subject} ${subjectOf(topUp)}`;
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
  return (await approvalShower(office, db))(approval, {
    topUp: isBulk ? undefined : await findTransaction(db, approval.subject),
    run: isBulk ? await findRun(db, Number(approval.subject)) : undefined,
  });
}

const COLUMNS = ["kind", "what", "reason", "requestedBy", "requestedAt", "state", "decidedBy"];

function approvalLines({ items }: { readonly items: readonly Static<typeof ApprovalSchema>[] }): Shown {
  const rows = items.map(({ topUp, bulk, account, ...each }) => ({ ...each, what: whatOf({ topUp, bulk, account }) }));
  return { out: table(COLUMNS, rows) };
}

function whatOf({ topUp, bulk, account }: Pick<Static<typeof ApprovalSchema>, "topUp" | "bulk" | "account">): string {
  if (topUp !== null) return `${topUp.amount} of customer ${topUp.cuid}`;
  if (bulk !== null) {
    const again = bulk.startsAgain === 0 ? "" : `; starting again: ${bulk.startsAgain}`;
    return `${bulk.action} for ${count(bulk.count, "connection")}${again}`;
  }
  return `${account?.entry ?? "limit"} ${account?.amount ?? "none"} of ${account?.partner}`;
}

export const operations: readonly Operation[] = [listApprovals, confirmChange, refuseChange];
