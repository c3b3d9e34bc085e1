import { once } from "node:events";
import { MessageChannel, type MessagePort, Worker } from "node:worker_threads";
import { serveSettling } from "../../src/store/sqlite/settling/settling-service.ts";
import type { StartSettlingThread } from "../../src/store/sqlite/settling/settling-thread.ts";

const MAIN = new URL("settling-main.mjs", import.meta.url);

/** Starts threads that settle, as main.ts does, by the clock of the test: it is asked, and waited for. */
export function startSettlingBy(
  clock: () => number,
  onStart: (worker: Worker) => void = () => {},
): StartSettlingThread {
  return (data) => {
    const { port1: questions, port2: clockPort } = new MessageChannel();
    const clockCell = new SharedArrayBuffer(16);
    const answered = new Int32Array(clockCell, 0, 1);
    const time = new Float64Array(clockCell, 8, 1);
    questions.on("message", () => {
      time[0] = clock();
      Atomics.store(answered, 0, 1);
      Atomics.notify(answered, 0);
    });
    const worker = new Worker(MAIN, { workerData: { ...data, clockPort, clockCell }, transferList: [clockPort] });
    worker.once("exit", () => questions.close());
    onStart(worker);
    return worker;
  };
}

/** What a settling thread does, in this one: where a disk that fails can be feigned, and its connection be asked. */
export function startSettlingHere(clock: () => number): StartSettlingThread {
  return (data) => {
    const { port1, port2 } = new MessageChannel();
    port1.on("close", () => port1.emit("exit", 0));
    serveSettling(port2, data, clock);
    return port1 satisfies MessagePort as unknown as Worker;
  };
}

/** Has such a thread end before its time. */
export async function endSettling(worker: Worker | undefined): Promise<void> {
  if (worker === undefined) throw new Error("there is no thread to end");
  const exited = once(worker, "exit");
  worker.postMessage("end yourself");
  await exited;
}
