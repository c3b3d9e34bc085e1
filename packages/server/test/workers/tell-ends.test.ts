import { describe, expect, onTestFinished, test } from "vitest";
import type { EventSubscription } from "../../src/domain/event.ts";
import { EVENTS_KEPT_MS } from "../../src/domain/event.ts";
import { createZone, DAY_MS, type WallTime } from "../../src/domain/wall-time.ts";
import { startTellingEnds } from "../../src/workers/tell-ends.ts";
import { keyOf, MemoryOutbox, targetWith } from "../support/memory-outbox.ts";
import { VirtualTime } from "../support/virtual-time.ts";

const START = Date.parse("2026-11-23T09:00:00Z");
const MINUTE_MS = 60_000;
const KATHMANDU = createZone("Asia/Kathmandu");

function subscriptionTo(end: WallTime, plan = "Fiber 100"): EventSubscription {
  return { plan, bouquetId: "NET-1M", name: plan, addOn: false, start: "2026-01-01 00:00:00", end, goodwillDays: 0 };
}

function scene({ zone = KATHMANDU, start = START, createdAt = START } = {}) {
  const time = new VirtualTime(start);
  const outbox = new MemoryOutbox();
  outbox.targetList = [targetWith({ createdAt })];
  const logged: string[] = [];
  let holders = 0;
  return {
    ...{ time, outbox, logged },
    /** On the provider's wall clock, so long from the beginning. */
    wallIn: (ms: number) => zone.wallTime(start + ms),
    begin: () => {
      holders += 1;
      const worker = startTellingEnds({
        ...{
          store: { outbox, provider: { zone } },
          clock: time.clock,
          stopwatch: time.stopwatch,
          sleep: time.sleep,
          holder: `process ${holders}`,
        },
        log: (level, _fields, message) => logged.push(`${level}: ${message}`),
      });
      const stop = () => time.until(worker.stop(), 10_000);
      onTestFinished(async () => {
        outbox.isAway = false;
        await stop();
      });
      return stop;
    },
    /** Who was told of, in the order of the events, and how many milliseconds after the beginning. */
    told: () =>
      outbox.events
        .filter(({ kind }) => kind === "subscription.ended")
        .map(({ key, at }) => ({ cuid: key.cuid, ms: at - start })),
    cuids: () => outbox.events.filter(({ kind }) => kind === "subscription.ended").map(({ key }) => key.cuid),
  };
}

