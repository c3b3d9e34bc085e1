import { describe, expect, test } from "vitest";
import { EVENTS_KEPT_MS } from "../../src/domain/event.ts";
import { DeliveryFailed, SENDING_LIMIT_MS } from "../../src/domain/target.ts";
import { DAY_MS } from "../../src/domain/wall-time.ts";
import { StoreUnavailable } from "../../src/store/errors.ts";
import { deliveryScene, fail, START } from "../support/delivery-scene.ts";

const MINUTE_MS = 60_000;
const setAside = (seq: number) => {
  const times = { attempts: 80, failedAt: START - 4 * DAY_MS, nextAt: START };
  return { seq, ...times, setAside: true, problem: "status 422" };
};
const names = (count: number, first = 0) => Array.from({ length: count }, (_, index) => `c${first + index}`);

describe("a target that takes events", () => {
  test("gets each once, in order for each connection, up to 32 connections at a time", async () => {
    const scene = deliveryScene();
    for (let round = 0; round < 20; round += 1) scene.add(...names(50));
    scene.answer = (event) => scene.time.sleep(10 + (event.seq % 7) * 20);
    scene.start();
    await scene.time.pass(10_000);
    expect(scene.seqs().toSorted((a, b) => a - b)).toEqual(Array.from({ length: 1000 }, (_, index) => index + 1));
    for (const cuid of names(50)) {
      const seqs = scene.arrived.filter((each) => each.cuid === cuid).map(({ seq }) => seq);
      expect(seqs).toEqual(seqs.toSorted((a, b) => a - b));
    }
    expect(scene.mostUnder).toBe(32);
    await scene.time.pass(1_000);
    expect([scene.outbox.places.get(1), scene.outbox.deliveries.size]).toEqual([1000, 0]);
    expect(scene.figures.get("tv")).toEqual({ lagMs: 0, waiting: 0, setAside: 0 });
  });

  test("gets a new event within a quarter of a second", async () => {
    const scene = deliveryScene();
    scene.start();
    await scene.time.pass(5_100);
    const [seq = 0] = scene.add("c1");
    await scene.time.pass(300);
    expect(scene.timesOf(seq)).toHaveLength(1);
  });

  test("gets five thousand events that have gathered within a second", async () => {
    const scene = deliveryScene();
    scene.add(...names(5000));
    scene.start();
    await scene.time.pass(1_000);
    expect(scene.arrived).toHaveLength(5000);
  });

  test("has what it took written down every second and every few hundred events", async () => {
    const scene = deliveryScene();
    scene.start();
    await scene.time.pass(1_000);
    scene.add("c1");
    await scene.time.pass(1_250);
    expect(scene.outbox.places.get(1)).toBe(1);
    scene.add(...names(2000));
    await scene.time.pass(250);
    expect(scene.outbox.places.get(1)).toBeGreaterThanOrEqual(1500);
    const saves = scene.outbox.calls.saveProgress.length;
    await scene.time.pass(10_000);
    expect(scene.outbox.calls.saveProgress.length).toBeLessThanOrEqual(saves + 1);
  });

  test("is not held up by one event that hangs", async () => {
    const scene = deliveryScene();
    scene.add("slow", ...names(3000));
    const signals: AbortSignal[] = [];
    scene.answer = ({ key }, signal) => {
      if (key.cuid !== "slow") return Promise.resolve();
      signals.push(signal);
      return new Promise(() => {});
    };
    scene.start();
    await scene.time.pass(14_000);
    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
    expect(scene.arrived).toHaveLength(3001);
    expect(scene.outbox.places.get(1) ?? 0).toBe(0);
    expect(scene.figures.get("tv")?.lagMs).toBeGreaterThanOrEqual(13_000);
    await scene.time.pass(2_100);
    expect(signals[0]?.aborted).toBe(true);
    expect(scene.outbox.places.get(1)).toBe(3001);
    expect([...scene.outbox.deliveries.values()]).toMatchObject([
      { seq: 1, attempts: 1, problem: "no answer within 15 seconds" },
    ]);
  });
});

