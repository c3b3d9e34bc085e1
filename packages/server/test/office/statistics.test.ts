import { expect, test } from "vitest";
import { reverseTransaction } from "../../src/office/corrections/reversal.ts";
import { StatisticsCache } from "../../src/office/statistics/cache.ts";
import * as sql from "../../src/office/statistics/sql.ts";
import { run } from "../support/desk.ts";
import { customer, DAY_MS, MINUTE_MS, openWorld, type World, type WorldOptions } from "../support/world.ts";

const PRODUCTION = { environment: "production", partnerId: undefined, days: 30 } as const;
const HOUR_MS = 60 * MINUTE_MS;

async function withCustomer(options: WorldOptions = {}): Promise<World> {
  const world = await openWorld(options);
  await world.importCustomers([customer("1")]);
  return world;
}

async function topUpAt(world: World, at: string | number, code?: string) {
  world.now = typeof at === "number" ? at : Date.parse(at);
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
  const statistics = new StatisticsCache(world.ports);
  await statistics.gather();
  const told = await statistics.answer(PRODUCTION);
  expect(told).toMatchObject({ until: world.now, isComplete: true });
  const counts = (parts: readonly { readonly count: number }[]) => parts.map(({ count }) => count);
  expect(counts(told.hours)).toEqual([1, 0, 0, 0, 0, 0, 0, 0, 1, ...Array<number>(15).fill(0)]);
  expect([told.days.length, told.days[0], told.days[29]]).toEqual([
    30,
    { day: "2026-11-21", topUps: { count: 1, amount: 322_050n }, reversals: { count: 0, amount: 0n } },
    { day: "2026-12-20", topUps: { count: 2, amount: 435_050n }, reversals: { count: 1, amount: 322_050n } },
  ]);
  expect(counts(told.days.slice(1, 29).map(({ topUps }) => topUps))).toEqual(Array(28).fill(0));
  expect(told.byService).toEqual(new Map([["internet", { count: 3, amount: 757_100n }]]));
  expect(told.byPartner).toEqual(new Map([[world.partner.id, { count: 3, amount: 757_100n }]]));
  expect(told.byBouquet.map(({ bouquetCode, count }) => `${bouquetCode} ${count}`).sort()).toEqual([
    "NET-1M 1",
    "NET-3M 2",
  ]);
  expect((await statistics.answer({ ...PRODUCTION, partnerId: 99 })).byPartner.size).toBe(0);
  expect((await statistics.answer({ ...PRODUCTION, environment: "trial" })).byService.size).toBe(0);
  const short = await statistics.answer({ ...PRODUCTION, days: 1 });
  expect([counts(short.hours), short.days.map(({ day }) => day), short.byService.get("internet")?.count]).toEqual([
    counts(told.hours),
    ["2026-12-20"],
    2,
  ]);
});

test("statistics compare each figure with what it was at the same time one week ago", async () => {
  const world = await withCustomer({ timeZone: "Asia/Kathmandu" });
  // One minute before and after 14:20 on the provider's clock, a week before; and on earlier days.
  const before = await topUpAt(world, "2026-11-20T18:20:00Z");
  await topUpAt(world, "2026-12-12T06:00:00Z");
  await topUpAt(world, "2026-12-12T18:20:00Z");
  await topUpAt(world, "2026-12-13T08:34:00Z", "NET-3M");
  await run(world.desk, reverseTransaction, { id: before.txnId, reason: "paid twice" });
  const after = await topUpAt(world, "2026-12-13T08:36:00Z");
  await run(world.desk, reverseTransaction, { id: after.txnId, reason: "paid twice" });
  const weekAgo = async (now: string, days: number) => {
    world.now = Date.parse(now);
    const statistics = new StatisticsCache(world.ports);
    await statistics.gather();
    const { today, yesterday, period, reversals } = (await statistics.answer({ ...PRODUCTION, days })).weekAgo;
    return [today, yesterday, period, reversals].map(({ count }) => count);
  };
  const afternoon = "2026-12-20T08:35:00Z";
  expect(await weekAgo(afternoon, 1)).toEqual([2, 1, 2, 1]);
  expect(await weekAgo(afternoon, 3)).toEqual([2, 1, 3, 1]);
  expect(await weekAgo(afternoon, 30)).toEqual([2, 1, 4, 1]);
  const morning = "2026-12-20T02:35:00Z";
  expect(await weekAgo(morning, 1)).toEqual([1, 1, 1, 0]);
  expect(await weekAgo(morning, 90)).toEqual([1, 1, 3, 0]);
});

