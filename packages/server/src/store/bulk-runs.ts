import type { Kysely } from "kysely";
import type { Attribution } from "../domain/audit.ts";
import { bulkSteered, orderOf } from "../domain/bulk.ts";
import { appendAudits } from "./audit.ts";
import type { Engine } from "./engine.ts";
import type { Tables } from "./tables.ts";

/** Pauses all running bulk changes, inside a transaction. @returns their ids. */
export async function pauseBulkRuns(engine: Engine, tx: Kysely<Tables>, by: Attribution): Promise<number[]> {
  const running = await tx.selectFrom("bulkRun").selectAll().where("state", "=", "running").orderBy("id").execute();
  await tx.updateTable("bulkRun").set({ state: "paused", changedAt: by.at }).where("state", "=", "running").execute();
  const audits = running.map((run) => bulkSteered("pause", run, orderOf(run)));
  if (audits.length > 0) await appendAudits(engine, tx, audits, by);
  return running.map(({ id }) => id);
}
