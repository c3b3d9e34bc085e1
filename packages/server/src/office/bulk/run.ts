import type { Static } from "typebox";
import { Refused } from "../../domain/refused.ts";
import { isoTime, isoTimeOrNull } from "../../domain/wall-time.ts";
import type { Db } from "../../store/engine.ts";
import type { BulkRunRow } from "../../store/tables.ts";
import type { Office } from "../office.ts";
import { BulkIdSchema, type BulkRunSchema } from "./schemas.ts";
import { needsSecondPerson } from "./second-person.ts";
import * as sql from "./sql.ts";

/* The parts that all operations of bulk changes share. */

const TAG = "Bulk changes";
export const READ = { tag: TAG, permission: "read" } as const;
export const CHANGE = { tag: TAG, permission: "correct" } as const;
export const OF_RUN = { id: BulkIdSchema };
export const RUN_COLUMNS = ["id", "author", "action", "reason", "state", "done", "count", "problems"];
export const RUN_SHOWN = [
  ...RUN_COLUMNS.slice(0, 4),
  "environment",
  "days",
  "plan",
  "runningAt",
  "reverses",
  ...RUN_COLUMNS.slice(4),
  "startsAgain",
  "duplicates",
  "problem",
];

export function rightsOf({ by: { author, authority } }: Office) {
  const none = { author, staffId: null, role: null, keyHash: null };
  if (authority === undefined) return none;
  const { role } = authority;
  if ("keyHash" in authority) return { ...none, role, keyHash: authority.keyHash };
  return { ...none, role, staffId: authority.staffId };
}

/** Whether a run has the rights that the author has now: a new role may allow less. */
export function isOfAuthor(office: Office, { staffId, role, keyHash }: BulkRunRow): boolean {
  const own = rightsOf(office);
  return (
    own.staffId === staffId && own.role === role && Buffer.compare(own.keyHash ?? NO_BYTES, keyHash ?? NO_BYTES) === 0
  );
}

const NO_BYTES = new Uint8Array();

export async function theRun(db: Db, id: number): Promise<BulkRunRow> {
  const run = await sql.findRun(db, id);
  if (run === undefined) throw new Refused("not_found", "there is no bulk change with this id");
  return run;
}

/** States after which a bulk change corrects nothing more by itself. */
const OVER: readonly BulkRunRow["state"][] = ["done", "cancelled", "failed"];

/** Whether all goodwill of a run can be reversed: it has given some, and gives no more. */
export function isReversible({ action, state, startedAt }: BulkRunRow): boolean {
  return action === "goodwill" && startedAt !== null && OVER.includes(state);
}

export async function runData(office: Office, run: BulkRunRow): Promise<Static<typeof BulkRunSchema>> {
  const { staffId: _, role: __, keyHash: ___, place: ____, createdAt, startedAt, changedAt, ...shown } = run;
  const times = { createdAt: isoTime(createdAt), startedAt: isoTimeOrNull(startedAt ?? undefined) };
  const secondPerson = await needsSecondPerson(office, office.store.engine.db, run);
  return { ...shown, ...times, changedAt: isoTime(changedAt), secondPerson, reversible: isReversible(run) };
}
