import { expect, test } from "vitest";
import { by } from "../support/by.ts";
import { type MakeDatabase, openStore, withinASecond } from "./database.ts";
import { BOUQUETS, bouquet } from "./provider.ts";

const CHEAP = bouquet("tv", "TV-1M", "Family TV (MONTHLY)", "450");
const DEAR = bouquet("tv", "TV-1M", "Family TV Plus (MONTHLY)", "500.50");

export function testCatalogues(makeDatabase: MakeDatabase): void {
  test("there is no catalogue before the first is published", async () => {
    const { store } = await openStore(makeDatabase);
    expect(await store.currentCatalogue("production")).toBeUndefined();
    expect(await store.knownBouquets("production")).toEqual([]);
  });

  test("a catalogue is read back as it was published, in its order", async () => {
    const { store, another, now } = await openStore(makeDatabase);
    const bouquets = [...BOUQUETS].reverse();
    const published = await store.publishCatalogue("production", bouquets, by(now));
    expect(published.bouquets).toEqual(bouquets);
    expect(await store.currentCatalogue("production")).toEqual(published);
    expect(await (await another()).currentCatalogue("production")).toEqual(published);
  });

  test("segments, plans, periods and amounts of any size are kept", async () => {
    const { store, another, now } = await openStore(makeDatabase);
    const bouquets = [
      bouquet("tv", "A", "Sports (HALF YEARLY)", "0.01", { segments: ["hd", "4k"], plan: "sports" }),
      bouquet("tv", "B", "Kids [AddOn] (45 DAYS)", "9999999999999.99"),
      bouquet("iptv", "A", "खेल “4K” (2 MONTHS)", "2847.15"),
    ];
    await store.publishCatalogue("production", bouquets, by(now));
    expect((await (await another()).currentCatalogue("production"))?.bouquets).toEqual(bouquets);
  });

  test("the newest revision wins, at once, and in every open store within a second", async () => {
    const { store, another, now } = await openStore(makeDatabase);
    const other = await another();
    const first = await store.publishCatalogue("production", [CHEAP], by(now));
    expect(await other.currentCatalogue("production")).toEqual(first);
    const second = await store.publishCatalogue("production", [DEAR], by(now));
    expect(second.revision).toBeGreaterThan(first.revision);
    expect(await store.currentCatalogue("production")).toEqual(second);
    await withinASecond(async () => expect(await other.currentCatalogue("production")).toEqual(second));
  });

  test("the same catalogue published again is a revision of its own", async () => {
    const { store, now } = await openStore(makeDatabase);
    const first = await store.publishCatalogue("production", BOUQUETS, by(now));
    const second = await store.publishCatalogue("production", BOUQUETS, by(now));
    expect(second.revision).toBeGreaterThan(first.revision);
  });

  test("stores that publish at once get revisions of their own, each of them whole", async () => {
    const { store, another, now } = await openStore(makeDatabase);
    const other = await another();
    const published = await Promise.all(
      ["1", "2", "3", "4"].map((price, index) =>
        (index % 2 === 0 ? store : other).publishCatalogue(
          "production",
          [bouquet("tv", "A", "A (DAILY)", price)],
          by(now),
        ),
      ),
    );
    expect(new Set(published.map(({ revision }) => revision)).size).toBe(4);
    const newest = published.reduce((a, b) => (a.revision > b.revision ? a : b));
    await withinASecond(async () => expect(await store.currentCatalogue("production")).toEqual(newest));
  });

  test("trial and production have catalogues of their own", async () => {
    const { store, now } = await openStore(makeDatabase);
    const trial = await store.publishCatalogue("trial", [CHEAP], by(now));
    expect(await store.currentCatalogue("production")).toBeUndefined();
    expect(await store.knownBouquets("production")).toEqual([]);
    const production = await store.publishCatalogue("production", [DEAR], by(now));
    expect(await store.currentCatalogue("trial")).toEqual(trial);
    expect(await store.currentCatalogue("production")).toEqual(production);
    expect(await store.knownBouquets("trial")).toEqual([CHEAP]);
  });

  test("a revision that would hold a code twice is not published at all", async () => {
    const { store, now } = await openStore(makeDatabase);
    const first = await store.publishCatalogue("production", [CHEAP], by(now));
    await expect(store.publishCatalogue("production", [DEAR, CHEAP], by(now))).rejects.toThrow();
    expect(await store.currentCatalogue("production")).toEqual(first);
    expect(await store.knownBouquets("production")).toEqual([CHEAP]);
  });

  test("every code that ever was is known, by its newest definition", async () => {
    const { store, now } = await openStore(makeDatabase);
    const retired = bouquet("tv", "OLD-1M", "Classic TV (MONTHLY)", "300");
    const elsewhere = bouquet("internet", "TV-1M", "Fiber for TV (MONTHLY)", "900");
    await store.publishCatalogue("production", [CHEAP, retired, elsewhere], by(now));
    await store.publishCatalogue("production", [DEAR], by(now));
    const known = await store.knownBouquets("production");
    expect(known).toHaveLength(3);
    expect(known).toEqual(expect.arrayContaining([DEAR, retired, elsewhere]));
  });

  test("a code's newest definition is of its environment, however many revisions the other has", async () => {
    const { store, now } = await openStore(makeDatabase);
    const common = (name: string) => bouquet("tv", "B-1M", `${name} (MONTHLY)`, "1");
    const [trialOnly, liveOnly] = [bouquet("tv", "A-1M", "A (DAILY)", "1"), bouquet("iptv", "C-1M", "C (DAILY)", "1")];
    await store.publishCatalogue("production", [liveOnly, common("Live")], by(now));
    for (const name of ["One", "Two", "Three"])
      await store.publishCatalogue("trial", [common(name), trialOnly], by(now));
    expect(await store.knownBouquets("production")).toEqual([liveOnly, common("Live")]);
    expect(await store.knownBouquets("trial")).toEqual([trialOnly, common("Three")]);
  });

  test("more revisions than a store holds in memory are all read right", async () => {
    const { store, now } = await openStore(makeDatabase);
    for (let price = 1; price <= 20; price += 1) {
      const each = bouquet("tv", "TV-1M", "Family TV (MONTHLY)", String(price));
      await store.publishCatalogue("production", [each], by(now));
      expect((await store.currentCatalogue("production"))?.bouquets).toEqual([each]);
    }
  });
}