test("statistics count every top-up once as hours and days go by, and let go of what is older", async () => {
  const world = await withCustomer();
  const statistics = new StatisticsCache(world.ports);
  const start = world.now;
  const made: number[] = [];
  for (const ago of [0, 1, 9, 11, 50, 70, 130, 25 * 60, 26 * 60, 4 * 24 * 60, 27 * 24 * 60]) {
    await topUpAt(world, start + ago * MINUTE_MS);
    made.push(world.now);
    for (const wait of [0, 5_000, 45_000]) {
      world.now = (made.at(-1) as number) + wait;
      if (wait > 0) await statistics.gather();
      const { days } = await statistics.answer(PRODUCTION);
      expect(days.reduce((sum, { topUps }) => sum + topUps.count, 0)).toBe(made.length);
    }
  }
  world.now = start + 30 * DAY_MS;
  const { days } = await statistics.answer(PRODUCTION);
  // Those of the first day are of 30 days ago.
  expect(days.map(({ topUps }) => topUps.count).filter((count) => count > 0)).toEqual([2, 1, 1]);
});

test("statistics ask about what cannot change any more once, and tell while they still gather", async () => {
  const asked: number[] = [];
  let hold: Promise<void> | undefined;
  const held: Pick<typeof sql, "sumHours"> = {
    async sumHours(db, from, until) {
      const isOfWeekAgo = until !== undefined && until % MINUTE_MS !== 0;
      if (until !== undefined && !isOfWeekAgo) {
        await hold;
        asked.push(from);
      }
      return sql.sumHours(db, from, until);
    },
  };
  const world = await withCustomer();
  await topUpAt(world, world.now);
  // One second past, which shows which question is about one week ago.
  world.now += 2 * HOUR_MS + 1_000;
  await topUpAt(world, world.now);
  let go = () => {};
  hold = new Promise((resolve) => {
    go = resolve;
  });
  const statistics = new StatisticsCache(world.ports, held);
  const early = await statistics.answer(PRODUCTION);
  expect([early.isComplete, early.days[29]?.topUps.count]).toEqual([false, 1]);
  go();
  await statistics.gather();
  const late = await statistics.answer(PRODUCTION);
  expect([late.isComplete, late.days[29]?.topUps.count]).toEqual([true, 2]);
  const before = asked.length;
  await statistics.gather();
  await statistics.answer({ ...PRODUCTION, partnerId: world.partner.id });
  expect(asked.length).toBe(before);
  world.now += 11 * MINUTE_MS;
  await statistics.gather();
  expect(asked.length).toBe(before + 1);
});

test("statistics are right again after a clock that was ahead for a moment", async () => {
  const world = await withCustomer();
  const statistics = new StatisticsCache(world.ports);
  const right = Date.parse("2026-11-20T10:00:00Z");
  await topUpAt(world, right);
  world.now = right + 3 * DAY_MS;
  await statistics.gather();
  await statistics.answer(PRODUCTION);
  await topUpAt(world, right + MINUTE_MS);
  world.now += MINUTE_MS;
  await statistics.gather();
  const { days, until, isComplete } = await statistics.answer(PRODUCTION);
  expect([until, isComplete, days.at(-1)]).toEqual([
    world.now,
    true,
    expect.objectContaining({ day: "2026-11-20", topUps: { count: 2, amount: 226_000n } }),
  ]);
});