test("a sender that decides at its own time limit is heeded", async () => {
  const scene = deliveryScene();
  scene.add("c1");
  scene.answer = () => scene.time.sleep(SENDING_LIMIT_MS);
  scene.start();
  await scene.time.pass(20_000);
  expect(scene.outcomes).toEqual(["delivered"]);
});

describe("attempts are logged", () => {
  test("with their number and duration, in the save of the progress", async () => {
    const scene = deliveryScene();
    const [seq = 0] = scene.add("c1");
    scene.answer = async (_event, _signal, exchange) => {
      exchange.request = "body";
      await scene.time.sleep(40);
      if (scene.arrived.length === 1) fail();
      exchange.status = 204;
    };
    scene.start();
    await scene.time.pass(5_000);
    const at = expect.any(Number);
    const sent = { at, seq, request: "body", durationMs: 40 };
    expect(scene.outbox.calls.saveProgress.flatMap(({ logged }) => logged)).toEqual([
      { ...sent, attempt: 1, problem: "status 500" },
      { ...sent, attempt: 2, status: 204, problem: undefined },
    ]);
  });

  test("only the last 50 in one save, again after a save that failed, and none if nothing was sent", async () => {
    const scene = deliveryScene();
    scene.answer = async ({ key }, _signal, exchange) => {
      if (key.cuid !== "other") exchange.request = key.cuid;
    };
    scene.start();
    await scene.time.pass(1_100);
    scene.add(...names(120), "other");
    await scene.time.pass(300);
    scene.outbox.isAway = true;
    await scene.time.pass(2_000);
    scene.outbox.isAway = false;
    await scene.time.pass(2_000);
    const saved = scene.outbox.calls.saveProgress.map(({ logged }) => logged.map(({ request }) => request));
    expect(saved).toEqual([names(50, 70)]);
  });
});

describe("the last event of each connection that was sent is saved", () => {
  test("with its first attempt, why it fails, and when it was accepted", async () => {
    const scene = deliveryScene();
    const [first = 0] = scene.add("c1");
    scene.answer = async () => (scene.arrived.length < 3 ? fail("status 500") : undefined);
    scene.start();
    await scene.time.pass(60_000);
    const [later = 0] = scene.add("c1");
    await scene.time.pass(2_000);
    const saved = scene.outbox.calls.saveProgress.flatMap(({ steps }) => steps);
    expect(saved.map(({ seq, outcome, detail }) => [seq, outcome, detail])).toEqual([
      [first, "open", "status 500"],
      [first, "open", "status 500"],
      [first, "done", undefined],
      [later, "done", undefined],
    ]);
    expect(saved[0]).toMatchObject({ at: START, acceptedAt: undefined });
    expect([saved[0]?.sentAt, saved[2]?.acceptedAt]).toEqual([0, 2].map((index) => scene.arrived[index]?.at));
    expect(scene.stepped).toHaveLength(2);
    expect(scene.stepped[0]).toBe((saved[2]?.acceptedAt ?? 0) - START);
  });

  test("as open if the receiver promises a confirmation, and the promise is no time until it was applied", async () => {
    const scene = deliveryScene();
    scene.add("c1");
    scene.answer = async (_event, _signal, exchange) => {
      exchange.isPending = true;
    };
    scene.start();
    await scene.time.pass(2_000);
    const [step] = scene.outbox.calls.saveProgress.flatMap(({ steps }) => steps);
    expect(step).toMatchObject({ outcome: "open", acceptedAt: expect.any(Number), endedAt: undefined });
    expect(scene.stepped).toEqual([]);
  });

  test("again by the next process if the first was killed between the answer and the save", async () => {
    const scene = deliveryScene();
    const [seq = 0] = scene.add("c1");
    const first = scene.start();
    await scene.time.pass(300);
    expect(scene.seqs()).toEqual([seq]);
    first.kill();
    expect(scene.outbox.calls.saveProgress).toEqual([]);
    scene.start();
    await scene.time.pass(30_000);
    expect(scene.seqs()).toEqual([seq, seq]);
    const saved = scene.outbox.calls.saveProgress.flatMap(({ steps }) => steps);
    expect(saved.map((step) => [step.seq, step.outcome])).toEqual([[seq, "done"]]);
  });
});

