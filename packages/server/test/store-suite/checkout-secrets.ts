import { expect, test } from "vitest";
import { by } from "../support/by.ts";
import { seededRandom } from "../support/random.ts";
import { findWrong, type MakeDatabase, openStore, withinASecond } from "./database.ts";
import { expectRecorded, openProvider, SITA_NET } from "./provider.ts";

const YEAR = 365 * 86_400_000;

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

  test("a rotation adds a secret, the newest first, and leaves the others", async () => {
    const { store, now } = await openStore(makeDatabase);
    const [first] = await store.checkoutSecrets();
    const key = seededRandom(5)(32);
    const added = await store.rotateCheckoutSecret(key, by(now + 1));
    expect(added).toMatchObject({ added: { id: 1, createdAt: now + 1 } });
    const secrets = await store.checkoutSecrets();
    expect(secrets.map(({ id, createdAt }) => [id, createdAt])).toEqual([
      [1, now + 1],
      [0, now],
    ]);
    expect(secrets.map((secret) => Buffer.from(secret.key))).toEqual(
      [key, first?.key].map((one) => Buffer.from(one ?? [])),
    );
  });

  test("a rotation shows in another open store within a second", async () => {
    const { store, another, now } = await openStore(makeDatabase);
    const other = await another();
    expect(await other.checkoutSecrets()).toHaveLength(1);
    await store.rotateCheckoutSecret(seededRandom(5)(32), by(now + 1));
    await withinASecond(async () => expect(await other.checkoutSecrets()).toEqual(await store.checkoutSecrets()));
    expect(await other.checkoutSecrets()).toHaveLength(2);
  });

  test("a secret in use is never forgotten for a new one", async () => {
    const { store, now } = await openStore(makeDatabase);
    const rotate = (at: number) => store.rotateCheckoutSecret(seededRandom(at % 97)(32), by(at));
    for (let step = 1; step <= 15; step += 1) expect(await rotate(now + step)).toMatchObject({ added: { id: step } });
    expect(await rotate(now + 16)).toBe("too_soon");
    expect(await store.checkoutSecrets()).toHaveLength(16);
    expect(await rotate(now + 3_600_000)).toMatchObject({ added: { id: 0 } });
    const secrets = await store.checkoutSecrets();
    expect(secrets.map(({ id }) => id)).toEqual([0, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
  });

  test("two stores that rotate at once add two secrets", async () => {
    const opened = await openStore(makeDatabase);
    const other = await opened.another();
    const added = await Promise.all(
      [opened.store, other].map((store, index) =>
        store.rotateCheckoutSecret(seededRandom(index)(32), by(opened.now + 1)),
      ),
    );
    expect(new Set(added.map((one) => (typeof one === "object" && "added" in one ? one.added.id : one)))).toEqual(
      new Set([1, 2]),
    );
  });

  test("a secret that was made ahead of time is replaced at once where the clock is said to be right", async () => {
    const opened = await openProvider(makeDatabase);
    const { store, now } = opened;
    const [first] = await store.checkoutSecrets();
    const rotate = (at: number, isClockRight = false) =>
      store.rotateCheckoutSecret(seededRandom(at % 97)(32), by(at), isClockRight);
    await rotate(now + YEAR);
    const before = await store.checkoutSecrets();
    expect(await rotate(now + 60_000)).toEqual({ kind: "secret_ahead", until: now + YEAR });
    expect(await store.checkoutSecrets()).toEqual(before);
    expect(await rotate(now + 60_000, true)).toMatchObject({ added: { id: 2, createdAt: now + 60_002 } });
    expect(await store.checkoutSecrets()).toMatchObject([
      { id: 2, createdAt: now + 60_002 },
      { id: 1, createdAt: now + 60_001, key: before[0]?.key },
      { id: 0, createdAt: now, key: first?.key },
    ]);
    const [entry] = await store.auditTrail.list({ action: "secret.rotate" }, 1);
    expect(JSON.parse(entry?.after as string)).toMatchObject({ redated: { 1: new Date(now + 60_001).toISOString() } });
    expect(await findWrong(store)).toEqual([]);
  });

  test("no secret is replaced so while top-ups are on record of a time to come", async () => {
    const opened = await openProvider(makeDatabase);
    const { store, now } = opened;
    await store.rotateCheckoutSecret(seededRandom(1)(32), by(now + YEAR));
    opened.now += YEAR;
    expectRecorded(await store.settleTopUp(opened.command(SITA_NET, "NET-1M")));
    opened.now = now;
    const before = await store.checkoutSecrets();
    expect(await store.rotateCheckoutSecret(seededRandom(2)(32), by(now), true)).toEqual({
      kind: "top_ups_ahead",
      until: now + YEAR,
    });
    expect(await store.checkoutSecrets()).toEqual(before);
  });
}
