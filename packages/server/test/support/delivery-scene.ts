import { expect, onTestFinished } from "vitest";
import type { ConnectionEvent, Recorded } from "../../src/domain/event.ts";
import { DeliveryFailed, type OpenExchange, type Sender, type Target } from "../../src/domain/target.ts";
import { createZone } from "../../src/domain/wall-time.ts";
import { startDelivering } from "../../src/workers/deliver-events.ts";
import type { TargetFigures } from "../../src/workers/delivery-observer.ts";
import { keyOf, MemoryOutbox, targetWith } from "./memory-outbox.ts";
import { VirtualTime } from "./virtual-time.ts";

export const START = Date.parse("2026-11-23T09:00:00Z");

/** A process that delivers. A call to it may be the last that it ever makes. */
export interface TestProcess {
  readonly holder: string;
  readonly stop: () => Promise<void>;
  /** As SIGKILL would: nothing that it does has any effect from now on. */
  readonly kill: () => void;
}

/** An outbox with one target, and what that target does with events. */
export function deliveryScene(changes: Partial<Target> = {}) {
  const time = new VirtualTime(START);
  const outbox = new MemoryOutbox();
  const target = targetWith(changes);
  outbox.targetList = [target];
  const arrived: { readonly seq: number; readonly at: number; readonly cuid: string }[] = [];
  const logged: string[] = [];
  const figures = new Map<string, TargetFigures | undefined>();
  const outcomes: string[] = [];
  /** Times from an event until it was applied. */
  const stepped: number[] = [];
  const senders: Target[] = [];
  /** Events that were sent while another one of their connection was under way. */
  const overlaps: number[] = [];
  let closed = 0;
  let holders = 0;
  const scene = {
    ...{ time, outbox, target, arrived, logged, figures, outcomes, stepped, senders },
    closed: () => closed,
    /** What the target does; throws where it does not take an event. */
    answer: async (
      _event: Recorded<ConnectionEvent>,
      _signal: AbortSignal,
      _exchange: OpenExchange,
    ): Promise<void> => {},
    under: 0,
    mostUnder: 0,
    /** Of which customer something is under way. */
    busy: new Set<string>(),
    start,
    add: (...cuids: string[]) =>
      cuids.map((cuid) => outbox.add({ kind: "topup.recorded", at: time.clock(), key: keyOf(cuid) }).seq),
    seqs: () => arrived.map(({ seq }) => seq),
    /** When an event arrived, in seconds since the beginning. */
    timesOf: (seq: number) => arrived.filter((each) => each.seq === seq).map(({ at }) => (at - START) / 1000),
  };

  const send: Sender["send"] = async (given, signal, exchange = {}) => {
    const event = given as Recorded<ConnectionEvent>;
    const { cuid } = event.key;
    if (scene.busy.has(cuid)) overlaps.push(event.seq);
    scene.busy.add(cuid);
    scene.under += 1;
    scene.mostUnder = Math.max(scene.mostUnder, scene.under);
    arrived.push({ seq: event.seq, at: time.clock(), cuid });
    try {
      await Promise.race([scene.answer(event, signal, exchange), interrupted(signal)]);
    } finally {
      scene.under -= 1;
      scene.busy.delete(cuid);
    }
  };

  function start(): TestProcess {
    holders += 1;
    const holder = `process ${holders}`;
    let isDead = false;
    const never = new Promise<never>(() => {});
    const mortal = new Proxy(outbox, {
      get: (store, name: keyof MemoryOutbox) => {
        const value = store[name];
        if (typeof value !== "function") return value;
        return async (...args: never[]) => {
          const result = isDead ? never : await (value as (...all: never[]) => unknown).apply(store, args);
          return isDead ? never : result;
        };
      },
    });
    const worker = startDelivering({
      ...{ store: { outbox: mortal, provider: { zone: createZone("UTC") } }, clock: time.clock, holder },
      stopwatch: time.stopwatch,
      sleep: async (ms, signal) => {
        await time.sleep(ms, signal);
        if (isDead) await never;
      },
      random: (bytes) => new Uint8Array(bytes).fill(128),
      createSender: (created) => {
        senders.push(created);
        return {
          send: (...given) => (isDead ? never : send(...given)),
          close: async () => {
            closed += 1;
          },
        };
      },
      log: (level, fields, message) =>
        logged.push(`${level} ${(fields["target"] as string | undefined) ?? "-"}: ${message}`),
      observer: {
        deliveryEnded: (_target, outcome) => outcomes.push(outcome),
        stepEnded: (_target, ms) => stepped.push(ms),
        targetObserved: (name, observed) => figures.set(name, observed),
      },
    });
    const stop = () => time.until(worker.stop(), 60_000);
    onTestFinished(async () => {
      outbox.isAway = false;
      scene.answer = async () => {};
      if (!isDead) await stop();
      expect(overlaps).toEqual([]);
    });
    return {
      ...{ holder, stop },
      kill: () => {
        isDead = true;
        // Its sockets break.
        scene.busy.clear();
        scene.under = 0;
      },
    };
  }

  return scene;
}

function interrupted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(new DeliveryFailed("interrupted")));
  });
}

export function fail(problem = "status 500"): never {
  throw new DeliveryFailed(problem);
}