test("a target that answers 410 is paused, which the log says once, and gets all events where staff resume it", async () => {
  const scene = deliveryScene();
  scene.answer = async () => {
    throw new DeliveryFailed("status 410", { isAnswer: true, retryAt: Infinity });
  };
  scene.add("c1", "c2");
  scene.start();
  await scene.time.pass(5_000);
  const others = scene.add("c3");
  await scene.time.pass(DAY_MS);
  expect(scene.outbox.targetList).toMatchObject([{ paused: true, gone: true }]);
  expect(scene.logged).toEqual(["warn tv: the target answered 410 and is paused until staff resume it"]);
  expect(scene.seqs()).toEqual([1, 2]);
  scene.answer = async () => {};
  scene.outbox.targetList = [scene.target];
  await scene.time.pass(5_000);
  expect(scene.seqs().slice(2)).toEqual([1, 2, ...others]);
  expect(scene.outbox.targetList).toMatchObject([{ paused: false, gone: false }]);
});

describe("an event that fails", () => {
  test("is left out once a later one of its connection is there, which is tried at once", async () => {
    const scene = deliveryScene();
    const [first = 0] = scene.add("c1");
    scene.answer = async ({ seq }) => (seq === first ? fail() : undefined);
    scene.start();
    await scene.time.pass(300_000);
    const [later = 0] = scene.add("c1");
    await scene.time.pass(300);
    expect(scene.timesOf(later)).toHaveLength(1);
    const tries = scene.timesOf(first).length;
    await scene.time.pass(10 * MINUTE_MS);
    expect(scene.timesOf(first)).toHaveLength(tries);
    expect([scene.outbox.places.get(1), scene.outbox.deliveries.size]).toEqual([later, 0]);
  });

  test("that was set aside is tried again where staff say so", async () => {
    const scene = deliveryScene();
    const [seq = 0] = scene.add("c1");
    scene.outbox.places.set(1, seq);
    scene.outbox.deliveries.set(seq, setAside(seq));
    scene.start();
    await scene.time.pass(60_000);
    expect([scene.arrived, scene.figures.get("tv")]).toEqual([[], { lagMs: 0, waiting: 0, setAside: 1 }]);
    const now = scene.time.clock();
    scene.outbox.deliveries.set(seq, { ...setAside(seq), setAside: false, nextAt: now });
    scene.outbox.targetList = [{ ...scene.target, resentAt: now }];
    await scene.time.pass(5_000);
    expect([scene.seqs(), scene.outbox.deliveries.size]).toEqual([[seq], 0]);
  });

  test("that was set aside is left out once a later one of its connection is there", async () => {
    const scene = deliveryScene();
    const [seq = 0] = scene.add("c1");
    scene.outbox.places.set(1, seq);
    scene.outbox.deliveries.set(seq, setAside(seq));
    scene.start();
    await scene.time.pass(3_000);
    expect(scene.figures.get("tv")).toMatchObject({ waiting: 0, setAside: 1 });
    const [later = 0] = scene.add("c1");
    await scene.time.pass(3_000);
    expect(scene.seqs()).toEqual([later]);
    expect(scene.outbox.deliveries.size).toBe(0);
  });

  test("that was let go of after thirty days is tried no more", async () => {
    const scene = deliveryScene();
    const [seq = 0] = scene.add("c1");
    scene.answer = async () => fail();
    scene.start();
    await scene.time.pass(10_000);
    await scene.outbox.forget(scene.time.clock() + EVENTS_KEPT_MS);
    const tries = scene.timesOf(seq).length;
    await scene.time.pass(5 * MINUTE_MS);
    expect(scene.timesOf(seq)).toHaveLength(tries);
    expect(scene.figures.get("tv")).toEqual({ lagMs: 0, waiting: 0, setAside: 0 });
  });
});

