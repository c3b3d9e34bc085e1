import type { FromChild, ToChild } from "./faces/cli/processes.ts";
import { createMetrics } from "./metrics/metrics.ts";
import { watchProcess } from "./metrics/process-figures.ts";
import { type SettlerData, serveSettling } from "./store/sqlite/settler-server.ts";

/* The composition root of the process that settles top-ups on SQLite. The supervisor of a service starts it. */

const send = (message: FromChild) => {
  if (process.connected) process.send?.(message, () => {});
};
// Only the supervisor stops this process: signals of the terminal or the unit reach all processes and are ignored.
for (const signal of ["SIGTERM", "SIGINT"]) process.on(signal, () => {});

const metrics = createMetrics({
  build: undefined,
  elapsed: () => performance.now() / 1000,
  readProcess: watchProcess(),
});
// The process also stops if the supervisor has ended, even before this line: without it there are no workers.
const disconnected = new Promise<void>((resolve) => {
  if (process.connected) process.once("disconnect", resolve);
  else resolve();
});
const sendMetrics = async (id: number) => {
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
    if (message.kind === "collect") void sendMetrics(message.id);
  });
  send({ kind: "ready", url: "" });
  await disconnected;
  await settler.close();
} catch (error) {
  send({ kind: "failed", message: (error as Error).message });
  process.exitCode = 1;
  if (process.connected) process.disconnect();
}
