import { expect, test } from "vitest";
import type { Customer } from "../../src/domain/customer.ts";
import type { Store } from "../../src/store/store.ts";
import { by } from "../support/by.ts";
import { findWrong, type MakeDatabase } from "./database.ts";
import { bouquet, openProvider, restate } from "./provider.ts";

async function pagesOf(store: Store, limit: number): Promise<Customer[][]> {
  const pages: Customer[][] = [];
  let after: string | undefined;
  for (;;) {
    const page = await store.search.listCustomers("production", { after, limit });
    if (page.length === 0) return pages;
    pages.push(page);
    after = page.at(-1)?.cuid;
  }
}

export function testExports(makeDatabase: MakeDatabase): void {
  test.each([1, 7, 500])("in pages of %i, every customer comes once, with all that is known", async (limit) => {
    const { store, now } = await openProvider(makeDatabase);
    const many = Array.from({ length: 20 }, (_, index) => ({
      ...{ cuid: `C-${index}`, first_name: "A", last_name: "B", status: "active" },
      connections: index % 2 === 0 ? {} : { internet: [{ username: `u${index}`, status: "active" }] },
    }));
    const before = (await pagesOf(store, 500)).flat().map(({ cuid }) => cuid);
    await restate(store, now, ...many);
    const pages = await pagesOf(store, limit);
    expect(Math.max(...pages.map((page) => page.length))).toBe(Math.min(limit, before.length + 20));
    const cuids = pages.flat().map(({ cuid }) => cuid);
    expect(cuids.toSorted()).toEqual([...before, ...many.map(({ cuid }) => cuid)].toSorted());
    for (const customer of pages.flat())
      expect(customer).toEqual(await store.search.findCustomer("production", customer.cuid));
    expect(await store.search.listCustomers("trial", { after: undefined, limit })).toEqual([]);
  });

  test("a run that is carried over is on record as it was, and checks out", async () => {
    const opened = await openProvider(makeDatabase);
    const { store, now } = opened;
    const carried = { start: "2026-10-31T09:00:00.123Z", months: 4, days: 5, topped_up_months: 3, topped_up_days: 5 };
    const other = { plan: "Old Fiber", name: "Old (MONTHLY)" };
    const subscriptions = [
      {
        ...{ code: "NET-1M", startdate: "2026-10-31 09:00:00", enddate: "2027-03-05 09:00:00" },
        ...{ carried: { ...carried, goodwill_days: 2, granted_until: "2027-03-05T09:00:00.123Z", ...other } },
      },
    ];
    const connections = {
      internet: [{ username: "m", status: "inactive", topped_up: true, blocked_by_staff: true, subscriptions }],
    };
    await restate(store, now, { cuid: "9", first_name: "M", last_name: "R", status: "active", connections });
    expect(await store.search.findCustomer("production", "9")).toMatchObject({
      connections: [
        {
          ...{ toppedUp: true, blocked: true, status: "inactive" },
          subscriptions: [
            {
              ...{ plan: "Old Fiber", bouquet: { code: "NET-1M", name: "Old (MONTHLY)", addOn: false } },
              ...{ start: Date.parse("2026-10-31T09:00:00.123Z"), end: Date.parse("2027-03-05T09:00:00.123Z") },
              ...{ span: { months: 4, days: 5, seconds: 0 }, onTop: { months: 3, days: 5 }, goodwillDays: 2 },
              grantedEnd: Date.parse("2027-03-05T09:00:00.123Z"),
            },
          ],
        },
      ],
    });
    expect(await findWrong(store)).toEqual([]);
  });

  test("a retired bouquet becomes known, once, and is never sold", async () => {
    const { store, now } = await openProvider(makeDatabase);
    const before = (await store.currentCatalogue("production"))?.revision ?? 0;
    const [sold, old] = [bouquet("tv", "TV-NEW", "New (MONTHLY)", "1"), bouquet("tv", "TV-OLD", "Old (MONTHLY)", "2")];
    for (const revision of [before + 2, before + 3]) {
      expect((await store.publishCatalogue("production", [sold], by(now), [old])).revision).toBe(revision);
      expect(await store.currentCatalogue("production")).toEqual({ revision, bouquets: [sold] });
      expect(await store.knownBouquets("production")).toContainEqual(old);
    }
    expect(await findWrong(store)).toEqual([]);
  });
}