describe("the target that is the provider's billing", () => {
  test("gets every event of a connection, those behind one that fails once it got through", async () => {
    const scene = deliveryScene({ billing: true });
    const seqs = scene.add("c1", "c1", "c1", "c2");
    let isFixed = false;
    const taken: number[] = [];
    scene.answer = async ({ key, seq }) => {
      if (key.cuid === "c1" && !isFixed) fail();
      taken.push(seq);
    };
    scene.start();
    await scene.time.pass(20_000);
    const [later = 0] = scene.add("c1");
    await scene.time.pass(2_000);
    expect(taken).toEqual([seqs[3]]);
    expect(new Set(scene.seqs())).toEqual(new Set([seqs[0], seqs[3]]));
    expect(scene.outbox.places.get(1)).toBe(later);
    const untried = { attempts: 0, failedAt: undefined };
    const rows = [{ seq: seqs[0] }, { seq: seqs[1], ...untried }, { seq: seqs[2], ...untried }, { seq: later }];
    expect([...scene.outbox.deliveries.values()]).toMatchObject(rows);
    isFixed = true;
    await scene.time.pass(130_000);
    expect(taken).toEqual([seqs[3], seqs[0], seqs[1], seqs[2], later]);
    expect(scene.outbox.deliveries.size).toBe(0);
  });

  test("gets nothing of a connection while one of its events is set aside", async () => {
    const scene = deliveryScene({ billing: true });
    const [seq = 0] = scene.add("c1");
    scene.outbox.places.set(1, seq);
    scene.outbox.deliveries.set(seq, setAside(seq));
    scene.add("c1", "c2");
    scene.start();
    await scene.time.pass(MINUTE_MS);
    expect(scene.seqs()).toEqual([3]);
    expect([...scene.outbox.deliveries.keys()]).toEqual([1, 2]);
  });
});

describe("a target that is away", () => {
  test("is tried again and again with few of its events, and gets all within seconds of its return", async () => {
    const scene = deliveryScene();
    let isBack = false;
    scene.answer = async () => (isBack ? undefined : fail("connection refused"));
    scene.add(...names(3000));
    scene.start();
    await scene.time.pass(10 * MINUTE_MS);
    const tried = new Set(scene.seqs()).size;
    // Those that were under way when it was found to be away, and one each half a minute.
    expect(tried).toBeLessThanOrEqual(63 + 20);
    expect(scene.outbox.deliveries.size).toBeGreaterThanOrEqual(tried - 1);
    expect(scene.logged).toEqual(["warn tv: the target takes no events"]);
    isBack = true;
    scene.arrived.length = 0;
    await scene.time.pass(33_000);
    expect(new Set(scene.seqs()).size).toBe(3000);
    expect([scene.outbox.places.get(1), scene.outbox.deliveries.size]).toEqual([3000, 0]);
    expect(scene.logged.at(-1)).toBe("info tv: the target takes events again");
  });

  test("gets all of it too where nothing is new, and another process goes on", async () => {
    const scene = deliveryScene();
    let isBack = false;
    scene.answer = async () => (isBack ? undefined : fail("connection refused"));
    scene.add(...names(40));
    const first = scene.start();
    await scene.time.pass(15 * MINUTE_MS);
    await first.stop();
    scene.start();
    await scene.time.pass(MINUTE_MS);
    isBack = true;
    await scene.time.pass(33_000);
    expect([scene.outbox.places.get(1), scene.outbox.deliveries.size]).toEqual([40, 0]);
  });
});

