import { expect, test } from "vitest";
import { by } from "../support/by.ts";
import { type MakeDatabase, openStore, withinASecond } from "./database.ts";
import { BOUQUETS, bouquet } from "./provider.ts";

const FREE_TEXT = bouquet("tv", "ODD", "Ćevap „TV“ (7 DAYS)", "0.01", { segments: ["a,b", "ü"], plan: "Odd" });

export function testCatalogues(makeDatabase: MakeDatabase): void {
  test("there is no catalogue before the first", async () => {
    const { store } = await openStore(makeDatabase);
    expect(await store.currentCatalogue("production")).toBeUndefined();
    expect(await store.catalogues.known("production")).toEqual([]);
  });

  test("a revision is read as it was published, in its order", async () => {
    const { store, another, now } = await openStore(makeDatabase);
    const other = await another();
    const bouquets = [FREE_TEXT, ...BOUQUETS.toReversed()];
    const published = await store.catalogues.publish("production", bouquets, by(now));
    expect(published).toEqual({ revision: expect.any(Number), bouquets });
    expect(await store.currentCatalogue("production")).toEqual(published);
    await withinASecond(async () => expect(await other.currentCatalogue("production")).toEqual(published));
  });

  test("each publication makes a new revision, of its own environment", async () => {
    const { store, now } = await openStore(makeDatabase);
    const first = await store.catalogues.publish("production", BOUQUETS, by(now));
    const trial = await store.catalogues.publish("trial", [FREE_TEXT], by(now));
    const second = await store.catalogues.publish("production", BOUQUETS.slice(0, 2), by(now));
    expect(new Set([first, trial, second].map(({ revision }) => revision)).size).toBe(3);
    expect(await store.currentCatalogue("production")).toEqual(second);
    expect(await store.currentCatalogue("trial")).toEqual(trial);
  });

  test("known is the newest definition of every code that any revision had", async () => {
    const { store, now } = await openStore(makeDatabase);
    await store.catalogues.publish("trial", [FREE_TEXT], by(now));
    await store.catalogues.publish("production", BOUQUETS, by(now));
    const dearer = bouquet("tv", "TV-1M", "Family TV (MONTHLY)", "500");
    await store.catalogues.publish("production", [dearer], by(now));
    const known = await store.catalogues.known("production");
    expect(known).toHaveLength(BOUQUETS.length);
    expect(known.find(({ code }) => code === "TV-1M")).toEqual(dearer);
    expect(known.find(({ code }) => code === "TV-3M")).toEqual(BOUQUETS[1]);
  });

  test("what is retired is known and not sold, and makes a revision only where it is not known yet", async () => {
    const { store, now } = await openStore(makeDatabase);
    const [sold, ...retired] = BOUQUETS;
    if (sold === undefined) throw new Error("there are some");
    const first = await store.catalogues.publish("production", [sold], by(now), retired);
    expect(await store.currentCatalogue("production")).toEqual({ ...first, bouquets: [sold] });
    expect(await store.catalogues.known("production")).toHaveLength(BOUQUETS.length);
    const second = await store.catalogues.publish("production", [sold], by(now), retired);
    expect(second.revision).toBe(first.revision + 1);
  });

  test("a publication leaves an entry in the audit trail", async () => {
    const { store, now } = await openStore(makeDatabase);
    const first = await store.catalogues.publish("production", BOUQUETS, by(now));
    const { revision } = await store.catalogues.publish("production", BOUQUETS.slice(1), by(now));
    const [entry] = await store.auditTrail.list({}, 1);
    expect(entry).toMatchObject({ action: "catalogue.import", subject: "production" });
    expect(JSON.parse(entry?.before ?? "")).toEqual({ revision: first.revision });
    expect(JSON.parse(entry?.after ?? "")).toEqual({ revision, bouquets: 6 });
  });
}
