import type { Kysely } from "kysely";
import type { Attribution } from "../domain/audit.ts";
import { bulkSteered, orderOf } from "../domain/correction.ts";
import { appendAudit } from "./audit.ts";
import type { Engine } from "./engine.ts";
import type { Tables } from "./tables.ts";

/** Pauses all running bulk changes, inside a transaction. @returns their ids. */
export async function pauseBulkRuns(engine: Engine, tx: Kysely<Tables>, by: Attribution): Promise<number[]> {
  const running = await tx.selectFrom("bulkRun").selectAll().where("state", "=", "running").orderBy("id").execute();
  await tx.updateTable("bulkRun").set({ state: "paused", changedAt: by.at }).where("state", "=", "running").execute();
  for (const run of running) await appendAudit(engine, tx, bulkSteered("pause", run, orderOf(run)), by);
  return running.map(({ id }) => id);
}
