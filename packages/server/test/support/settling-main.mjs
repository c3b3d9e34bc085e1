// The settling thread of the tests: as src/settling-main.ts, but with the time of whoever began it.
import { parentPort, workerData } from "node:worker_threads";
import { serveSettling } from "../../dist/store/sqlite/settling/settling-service.js";

const { clockPort, clockCell, ...data } = workerData;
const answered = new Int32Array(clockCell, 0, 1);
const time = new Float64Array(clockCell, 8, 1);

function clock() {
  Atomics.store(answered, 0, 0);
  clockPort.postMessage("what time is it?");
  Atomics.wait(answered, 0, 0);
  return time[0];
}

// As a thread ends that has failed, between two calls of SQLite: ended from outside, within one, it would take the process along.
parentPort.on("message", (message) => {
  if (message === "end yourself") process.exit(1);
});
serveSettling(parentPort, data, clock);
