import { expect, test } from "vitest";
import { StoreRefused } from "../../src/store/errors.ts";
import type { Store } from "../../src/store/store.ts";
import { by } from "../support/by.ts";
import { seededRandom } from "../support/random.ts";
import { type MakeDatabase, type OpenOptions, openStore, type TestDatabase } from "./database.ts";
import { BOUQUETS, expectRecorded, openProvider, restate, SITA, SITA_NET } from "./provider.ts";

const FILLINGS: readonly (readonly [string, (store: Store, now: number) => Promise<unknown>])[] = [
  ["catalogue", (store, now) => store.publishCatalogue("trial", BOUQUETS, by(now))],
  ["customer", (store, now) => restate(store, now, SITA)],
];

/** Of a database from which a row was lost: nothing may be made up in its place. */
export function testLostRows(makeDatabase: MakeDatabase): void {
  test.each(FILLINGS)(
    "a database with a %s whose time zone is lost is refused, and given no other",
    async (_, fill) => {
      const { store, database, now } = await openStore(makeDatabase, { timeZone: "Asia/Kathmandu" });
      await fill(store, now);
      await store.close();
      await database.tamper("DELETE FROM provider");
      await expectRefused(database, /^the row that says the database's time zone .* is gone .*restore a backup/);
      expect(await database.read("SELECT * FROM provider")).toEqual([]);
    },
  );

  test("a database whose time zone nobody knows is refused in plain words", async () => {
    const { store, database, now } = await openStore(makeDatabase);
    await restate(store, now, SITA);
    await store.close();
    await database.tamper("UPDATE provider SET time_zone = 'Mars/Olympus'");
    await expectRefused(database, /^the database's time zone is "Mars\/Olympus" .*restore a backup/);
  });

  test("a database that lacks a migration is refused by who only asks, and what brings it up to date is named", async () => {
    const { store, database } = await openStore(makeDatabase);
    await store.close();
    await database.tamper("DELETE FROM schema_migration");
    const refused = /^the database is of an older topupd: topupd migrate, or topupd serve at its start, brings it/;
    await expectRefused(database, refused, { mustExist: true });
    expect(await database.read("SELECT * FROM schema_migration")).toEqual([]);
  });

  test("a database with top-ups whose checkout secrets are lost is refused, and given no other", async () => {
    const opened = await openProvider(makeDatabase);
    const { store, database } = opened;
    expectRecorded(await store.settleTopUp(opened.command(SITA_NET, "NET-1M")));
    await store.close();
    await database.tamper("DELETE FROM checkout_secret");
    await expectRefused(database, /^the database has top-ups, but no checkout secret is left .*restore a backup/);
    expect(await database.read("SELECT * FROM checkout_secret")).toEqual([]);
  });

  test("a database without top-ups whose checkout secrets are lost is given a new one", async () => {
    const { store, another, database, now } = await openStore(makeDatabase);
    await restate(store, now, SITA);
    await store.close();
    await database.tamper("DELETE FROM checkout_secret");
    expect(await (await another()).checkoutSecrets()).toHaveLength(1);
  });
}

async function expectRefused(
  database: TestDatabase,
  message: RegExp,
  options: Partial<OpenOptions> = {},
): Promise<void> {
  const opened = database.open({ clock: () => 0, random: seededRandom(9), ...options });
  const error = await opened.catch((refusal: unknown) => refusal);
  expect(error).toBeInstanceOf(StoreRefused);
  expect((error as StoreRefused).message).toMatch(message);
}
