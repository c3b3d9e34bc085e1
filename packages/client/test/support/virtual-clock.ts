import { START } from "./wire.ts";

/** A clock that stands still until everybody waits, and then jumps to the first who wakes. */
export interface VirtualClock {
  now(): number;
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Lets time go by until the promise is settled. */
  run<Value>(promise: Promise<Value>): Promise<Value>;
}

export function virtualClock(): VirtualClock {
  let now = START;
  const sleepers = new Set<{ readonly at: number; readonly wake: () => void }>();
  return {
    now: () => now,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted === true) return reject(signal.reason);
        const sleeper = { at: now + ms, wake: () => end(resolve) };
        const stop = () => end(() => reject(signal?.reason));
        const end = (settle: () => void) => {
          sleepers.delete(sleeper);
          signal?.removeEventListener("abort", stop);
          settle();
        };
        sleepers.add(sleeper);
        signal?.addEventListener("abort", stop);
      }),
    async run(promise) {
      let isSettled = false;
      const settle = () => {
        isSettled = true;
      };
      promise.then(settle, settle);
      for (;;) {
        // What waits for no clock is done by then: scripted answers are made of microtasks alone.
        await new Promise((resolve) => setImmediate(resolve));
        if (isSettled) return promise;
        const [next] = [...sleepers].sort((a, b) => a.at - b.at);
        if (next === undefined) throw new Error("somebody waits for what never comes");
        now = Math.max(now, next.at);
        next.wake();
      }
    },
  };
}
