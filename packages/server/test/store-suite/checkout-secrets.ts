import { expect, test } from "vitest";
import { seededRandom } from "../support/random.ts";
import { type MakeDatabase, openStore } from "./database.ts";

export function testCheckoutSecrets(makeDatabase: MakeDatabase): void {
  test("a fresh database has one secret, of 32 random bytes", async () => {
    const { store } = await openStore(makeDatabase);
    const secrets = await store.checkoutSecrets();
    expect(secrets).toHaveLength(1);
    expect(secrets[0]?.id).toBe(0);
    expect(Buffer.from(secrets[0]?.key ?? [])).toEqual(Buffer.from(seededRandom(101)(32)));
  });

  test("stores that open a fresh database at the same time share one secret", async () => {
    const database = makeDatabase();
    const stores = await Promise.all(
      [1, 2, 3, 4].map((seed) => database.open({ clock: () => seed, random: seededRandom(seed) })),
    );
    const secrets = await Promise.all(stores.map((store) => store.checkoutSecrets()));
    for (const store of stores) await store.close();
    expect(secrets[0]).toHaveLength(1);
    for (const each of secrets) expect(each).toEqual(secrets[0]);
  });

  test("the secret survives reopening", async () => {
    const { store, another } = await openStore(makeDatabase);
    const before = await store.checkoutSecrets();
    await store.close();
    expect(await (await another()).checkoutSecrets()).toEqual(before);
  });

  test("two databases have two secrets", async () => {
    const { store } = await openStore(makeDatabase, { seed: 1 });
    const { store: other } = await openStore(makeDatabase, { seed: 2 });
    expect(await other.checkoutSecrets()).not.toEqual(await store.checkoutSecrets());
  });

  test("of several secrets, the newest comes first", async () => {
    const { store, database, now } = await openStore(makeDatabase);
    await database.tamper(
      `INSERT INTO checkout_secret (id, key, created_at) SELECT 3, key, ${now + 2} FROM checkout_secret`,
    );
    await database.tamper(
      `INSERT INTO checkout_secret (id, key, created_at) SELECT 1, key, ${now + 1} FROM checkout_secret WHERE id = 0`,
    );
    expect((await store.checkoutSecrets()).map(({ id }) => id)).toEqual([3, 1, 0]);
  });
}
