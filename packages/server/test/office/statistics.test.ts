import { expect, test } from "vitest";
import { reverseTransaction } from "../../src/office/corrections/reversal.ts";
import { StatisticsReader } from "../../src/office/statistics/statistics.ts";
import { run } from "../support/desk.ts";
import { customer, DAY_MS, MINUTE_MS, openWorld, type World, type WorldOptions } from "../support/world.ts";

const PRODUCTION = { environment: "production", partnerId: undefined, days: 30 } as const;

async function withCustomer(options: WorldOptions = {}): Promise<World> {
  const world = await openWorld(options);
  await world.importCustomers([customer("1")]);
  return world;
}

async function topUpAt(world: World, at: string, code?: string) {
  world.now = Date.parse(at);
  return world.topUp("1", code);
}

test("statistics tell today by the hour and a period by the day of the provider's clock, and what is in them", async () => {
  const world = await withCustomer({ timeZone: "Asia/Kathmandu" });
  // 18:14 and 18:15 UTC are the two sides of midnight.
  await topUpAt(world, "2026-11-20T18:14:59Z");
  const reversed = await topUpAt(world, "2026-11-20T18:15:00Z", "NET-3M");
  await topUpAt(world, "2026-12-19T18:20:00Z");
  await topUpAt(world, "2026-12-20T03:14:00Z", "NET-3M");
  await run(world.desk, reverseTransaction, { id: reversed.txnId, reason: "paid twice" });
  const statistics = new StatisticsReader(world.ports);
  const told = await statistics.answer(PRODUCTION);
  expect(told.until).toBe(world.now);
  const counts = (parts: readonly { readonly topUps: number }[]) => parts.map(({ topUps }) => topUps);
  expect(counts(told.hours)).toEqual([1, 0, 0, 0, 0, 0, 0, 0, 1, ...Array<number>(15).fill(0)]);
  expect(told.days.length).toBe(30);
  expect([told.days[0], told.days[29]]).toMatchObject([
    { day: "2026-11-21", topUps: 1, gross: 322_050n, reversals: 0, reversed: 0n },
    { day: "2026-12-20", topUps: 2, gross: 435_050n, reversals: 1, reversed: 322_050n },
  ]);
  expect(counts(told.days.slice(1, 29))).toEqual(Array(28).fill(0));
  expect(told.byPartner).toMatchObject([{ partnerId: world.partner.id, topUps: 3, gross: 757_100n }]);
  expect(told.byBouquet.map(({ bouquetCode, topUps }) => `${bouquetCode} ${topUps}`).sort()).toEqual([
    "NET-1M 1",
    "NET-3M 2",
  ]);
  expect((await statistics.answer({ ...PRODUCTION, partnerId: 99 })).byPartner).toEqual([]);
  expect((await statistics.answer({ ...PRODUCTION, environment: "trial" })).byBouquet).toEqual([]);
});

test("statistics compare each figure with what it was before this minute one week ago", async () => {
  const world = await withCustomer({ timeZone: "Asia/Kathmandu" });
  // One minute before and after 14:20 on the provider's clock, a week before; and on earlier days.
  const before = await topUpAt(world, "2026-11-20T18:20:00Z");
  await topUpAt(world, "2026-12-12T06:00:00Z");
  await topUpAt(world, "2026-12-12T18:20:00Z");
  await topUpAt(world, "2026-12-13T08:34:59Z", "NET-3M");
  await run(world.desk, reverseTransaction, { id: before.txnId, reason: "paid twice" });
  const after = await topUpAt(world, "2026-12-13T08:35:00Z");
  await run(world.desk, reverseTransaction, { id: after.txnId, reason: "paid twice" });
  const weekAgo = async (now: string, days: number) => {
    world.now = Date.parse(now);
    const { today, yesterday, period } = (await new StatisticsReader(world.ports).answer({ ...PRODUCTION, days }))
      .weekAgo;
    return [today.topUps, yesterday.topUps, period.topUps, period.reversals];
  };
  const afternoon = "2026-12-20T08:35:59Z";
  expect(await weekAgo(afternoon, 1)).toEqual([2, 1, 2, 1]);
  expect(await weekAgo(afternoon, 3)).toEqual([2, 1, 3, 1]);
  expect(await weekAgo(afternoon, 30)).toEqual([2, 1, 4, 1]);
  const morning = "2026-12-20T02:35:00Z";
  expect(await weekAgo(morning, 1)).toEqual([1, 1, 1, 0]);
  expect(await weekAgo(morning, 90)).toEqual([1, 1, 3, 0]);
});

test("callers share an answer for three seconds, and a failure with nobody", async () => {
  const world = await withCustomer();
  let asked = 0;
  let fails = false;
  const { provider, engine } = world.store;
  const view: typeof engine.view = (work) => {
    asked += 1;
    return fails ? Promise.reject(new Error("unavailable")) : engine.view(work);
  };
  const store = { provider, reports: { ...engine, view } } as typeof world.store;
  const statistics = new StatisticsReader({ ...world.ports, store });
  const ask = () => statistics.answer({ ...PRODUCTION });
  await Promise.all([ask(), ask()]);
  world.now += 2_999;
  await ask();
  expect(asked).toBe(1);
  world.now += 1;
  fails = true;
  await expect(ask()).rejects.toThrow("unavailable");
  fails = false;
  await ask();
  world.now -= DAY_MS + MINUTE_MS;
  await ask();
  expect(asked).toBe(4);
});
