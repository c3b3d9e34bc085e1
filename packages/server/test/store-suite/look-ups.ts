import { expect, test } from "vitest";
import { LOOK_UP_WINDOW_MS } from "../../src/domain/partner-limits.ts";
import { SharedLookUps } from "../../src/partner/gathering.ts";
import type { Store } from "../../src/store/store.ts";
import { countRows, type MakeDatabase, type OpenedStore, openStore } from "./database.ts";

const CODE = "9800000001";

/** Counts of services on one database. They share them when the test says. */
async function openServices(makeDatabase: MakeDatabase) {
  const opened: OpenedStore = await openStore(makeDatabase);
  const failures: unknown[] = [];
  const begin = async (store: Pick<Store, "checkoutSecrets" | "shareLookUps">) => {
    const onFailure = (error: unknown) => failures.push(error);
    const lookUps = await SharedLookUps.begin({ store, clock: () => opened.now, onFailure });
    const count = (key: string, environment: "trial" | "production" = "production") =>
      lookUps.count({ partnerId: 1, environment, key, limit: 3 });
    return { count, share: () => lookUps.write(), close: () => lookUps.close() };
  };
  return { opened, begin, failures, another: async () => begin(await opened.another()) };
}

/** Look-ups of strangers that all services count. */
export function testLookUps(makeDatabase: MakeDatabase): void {
  test("services on one database share one budget, and answer again what any of them counted", async () => {
    const { opened, begin, another } = await openServices(makeDatabase);
    const [one, two] = [await begin(opened.store), await another()];
    expect([one.count(CODE), one.count("b"), two.count("c")]).toEqual([0, 0, 0]);
    await one.share();
    await two.share();
    await one.share();
    for (const service of [one, two]) {
      expect([CODE, "b", "c"].map((key) => service.count(key))).toEqual([0, 0, 0]);
      expect([service.count("d"), service.count("e")]).toEqual([LOOK_UP_WINDOW_MS, LOOK_UP_WINDOW_MS]);
      expect(service.count("d", "trial")).toBe(0);
    }
  });

  test("a service that begins reads the whole hour, and the table has no code", async () => {
    const { opened, begin, another } = await openServices(makeDatabase);
    const one = await begin(opened.store);
    for (const key of [CODE, "b", "c"]) one.count(key);
    await one.share();
    const rows = await opened.store.engine.db.selectFrom("lookUp").selectAll().execute();
    expect(JSON.stringify(rows)).not.toContain(CODE);
    opened.now += LOOK_UP_WINDOW_MS - 1;
    const next = await another();
    expect([next.count(CODE), next.count("d")]).toEqual([0, 1]);
    opened.now += 1;
    expect(next.count("d")).toBe(0);
    await next.close();
    expect(await countRows(opened, "look_up")).toBe(1);
  });

  test("a service whose store is unavailable counts alone, reports it once, and shares later", async () => {
    const { opened, begin, another, failures } = await openServices(makeDatabase);
    let isAway = false;
    const store = {
      ...opened.store,
      shareLookUps: (...of: Parameters<Store["shareLookUps"]>) =>
        isAway ? Promise.reject(new Error("away")) : opened.store.shareLookUps(...of),
    };
    const [one, two] = [await begin(store), await another()];
    isAway = true;
    expect([one.count("a"), one.count("b"), one.count("c")]).toEqual([0, 0, 0]);
    await expect(one.share()).rejects.toThrow("away");
    await one.share();
    expect(one.count("d")).toBeGreaterThan(0);
    isAway = false;
    // Longer than the last counts are read again.
    opened.now += 10 * 60_000;
    await two.share();
    await one.share();
    await two.share();
    expect([two.count("a"), two.count("d")]).toEqual([0, LOOK_UP_WINDOW_MS]);
    // Counts that are over when the store is back do not count again.
    opened.now += LOOK_UP_WINDOW_MS;
    isAway = true;
    expect([one.count("e"), one.count("f"), one.count("g")]).toEqual([0, 0, 0]);
    opened.now += LOOK_UP_WINDOW_MS;
    await expect(one.share()).rejects.toThrow("away");
    isAway = false;
    await one.share();
    expect(one.count("h")).toBe(0);
    expect(failures).toEqual([]);
  });
}
