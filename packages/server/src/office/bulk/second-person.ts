import { bulkSteered, orderOf } from "../../domain/bulk.ts";
import { Refused } from "../../domain/refused.ts";
import type { Db } from "../../store/engine.ts";
import type { ApprovalRow, BulkRunRow } from "../../store/tables.ts";
import { type Change, decide } from "../decide.ts";
import { type Corrector, countBulk, willNeedAnother } from "../limits.ts";
import type { Office } from "../office.ts";
import { confirmRequest, requestIfNeeded } from "../second-person.ts";
import { correctRun } from "./correct.ts";
import { findRun, updateRun } from "./sql.ts";

/** Whether the start of a run needs a second person, after what its author did today. */
export function needsSecondPerson(office: Corrector, db: Db, { author, state, count }: BulkRunRow): Promise<boolean> {
  if (state !== "checked") return Promise.resolve(state === "waiting");
  return willNeedAnother(office, db, author, "bulkConnections", count);
}

/** Counts a run that starts. @returns the request to start it; undefined if it can start now. @throws Refused */
export async function requestStart(office: Office, tx: Db, run: BulkRunRow): Promise<Change | undefined> {
  const requested = await requestIfNeeded({ ...office, by: { ...office.by, reason: run.reason } }, tx, {
    ...{ kind: "bulk", subject: String(run.id), environment: run.environment },
    audited: bulkSteered("start", run, orderOf(run)),
    needsAnother: () => countBulk(office, tx, run),
  });
  return requested?.change;
}

/** Starts a run that a second person confirms. @throws Refused */
export async function startConfirmed(office: Office, request: ApprovalRow): Promise<void> {
  const id = Number(request.subject);
  await decide(office, [], async (tx) => {
    await confirmRequest(office, tx);
    const run = await findRun(tx, id);
    if (run === undefined) throw new Error(`the bulk change ${id} is missing`);
    const started = { state: "running", startedAt: office.by.at, changedAt: office.by.at } as const;
    const write = async () => {
      if (!(await updateRun(tx, { id, state: "waiting" }, started)))
        throw new Refused("conflict", `this bulk change is ${run.state}`);
    };
    const audit = [bulkSteered("start", run, orderOf(run), request.requestedBy)];
    return { answer: undefined, change: { write, audit } };
  });
  await office.goOn((ending) => correctRun(office, id, ending));
}

/** Cancels a run whose request is refused. */
export async function cancelWaiting({ by }: Office, tx: Db, id: number): Promise<void> {
  await updateRun(tx, { id, state: "waiting" }, { state: "cancelled", changedAt: by.at });
}
