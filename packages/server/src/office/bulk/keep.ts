import { StoreUnavailable } from "../../store/errors.ts";
import { readHorizon } from "../../store/settings.ts";
import type { Desk } from "../office.ts";
import { correctRun } from "./correct.ts";
import { PAUSE_MS } from "./read.ts";
import * as sql from "./sql.ts";

/** How often to look for bulk changes that no process works on. */
const LOOKED_EVERY_MS = 5_000;
/** A run without progress for this time has lost its process. */
const ABANDONED_MS = 10_000;
const DELETED_AT_ONCE = 1_000;

export interface KeepingPorts extends Pick<Desk, "store" | "clock" | "sleep" | "goOn"> {
  readonly log: (level: "warn", fields: object, message: string) => void;
}

/** Continues the bulk changes of processes that ended, and deletes lines that nobody needs. */
export async function keepBulk(ports: KeepingPorts, ending: AbortSignal): Promise<void> {
  while (!ending.aborted) {
    await look(ports, ending).catch((error: unknown) => {
      if (!(error instanceof StoreUnavailable))
        ports.log("warn", { err: error }, "bulk changes could not be continued");
    });
    await ports.sleep(LOOKED_EVERY_MS, ending);
  }
}

async function look(ports: KeepingPorts, ending: AbortSignal): Promise<void> {
  const { clock, goOn, sleep } = ports;
  const { engine } = ports.store;
  for (const id of await sql.abandonedRuns(engine.db, clock() - ABANDONED_MS))
    await goOn((until) => correctRun({ ...ports, progress() {} }, id, until));
  for (const run of await sql.expiredPreviews(engine.db, clock()))
    await engine.transact((tx) => sql.updateRun(tx, run, { state: "cancelled", changedAt: clock() }));
  const horizon = (await readHorizon(engine.db)) ?? 0;
  for (let id = await sql.findOutdated(engine.db, horizon); id !== undefined && !ending.aborted; ) {
    const outdated = id;
    await engine.transact((tx) => sql.deleteLines(tx, outdated, DELETED_AT_ONCE));
    await sleep(PAUSE_MS, ending);
    id = await sql.findOutdated(engine.db, horizon);
  }
}
