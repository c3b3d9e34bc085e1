import { bulkSteered, orderOf } from "../../domain/correction.ts";
import { Refused } from "../../domain/refused.ts";
import type { Db } from "../../store/engine.ts";
import type { ApprovalRow, BulkRunRow } from "../../store/tables.ts";
import { type Change, decide } from "../decide.ts";
import type { Office } from "../office.ts";
import { confirmRequest, requestChange } from "../second-person.ts";
import { correctRun } from "./correct.ts";
import { findRun, updateRun } from "./sql.ts";

export function needsSecondPerson({ limits }: Pick<Office, "limits">, { count }: Pick<BulkRunRow, "count">): boolean {
  return limits !== undefined && count > limits.secondPersonBulk;
}

/** The request to start a run, with its change; undefined if nobody else must confirm it. */
export async function requestStart(office: Office, tx: Db, run: BulkRunRow): Promise<Change | undefined> {
  if (!needsSecondPerson(office, run)) return undefined;
  const of = { kind: "bulk", subject: String(run.id), environment: run.environment } as const;
  const asking = { ...office, by: { ...office.by, reason: run.reason } };
  return (await requestChange(asking, tx, of, bulkSteered("start", run, orderOf(run)))).change;
}

/** Starts a run that a second person confirms. @throws Refused */
export async function startConfirmed(office: Office, request: ApprovalRow): Promise<void> {
  const id = Number(request.subject);
  await decide(office, [], async (tx) => {
    await confirmRequest(office, tx, request);
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