describe("the end of a subscription", () => {
  test("is told of within five seconds, by the provider's clock", async () => {
    const all = scene();
    all.outbox.subscriptions.set("c1", [subscriptionTo(all.wallIn(90_000))]);
    all.outbox.subscriptions.set("c2", [subscriptionTo(all.wallIn(40 * MINUTE_MS))]);
    all.outbox.subscriptions.set("c3", [subscriptionTo(all.wallIn(100 * MINUTE_MS))]);
    all.outbox.subscriptions.set("c4", [subscriptionTo(all.wallIn(DAY_MS))]);
    all.begin();
    await all.time.pass(3 * 60 * MINUTE_MS);
    const ends = [90_000, 40 * MINUTE_MS, 100 * MINUTE_MS];
    expect(all.cuids()).toEqual(["c1", "c2", "c3"]);
    for (const [index, { ms }] of all.told().entries()) {
      expect(ms - (ends[index] ?? 0)).toBeGreaterThanOrEqual(0);
      expect(ms - (ends[index] ?? 0)).toBeLessThanOrEqual(5_000);
    }
  });

  test("is told of for each subscription of a connection", async () => {
    const all = scene();
    const [base, addOn] = [subscriptionTo(all.wallIn(60_000)), subscriptionTo(all.wallIn(120_000), "Static IP")];
    all.outbox.subscriptions.set("c1", [base, addOn]);
    all.begin();
    await all.time.pass(3 * MINUTE_MS);
    expect(all.cuids()).toEqual(["c1", "c1"]);
  });

  test("is told of where a reversal or a change brings it near", async () => {
    const all = scene();
    all.begin();
    await all.time.pass(10 * MINUTE_MS);
    for (const [cuid, kind] of [
      ["c1", "topup.reversed"],
      ["c2", "subscription.changed"],
    ] as const) {
      all.outbox.subscriptions.set(cuid, [subscriptionTo(all.wallIn(20 * MINUTE_MS))]);
      all.outbox.add({ kind, at: all.time.clock(), key: keyOf(cuid) });
    }
    await all.time.pass(9 * MINUTE_MS);
    expect(all.cuids()).toEqual([]);
    await all.time.pass(MINUTE_MS + 5_000);
    expect(all.cuids()).toEqual(["c1", "c2"]);
  });

  test("is not told of where the subscription was prolonged meanwhile", async () => {
    const all = scene();
    all.outbox.subscriptions.set("c1", [subscriptionTo(all.wallIn(MINUTE_MS))]);
    all.begin();
    await all.time.pass(30_000);
    all.outbox.subscriptions.set("c1", [subscriptionTo(all.wallIn(30 * DAY_MS))]);
    await all.time.pass(2 * MINUTE_MS);
    expect(all.cuids()).toEqual([]);
  });

  test("is told of once, however many end at the same time", async () => {
    const all = scene();
    const cuids = Array.from({ length: 2500 }, (_, index) => `c${10_000 + index}`);
    for (const cuid of cuids) all.outbox.subscriptions.set(cuid, [subscriptionTo(all.wallIn(MINUTE_MS))]);
    all.begin();
    await all.time.pass(MINUTE_MS + 5_000);
    expect(all.cuids()).toEqual(cuids);
    expect(Math.max(...all.outbox.calls.tellTurns)).toBe(200);
    await all.time.pass(70 * MINUTE_MS);
    expect(all.cuids()).toHaveLength(2500);
  });

  test("is told of once where clocks are put back, and at once where they skip it", async () => {
    const zone = createZone("Europe/Berlin");
    const start = Date.parse("2026-10-25T00:30:00Z");
    const back = scene({ zone, start, createdAt: start });
    back.outbox.subscriptions.set("c1", [subscriptionTo("2026-10-25 02:50:00")]);
    back.begin();
    await back.time.pass(3 * 60 * MINUTE_MS);
    expect(back.told()).toMatchObject([{ cuid: "c1" }]);
    expect(back.told()[0]?.ms).toBeLessThanOrEqual(20 * MINUTE_MS + 5_000);
    const forth = scene({ zone, start: Date.parse("2026-03-29T00:30:00Z"), createdAt: 0 });
    forth.outbox.toldUntil = forth.wallIn(0);
    forth.outbox.subscriptions.set("c1", [subscriptionTo("2026-03-29 02:30:00")]);
    forth.begin();
    await forth.time.pass(60 * MINUTE_MS);
    expect(forth.told()[0]?.ms).toBeGreaterThanOrEqual(30 * MINUTE_MS);
    expect(forth.told()[0]?.ms).toBeLessThanOrEqual(30 * MINUTE_MS + 5_000);
  });
});