describe("of several processes", () => {
  test("one delivers, and another goes on where it stopped", async () => {
    const scene = deliveryScene();
    const first = scene.start();
    scene.start();
    scene.add(...names(100));
    await scene.time.pass(2_000);
    expect([scene.senders.length, scene.arrived.length]).toEqual([1, 100]);
    await first.stop();
    scene.add(...names(100));
    await scene.time.pass(2_000);
    expect([scene.senders.length, scene.arrived.length]).toEqual([2, 200]);
  });

  test("another goes on within 30 seconds of a kill, and nothing is lost", async () => {
    const scene = deliveryScene();
    const first = scene.start();
    scene.start();
    scene.answer = () => scene.time.sleep(100);
    scene.add(...names(1000));
    await scene.time.pass(1_500);
    first.kill();
    scene.add("late");
    await scene.time.pass(30_000);
    expect(new Set(scene.seqs()).size).toBe(1001);
    expect(scene.outbox.places.get(1)).toBe(1001);
  });

  test.each([
    { which: "the next one", others: 0, wasAway: false },
    { which: "far behind the saved place", others: 3_000, wasAway: false },
    { which: "the first that an unavailable target takes", others: 40, wasAway: true },
  ])(
    "after a kill, a failed event is not sent after a newer one that was taken: $which",
    async ({ others, wasAway }) => {
      const scene = deliveryScene();
      const [failing = 0] = scene.add("c1");
      const taken: number[] = [];
      let isAway = wasAway;
      scene.answer = async ({ key, seq }) => {
        if (isAway || seq === failing) fail();
        if (key.cuid === "c1") taken.push(seq);
      };
      const first = scene.start();
      if (wasAway) scene.add(...names(others, 10));
      await scene.time.pass(5_500);
      const saveProgress = scene.outbox.saveProgress.bind(scene.outbox);
      scene.outbox.saveProgress = () => Promise.reject(new StoreUnavailable("the disk is full"));
      if (!wasAway) scene.add(...names(others, 10));
      const [newer = 0] = scene.add("c1");
      isAway = false;
      await scene.time.pass(35_000);
      expect(taken).toEqual([newer]);
      first.kill();
      scene.outbox.saveProgress = saveProgress;
      scene.answer = async ({ key, seq }) => {
        await scene.time.sleep(20);
        if (key.cuid === "c1") taken.push(seq);
      };
      scene.start();
      await scene.time.pass(60_000);
      expect(taken).toEqual([newer, newer]);
      expect(scene.outbox.deliveries.size).toBe(0);
    },
  );

  test("whoever loses the lease stops at once, and writes nothing", async () => {
    const scene = deliveryScene();
    scene.start();
    const interrupted: boolean[] = [];
    scene.answer = (_event, signal) =>
      new Promise((_, reject) => {
        signal.addEventListener("abort", () => {
          interrupted.push(true);
          reject(new Error("interrupted"));
        });
      });
    scene.add("c1", "c2");
    await scene.time.pass(1_500);
    scene.outbox.leases.set("target:1", { holder: "somebody else", until: START + 70_000 });
    await scene.time.pass(5_000);
    expect(interrupted).toEqual([true, true]);
    expect(scene.outbox.calls.saveProgress).toEqual([]);
    expect([scene.figures.get("tv"), scene.outcomes]).toEqual([undefined, []]);
    scene.add("c3");
    await scene.time.pass(60_000);
    expect(scene.arrived).toHaveLength(2);
  });

  test("whoever hears from the store that the lease is another's begins anew from what is saved", async () => {
    const scene = deliveryScene();
    const { outbox } = scene;
    const saveProgress = outbox.saveProgress.bind(outbox);
    outbox.saveProgress = async () => {
      outbox.saveProgress = saveProgress;
      return false;
    };
    scene.add("c1");
    scene.start();
    await scene.time.pass(5_000);
    expect(scene.seqs()).toEqual([1, 1]);
    expect([scene.senders.length, outbox.places.get(1)]).toEqual([2, 1]);
  });

  test("who stops waits for what is in hand, writes it down, and leaves the lease to others", async () => {
    const scene = deliveryScene();
    const process = scene.start();
    scene.answer = () => scene.time.sleep(900);
    scene.add("c1");
    await scene.time.pass(600);
    await process.stop();
    expect([scene.outbox.places.get(1), scene.outbox.leases.size, scene.closed()]).toEqual([1, 0, 1]);
  });

  test("who stops waits five seconds for what hangs, and leaves it to others", async () => {
    const scene = deliveryScene();
    const process = scene.start();
    scene.answer = () => new Promise(() => {});
    scene.add("c1");
    await scene.time.pass(600);
    const before = scene.time.clock();
    await process.stop();
    expect(scene.time.clock() - before).toBeLessThanOrEqual(5_100);
    expect([scene.outbox.places.get(1) ?? 0, scene.outbox.deliveries.size, scene.outbox.leases.size]).toEqual([
      1, 1, 0,
    ]);
    scene.answer = async () => {};
    scene.start();
    await scene.time.pass(2_000);
    expect(scene.seqs()).toEqual([1, 1]);
  });
});

