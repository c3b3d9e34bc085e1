import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { SettingsRefused, StoreUnavailable } from "../../src/store/errors.ts";
import { openSqliteStore } from "../../src/store/sqlite/open.ts";
import type { Store } from "../../src/store/store.ts";
import { BOUQUETS, SITA, statedCustomer } from "../store-suite/provider.ts";
import { by } from "../support/by.ts";
import { seededRandom } from "../support/random.ts";
import { START, temporaryFolder } from "../support/service.ts";

interface Wishes {
  readonly timeZone?: string;
  readonly currencyExponent?: number;
}

const KATHMANDU = "Asia/Kathmandu";

/** Opens the database, does something to it, and tells what it was opened with. */
async function visit(path: string, wishes: Wishes = {}, work: (store: Store) => Promise<unknown> = async () => {}) {
  const none = { timeZone: undefined, currencyExponent: undefined };
  const store = openSqliteStore({ path, ...none, ...wishes, clock: () => START, random: seededRandom(1) });
  await work(store);
  await store.close();
  return { timeZone: store.provider.calendar.timeZone, currencyExponent: store.provider.currencyExponent };
}

const newPath = () => join(temporaryFolder(), "topupd.db");

const FILLINGS: readonly (readonly [string, (store: Store) => Promise<unknown>])[] = [
  ["a catalogue", (store) => store.publishCatalogue("trial", BOUQUETS, by(START))],
  ["a customer", (store) => store.importCustomers("trial", [statedCustomer(SITA)], by(START), "unsaid")],
];

describe("time zone and currency exponent", () => {
  test("are UTC and 2 where nothing was said", async () => {
    expect(await visit(newPath())).toEqual({ timeZone: "UTC", currencyExponent: 2 });
  });

  test("stay as they were said first, where nothing is said later", async () => {
    const path = newPath();
    await visit(path, { timeZone: KATHMANDU, currencyExponent: 0 });
    expect(await visit(path)).toEqual({ timeZone: KATHMANDU, currencyExponent: 0 });
  });

  test("can be changed while the database holds neither customer nor catalogue", async () => {
    const path = newPath();
    await visit(path, {}, (store) => store.addPartner("wallet", by(START)));
    const changed = { timeZone: KATHMANDU, currencyExponent: 3 };
    expect(await visit(path, changed)).toEqual(changed);
    expect(await visit(path)).toEqual(changed);
  });

  test("that were changed by another process keep this one from pricing by its own", async () => {
    const path = newPath();
    await visit(path, {}, async (early) => {
      await visit(path, { currencyExponent: 3 }, (store) => store.publishCatalogue("trial", BOUQUETS, by(START)));
      await expect(early.ping()).rejects.toThrow("restart this one");
      await expect(early.currentCatalogue("trial")).rejects.toThrow(StoreUnavailable);
      await expect(early.publishCatalogue("trial", BOUQUETS, by(START))).rejects.toThrow("restart this one");
      await expect(early.previewCustomers("trial", [statedCustomer(SITA)], START, "unsaid")).rejects.toThrow(
        StoreUnavailable,
      );
      await expect(early.importCustomers("trial", [statedCustomer(SITA)], by(START), "unsaid")).rejects.toThrow(
        StoreUnavailable,
      );
    });
  });

  test("can be changed one at a time", async () => {
    const path = newPath();
    await visit(path, { timeZone: KATHMANDU });
    await visit(path, { currencyExponent: 0 });
    expect(await visit(path)).toEqual({ timeZone: KATHMANDU, currencyExponent: 0 });
  });

  test.each(FILLINGS)("cannot be changed any more once there is %s", async (_, fill) => {
    const path = newPath();
    await visit(path, { timeZone: KATHMANDU, currencyExponent: 2 }, fill);
    await expect(visit(path, { timeZone: "UTC" })).rejects.toThrow(
      new SettingsRefused(`--time-zone (TOPUPD_TIME_ZONE) is UTC, but the database was filled with ${KATHMANDU}`),
    );
    await expect(visit(path, { currencyExponent: 0 })).rejects.toThrow(
      new SettingsRefused("--currency-exponent (TOPUPD_CURRENCY_EXPONENT) is 0, but the database was filled with 2"),
    );
    expect(await visit(path)).toEqual({ timeZone: KATHMANDU, currencyExponent: 2 });
  });

  test.each(FILLINGS)("may be said again as they are once there is %s", async (_, fill) => {
    const path = newPath();
    const settings = { timeZone: KATHMANDU, currencyExponent: 0 };
    await visit(path, settings, fill);
    expect(await visit(path, settings)).toEqual(settings);
  });
});