describe("the start of a subscription", () => {
  const from = (start: WallTime) => ({ ...subscriptionTo("2028-01-01 00:00:00"), start });
  const begun = ({ outbox }: ReturnType<typeof scene>) =>
    outbox.events.filter(({ kind }) => kind === "subscription.changed").map(({ key, at }) => [key.cuid, at - START]);

  test("is told of within five seconds, once, as a change", async () => {
    const all = scene();
    const starts = [90_000, 40 * MINUTE_MS, 100 * MINUTE_MS];
    for (const [index, ms] of starts.entries())
      all.outbox.subscriptions.set(`c${index}`, [from(all.wallIn(ms)), subscriptionTo(all.wallIn(DAY_MS), "TV")]);
    all.begin();
    await all.time.pass(3 * 60 * MINUTE_MS);
    expect(begun(all).map(([cuid]) => cuid)).toEqual(["c0", "c1", "c2"]);
    for (const [index, [, ms]] of begun(all).entries()) {
      expect(Number(ms) - (starts[index] ?? 0)).toBeGreaterThanOrEqual(0);
      expect(Number(ms) - (starts[index] ?? 0)).toBeLessThanOrEqual(5_000);
    }
    expect(all.cuids()).toEqual([]);
  });

  test("is told of where a change brings it near, and not if it is moved away", async () => {
    const all = scene();
    all.begin();
    await all.time.pass(10 * MINUTE_MS);
    for (const cuid of ["c1", "c2"]) {
      all.outbox.subscriptions.set(cuid, [from(all.wallIn(20 * MINUTE_MS))]);
      all.outbox.add({ kind: "subscription.changed", at: all.time.clock(), key: keyOf(cuid) });
    }
    await all.time.pass(MINUTE_MS);
    all.outbox.subscriptions.set("c2", [from(all.wallIn(DAY_MS))]);
    await all.time.pass(10 * MINUTE_MS);
    expect(begun(all).map(([cuid]) => cuid)).toEqual(["c1", "c2", "c1"]);
  });

  test("is told of after a pause in which it came", async () => {
    const all = scene({ createdAt: START - 30 * DAY_MS });
    all.outbox.toldUntil = all.wallIn(-DAY_MS);
    all.outbox.subscriptions.set("before", [from(all.wallIn(-DAY_MS - 1000))]);
    all.outbox.subscriptions.set("meanwhile", [from(all.wallIn(-DAY_MS + 1000))]);
    all.begin();
    await all.time.pass(10_000);
    expect(begun(all).map(([cuid]) => cuid)).toEqual(["meanwhile"]);
  });
});

describe("after a pause in which nobody told of ends", () => {
  test("those are told of that came meanwhile, and none that came before", async () => {
    const all = scene({ createdAt: START - 30 * DAY_MS });
    all.outbox.toldUntil = all.wallIn(-DAY_MS);
    all.outbox.subscriptions.set("before", [subscriptionTo(all.wallIn(-DAY_MS - 1000))]);
    all.outbox.subscriptions.set("meanwhile", [subscriptionTo(all.wallIn(-DAY_MS + 1000))]);
    all.begin();
    await all.time.pass(10_000);
    expect(all.cuids()).toEqual(["meanwhile"]);
  });

  test("those before the oldest target are none of its business", async () => {
    const all = scene({ createdAt: START - 60_000 });
    all.outbox.toldUntil = all.wallIn(-DAY_MS);
    all.outbox.subscriptions.set("before", [subscriptionTo(all.wallIn(-MINUTE_MS - 1000))]);
    all.outbox.subscriptions.set("since", [subscriptionTo(all.wallIn(-MINUTE_MS + 1000))]);
    all.begin();
    await all.time.pass(10_000);
    expect(all.cuids()).toEqual(["since"]);
  });

  test("none is missed where the process before ended between two portions", async () => {
    const all = scene({ createdAt: 0 });
    all.outbox.toldUntil = all.wallIn(-1000);
    for (let index = 0; index < 500; index += 1)
      all.outbox.subscriptions.set(`c${1000 + index}`, [subscriptionTo(all.wallIn(MINUTE_MS))]);
    const stop = all.begin();
    const tellTurns = all.outbox.tellTurns.bind(all.outbox);
    all.outbox.tellTurns = async (...args) => {
      if (args[0].length === 200 && all.cuids().length > 0) all.outbox.isAway = true;
      return tellTurns(...args);
    };
    await all.time.pass(MINUTE_MS + 3_000);
    expect(all.cuids()).toHaveLength(200);
    await stop().catch(() => {});
    all.outbox.tellTurns = tellTurns;
    all.outbox.isAway = false;
    all.begin();
    await all.time.pass(30_000);
    expect(new Set(all.cuids()).size).toBe(500);
    expect(all.logged).toEqual(["warn: events for subscriptions that began or ended are late"]);
  });
});

