import { expect, test } from "vitest";
import { StoreUnavailable } from "../../src/store/errors.ts";
import { failureLog, Lease } from "../../src/workers/worker.ts";
import { MemoryOutbox } from "../support/memory-outbox.ts";
import { VirtualTime } from "../support/virtual-time.ts";

function scene() {
  const time = new VirtualTime(1_000_000);
  const outbox = new MemoryOutbox();
  const lease = (holder: string) => new Lease(outbox, { clock: time.clock, holder }, "ends");
  return { time, outbox, first: lease("first"), second: lease("second") };
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

test("trouble is told of once a minute each, and of an unknown error not what it says", async () => {
  const { time } = scene();
  const logged: unknown[] = [];
  const tell = failureLog({ clock: time.clock, log: (...line) => logged.push(line) });
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
