import { expect, test } from "vitest";
import { StoreUnavailable } from "../../src/store/errors.ts";
import { failureLog, Lease, startRepeating } from "../../src/workers/worker.ts";
import { MemoryOutbox } from "../support/memory-outbox.ts";
import { VirtualTime } from "../support/virtual-time.ts";

const HOUR_MS = 3_600_000;

function scene() {
  const time = new VirtualTime(1_000_000);
  const outbox = new MemoryOutbox();
  /** @param clock of the process that wants the lease. */
  const lease = (holder: string, clock = time.clock) =>
    new Lease(outbox, { clock, stopwatch: time.stopwatch, holder }, "ends");
  return { time, outbox, lease, first: lease("first"), second: lease("second") };
}

test("a lease is one process's for twenty seconds, and for longer where it renews it", async () => {
  const { time, first, second } = scene();
  expect([await first.take(), await second.take()]).toEqual([true, false]);
  await time.pass(4_000);
  expect([await first.renew(), first.leftMs]).toEqual([true, 20_000]);
  await time.pass(19_999);
  expect(await second.take()).toBe(false);
  await time.pass(1);
  expect(await second.take()).toBe(true);
});

test("a lease that has run out is not renewed: another process may have had it meanwhile", async () => {
  const { time, first } = scene();
  await first.take();
  await time.pass(20_000);
  expect([await first.renew(), first.leftMs]).toEqual([false, 0]);
});

test("a lease that is released can be had at once, and only its holder releases it", async () => {
  const { first, second } = scene();
  await first.take();
  await second.release();
  expect(await second.take()).toBe(false);
  await first.release();
  expect(await second.take()).toBe(true);
});

test("a lease lasts as long after the wall clock was set", async () => {
  const { time, lease } = scene();
  for (const hours of [-6, 6]) {
    let ahead = 0;
    const held = lease("first", () => time.clock() + ahead);
    await held.take();
    ahead = hours * HOUR_MS;
    expect(held.leftMs).toBe(20_000);
    await time.pass(4_000);
    expect([held.leftMs, await held.renew(), held.leftMs]).toEqual([16_000, true, 20_000]);
    await time.pass(20_000);
    expect([held.leftMs, await held.renew()]).toEqual([0, false]);
    await held.release();
  }
});

test("a lease of a killed process whose clock was 5.75 hours ahead is free at once", async () => {
  const { time, lease, second } = scene();
  const killed = lease("killed", () => time.clock() + 5.75 * HOUR_MS);
  expect(await killed.take()).toBe(true);
  expect(await second.take()).toBe(true);
});

test.each([5_000, -5_000])("a holder whose clock is %i ms ahead of another's keeps its lease", async (ahead) => {
  const { time, lease, second } = scene();
  const holder = lease("first", () => time.clock() + ahead);
  await holder.take();
  for (let seconds = 0; seconds < 600; seconds += 1) {
    expect([await holder.renew(), await second.take()]).toEqual([true, false]);
    await time.pass(1_000);
  }
});

test("work that is repeated releases its lease at the end", async () => {
  const { time, outbox, first } = scene();
  const logged: unknown[] = [];
  const { clock, stopwatch, sleep } = time;
  const ports = { clock, stopwatch, sleep, holder: "first", log: (...line: unknown[]) => logged.push(line) };
  const begin = () =>
    startRepeating(ports, {
      everyMs: 1_000,
      work: async () => void (await first.take()),
      failure: "late",
      lease: first,
    });
  const worker = begin();
  await time.pass(2_500);
  expect(outbox.leases.size).toBe(1);
  await worker.stop();
  expect(outbox.leases.size).toBe(0);
  const other = begin();
  await time.pass(500);
  outbox.isAway = true;
  await other.stop();
  expect(logged).toEqual([["warn", { cause: "the database is unavailable" }, "late"]]);
});

test("trouble is told of once a minute each, and of an unknown error not what it says", async () => {
  const { time } = scene();
  const logged: unknown[] = [];
  const tell = failureLog({ stopwatch: time.stopwatch, log: (...line) => logged.push(line) });
  const defect = new Error("a customer's name");
  for (let second = 0; second < 90; second += 1) {
    tell(new StoreUnavailable("the disk is full"), { target: "tv" }, "begins again");
    tell(defect, {}, "cannot be read");
    await time.pass(1_000);
  }
  const lines = [
    ["warn", { target: "tv", cause: "the disk is full" }, "begins again"],
    ["warn", { err: defect }, "cannot be read"],
  ];
  expect(logged).toEqual([...lines, ...lines]);
});
