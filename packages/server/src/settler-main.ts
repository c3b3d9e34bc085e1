import type { FromChild, ToChild } from "./faces/cli/processes.ts";
import { createMetrics } from "./metrics/metrics.ts";
import { watchProcess } from "./metrics/process-figures.ts";
import { type SettlerData, serveSettling } from "./store/sqlite/settling/settler-server.ts";

/* The composition root of the process that settles top-ups on SQLite. The supervisor of a service begins it. */

const send = (message: FromChild) => {
  if (process.connected) process.send?.(message, () => {});
};
// The supervisor says when it is time to stop; its signals go to all of the terminal's processes, or the unit's.
for (const signal of ["SIGTERM", "SIGINT"]) process.on(signal, () => {});

const metrics = createMetrics({
  build: undefined,
  elapsed: () => performance.now() / 1000,
  readProcess: watchProcess(),
});
// Also where the supervisor is gone, perhaps already: without it there are no workers.
const left = new Promise<void>((resolve) => {
  if (process.connected) process.once("disconnect", resolve);
  else resolve();
});
const tell = async (id: number) => {
  send({ kind: "collected", id, families: await metrics.collect(undefined) });
};
try {
  const settler = await serveSettling({
    data: JSON.parse(process.argv[2] ?? "") as SettlerData,
    clock: Date.now,
    observeBatch: metrics.observeBatch,
    observeCheckpoints: (failure) => send({ kind: "checkpoints", failure }),
  });
  process.on("message", (message: ToChild) => {
    if (message.kind === "stop") process.disconnect();
    if (message.kind === "ping") {
      settler.ping();
      send({ kind: "pong" });
    }
    if (message.kind === "collect") void tell(message.id);
  });
  send({ kind: "ready", url: "" });
  await left;
  await settler.close();
} catch (error) {
  send({ kind: "failed", message: (error as Error).message });
  process.exitCode = 1;
  if (process.connected) process.disconnect();
}
