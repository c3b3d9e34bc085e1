import { pathToFileURL } from "node:url";
import { parentPort, workerData } from "node:worker_threads";
import { DatabaseSync } from "@photostructure/sqlite";

/*
 * What runs beside the service: at each message, the log is put into the file. See checkpointer.ts.
 *
 * What is written meanwhile is left to the next pass, and each pass leaves less. The last one keeps writers away, for a
 * millisecond or two, and takes the rest: only then does the next commit begin the log anew. A log that only grows
 * would have the disk find room for every commit, which takes twice as long as to write where it has written before.
 */
const PASSES = ["PASSIVE", "PASSIVE", "PASSIVE", "FULL"] as const;

/** For the last pass to find a moment between two commits. */
const PATIENCE_MS = 20;

const port = parentPort as NonNullable<typeof parentPort>;
const { path } = workerData as { readonly path: string };
// Where the file was moved away, none is made in its place.
const database = new DatabaseSync(new URL("?mode=rw", pathToFileURL(path)));
database.exec(`PRAGMA busy_timeout = ${PATIENCE_MS}; PRAGMA synchronous = FULL; PRAGMA cache_size = -1024`);

port.on("message", (message: "checkpoint" | "close") => {
  if (message === "close") {
    database.close();
    port.close();
    return;
  }
  try {
    for (const pass of PASSES) database.exec(`PRAGMA wal_checkpoint(${pass})`);
  } catch {
    // The disk does not take it, or somebody else is at it: the log is still there, and is gone on with.
  }
  port.postMessage("done");
});