test("no end is taken for told of while others that are over are not known yet", async () => {
  const all = scene({ createdAt: 0 });
  all.outbox.toldUntil = all.wallIn(-DAY_MS);
  const isOver = (index: number) => index < 100 || index >= 1000;
  for (let index = 0; index < 1100; index += 1) {
    const end = all.wallIn(isOver(index) ? -MINUTE_MS : 30 * MINUTE_MS);
    all.outbox.subscriptions.set(`c${1000 + index}`, [subscriptionTo(end)]);
  }
  const turnsBetween = all.outbox.turnsBetween.bind(all.outbox);
  let pages = 0;
  all.outbox.turnsBetween = async (...args) => {
    pages += 1;
    if (pages === 2) all.outbox.isAway = true;
    return turnsBetween(...args);
  };
  all.begin();
  await all.time.pass(3_000);
  expect(all.cuids()).toHaveLength(100);
  all.outbox.isAway = false;
  await all.time.pass(30_000);
  expect(new Set(all.cuids()).size).toBe(200);
});

test("an end that passes during a long scan is told of once", async () => {
  const all = scene();
  for (let index = 0; index < 2500; index += 1)
    all.outbox.subscriptions.set(`c${1000 + index}`, [subscriptionTo(all.wallIn(69 * MINUTE_MS))]);
  all.outbox.subscriptions.set("last", [subscriptionTo(all.wallIn(60 * MINUTE_MS + 2_000))]);
  const turnsBetween = all.outbox.turnsBetween.bind(all.outbox);
  all.outbox.turnsBetween = async (...args) => {
    await all.time.sleep(3_000);
    return turnsBetween(...args);
  };
  all.begin();
  await all.time.pass(62 * MINUTE_MS);
  expect(all.cuids()).toEqual(["last"]);
});

test("of several processes, one tells, and another goes on at once where it stops", async () => {
  const all = scene();
  const stop = all.begin();
  all.begin();
  all.outbox.subscriptions.set("c1", [subscriptionTo(all.wallIn(MINUTE_MS))]);
  all.outbox.subscriptions.set("c2", [subscriptionTo(all.wallIn(2 * MINUTE_MS))]);
  await all.time.pass(70_000);
  await stop();
  await all.time.pass(70_000);
  expect(all.cuids()).toEqual(["c1", "c2"]);
});

test("while there is no target, no end is looked for", async () => {
  const all = scene();
  all.outbox.targetList = [];
  all.outbox.subscriptions.set("c1", [subscriptionTo(all.wallIn(MINUTE_MS))]);
  all.begin();
  await all.time.pass(2 * MINUTE_MS);
  expect([all.cuids(), all.outbox.calls.turnsBetween]).toEqual([[], []]);
  all.outbox.targetList = [targetWith({ createdAt: all.time.clock() })];
  all.outbox.subscriptions.set("c2", [subscriptionTo(all.wallIn(3 * MINUTE_MS))]);
  await all.time.pass(2 * MINUTE_MS);
  expect(all.cuids()).toEqual(["c2"]);
});

test("events are let go of after thirty days, also once no target is left", async () => {
  const all = scene();
  all.outbox.targetList = [];
  for (let index = 0; index < 20; index += 1)
    all.outbox.add({ kind: "topup.recorded", at: START - EVENTS_KEPT_MS - 1000, key: keyOf("c1") });
  all.outbox.add({ kind: "topup.recorded", at: START, key: keyOf("c1") });
  all.begin();
  await all.time.pass(2 * MINUTE_MS);
  expect(all.outbox.events).toHaveLength(1);
});
