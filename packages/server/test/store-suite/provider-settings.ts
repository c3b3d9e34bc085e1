import { expect, test } from "vitest";
import { SettingsRefused, StoreRefused } from "../../src/store/errors.ts";
import { by } from "../support/by.ts";
import { publish } from "../support/catalogue.ts";
import { partnersOf } from "../support/partners.ts";
import { type MakeDatabase, openStore } from "./database.ts";
import { BOUQUETS, importRows, openProvider, SITA } from "./provider.ts";

const KATHMANDU = { timeZone: "Asia/Kathmandu", currencyExponent: 0, defaultCountry: "NP" };

export function testProviderSettings(makeDatabase: MakeDatabase): void {
  test("the defaults are UTC, two decimals and no country", async () => {
    const { store } = await openStore(makeDatabase);
    expect(store.provider).toMatchObject({ zone: { name: "UTC" }, currencyExponent: 2 });
    expect(store.provider.defaultCountry).toBeUndefined();
  });

  test("settings stay if a later process requests none", async () => {
    const { another } = await openStore(makeDatabase, KATHMANDU);
    const later = await another({ timeZone: undefined, currencyExponent: undefined, defaultCountry: undefined });
    expect(later.provider).toMatchObject({
      zone: { name: "Asia/Kathmandu" },
      currencyExponent: 0,
      defaultCountry: "NP",
    });
    expect(later.provider.normaliseMobile?.("9841234567")).toBe("+9779841234567");
  });

  test.each([
    ["time zone", { timeZone: "Asia/Kathmandu" }, "--time-zone (TOPUPD_TIME_ZONE) is Asia/Kathmandu, but"],
    ["currency", { currencyExponent: 0 }, "--currency-exponent (TOPUPD_CURRENCY_EXPONENT) is 0, but"],
    ["country", { defaultCountry: "NP" }, "--default-country (TOPUPD_DEFAULT_COUNTRY) is NP, but"],
  ])("another %s is taken for a database that was not filled, and refused for one that was", async (_, wish, said) => {
    const { store, now, another } = await openStore(makeDatabase);
    await partnersOf(store).add("wallet", by(now));
    expect((await another(wish)).provider).toMatchObject("timeZone" in wish ? { zone: { name: wish.timeZone } } : wish);
    const filled = await openProvider(makeDatabase);
    await expect(filled.another(wish)).rejects.toThrow(SettingsRefused);
    await expect(filled.another(wish)).rejects.toThrow(said);
  });

  test("a process that needs an existing database does not change its settings", async () => {
    const { another } = await openStore(makeDatabase);
    await expect(another({ ...KATHMANDU, mustExist: true })).rejects.toThrow(SettingsRefused);
    expect((await another({ mustExist: true })).provider.zone.name).toBe("UTC");
  });

  test("a database that must be new is refused once anything was added", async () => {
    const { store, now, another } = await openStore(makeDatabase);
    await (await another({ mustBeNew: true })).close();
    await partnersOf(store).add("wallet", by(now));
    await expect(another({ mustBeNew: true })).rejects.toThrow(StoreRefused);
  });

  test("a process that knows former settings neither fills the database nor sells from it", async () => {
    const { store, now, another } = await openStore(makeDatabase);
    const other = await another({ timeZone: "Asia/Kathmandu" });
    const restart = /another process has changed time zone, currency exponent or country: restart this one/;
    await expect(publish(store, "production", BOUQUETS, by(now))).rejects.toThrow(restart);
    await expect(importRows(store, now, SITA)).rejects.toThrow(restart);
    await publish(other, "production", BOUQUETS, by(now));
    await expect(store.currentCatalogue("production", now)).rejects.toThrow(restart);
    expect((await other.currentCatalogue("production", now))?.bouquets).toEqual(BOUQUETS);
  });
}