describe("an orderly end", () => {
  test("has what was in hand sent again by whoever goes on, and nothing that the target has", async () => {
    const scene = deliveryScene();
    scene.answer = async ({ key }) => (key.cuid === "slow" ? new Promise(() => {}) : undefined);
    scene.add("slow", "c1", "slow", "c2");
    const { stop } = scene.start();
    await scene.time.pass(1_000);
    expect(scene.seqs()).toEqual([1, 2, 4]);
    const stopping = stop();
    await scene.time.pass(10_000);
    await stopping;
    scene.answer = async () => undefined;
    scene.start();
    await scene.time.pass(3_000);
    expect(scene.seqs()).toEqual([1, 2, 4, 1, 3]);
    expect(scene.outbox.deliveries.size).toBe(0);
  });
});

describe("a change of a target", () => {
  test("is heeded within two seconds: paused, resumed, other secrets, removed", async () => {
    const scene = deliveryScene();
    scene.start();
    const { target, outbox, time } = scene;
    const send = async () => {
      const [seq = 0] = scene.add("c1");
      await time.pass(2_000);
      return scene.timesOf(seq).length;
    };
    expect(await send()).toBe(1);
    outbox.targetList = [{ ...target, paused: true }];
    await time.pass(2_000);
    expect(await send()).toBe(0);
    expect([outbox.leases.size, scene.figures.get("tv")]).toEqual([0, undefined]);
    outbox.targetList = [{ ...target, secrets: [{ secret: "whsec_Mg==", until: undefined }] }];
    await time.pass(2_000);
    expect(scene.arrived).toHaveLength(2);
    expect(scene.senders.at(-1)?.secrets).toEqual([{ secret: "whsec_Mg==", until: undefined }]);
    expect(await send()).toBe(1);
    outbox.targetList = [];
    await time.pass(2_000);
    expect(await send()).toBe(0);
    expect([outbox.leases.size, scene.closed()]).toEqual([0, 2]);
  });

  test("a feed is sent nothing", async () => {
    const scene = deliveryScene({ config: { kind: "feed" } });
    scene.start();
    scene.add("c1");
    await scene.time.pass(5_000);
    expect([scene.senders.length, scene.outbox.leases.size]).toEqual([0, 0]);
  });
});

describe("a store that is away", () => {
  test("for a few seconds has nothing sent again, and nobody told", async () => {
    const scene = deliveryScene();
    scene.answer = () => scene.time.sleep(300);
    scene.start();
    await scene.time.pass(1_000);
    for (let time = 0; time < 5; time += 1) {
      scene.add(...names(20));
      await scene.time.pass(400);
      scene.outbox.isAway = true;
      await scene.time.pass(4_000);
      scene.outbox.isAway = false;
      await scene.time.pass(1_000);
    }
    await scene.time.pass(5_000);
    expect(scene.arrived).toHaveLength(100);
    expect([scene.outbox.places.get(1), scene.senders.length]).toEqual([100, 1]);
    expect(scene.logged.filter((line) => line.includes("tv"))).toEqual([]);
  });

  test("has no attempt begun that could outlast the lease", async () => {
    const scene = deliveryScene();
    scene.answer = () => scene.time.sleep(1_000);
    scene.add(...names(500));
    scene.start();
    await scene.time.pass(1_100);
    scene.outbox.isAway = true;
    await scene.time.pass(15_000);
    const last = Math.max(...scene.arrived.map(({ at }) => at - START));
    expect(last).toBeGreaterThan(2_000);
    expect(last).toBeLessThanOrEqual(1_100 + 5_000);
    expect(scene.arrived.length).toBeLessThan(500);
  });

  test("is told of once a minute, and delivery goes on by itself once it is back", async () => {
    const scene = deliveryScene();
    scene.start();
    scene.add(...names(10));
    await scene.time.pass(3_000);
    scene.outbox.isAway = true;
    await scene.time.pass(50_000);
    expect(scene.logged.length).toBeLessThanOrEqual(3);
    expect(scene.logged).toContain("warn -: the targets cannot be read");
    scene.outbox.isAway = false;
    scene.add(...names(10));
    await scene.time.pass(3_000);
    expect(new Set(scene.seqs()).size).toBe(20);
    expect(scene.outbox.places.get(1)).toBe(20);
  });
});
