import { expect, test } from "vitest";
import { DEFAULT_BASE_PLANS } from "../../src/domain/catalogue.ts";
import { listEntries } from "../../src/office/audit/sql.ts";
import { by } from "../support/by.ts";
import { seededRandom } from "../support/random.ts";
import { type MakeDatabase, openStore, withinASecond } from "./database.ts";
import { expectRecorded, openProvider, SITA_NET } from "./provider.ts";

export function testCheckoutSecrets(makeDatabase: MakeDatabase): void {
  test("a fresh database has one secret, of 32 random bytes, which survives reopening", async () => {
    const { store, another } = await openStore(makeDatabase);
    const secrets = await store.checkoutSecrets();
    expect(secrets.map(({ id }) => id)).toEqual([0]);
    expect(Buffer.from(secrets[0]?.key ?? [])).toEqual(Buffer.from(seededRandom(101)(32)));
    await store.close();
    expect(await (await another()).checkoutSecrets()).toEqual(secrets);
  });

  test("stores that open a fresh database at the same time share one secret", async () => {
    const database = makeDatabase();
    const stores = await Promise.all(
      [1, 2, 3, 4].map((seed) =>
        database.open({ clock: () => seed, random: seededRandom(seed), basePlans: DEFAULT_BASE_PLANS }),
      ),
    );
    const secrets = await Promise.all(stores.map((store) => store.checkoutSecrets()));
    for (const store of stores) await store.close();
    expect(secrets[0]).toHaveLength(1);
    for (const each of secrets) expect(each).toEqual(secrets[0]);
  });

  test("a rotation adds a secret, the newest first, and shows within a second", async () => {
    const { store, another, now } = await openStore(makeDatabase);
    const other = await another();
    const [first] = await other.checkoutSecrets();
    const key = seededRandom(5)(32);
    const rotated = await store.secrets.rotate(key, by(now + 1));
    expect(rotated).toMatchObject({ added: { id: 1, createdAt: now + 1 } });
    const secrets = [{ id: 1, key: Buffer.from(key), createdAt: now + 1 }, first];
    await withinASecond(async () => {
      const seen = (await other.checkoutSecrets()).map((each) => ({ ...each, key: Buffer.from(each.key) }));
      expect(seen).toEqual(secrets.map((each) => ({ ...each, key: Buffer.from(each?.key ?? []) })));
    });
    const [entry] = await listEntries(store.engine.db, {}, 1);
    expect(entry).toMatchObject({ action: "secret.rotate", subject: "1" });
    expect(JSON.stringify(entry)).not.toContain(Buffer.from(key).toString("hex"));
  });

  test("a seventeenth takes the place of the oldest, and not before that is out of use", async () => {
    const opened = await openStore(makeDatabase);
    const rotate = () => opened.store.secrets.rotate(seededRandom(opened.now)(32), by(opened.now));
    for (let count = 1; count < 16; count += 1) expect(await rotate()).toHaveProperty("added");
    expect(await rotate()).toBe("too_soon");
    opened.now += 86_400_000;
    expect(await rotate()).toMatchObject({ added: { id: 0 } });
    expect(await opened.store.checkoutSecrets()).toHaveLength(16);
  });

  test("a checkout from before a rotation is good after it", async () => {
    const { store, command, now } = await openProvider(makeDatabase);
    const before = command(SITA_NET, "NET-1M");
    await store.secrets.rotate(seededRandom(5)(32), by(now));
    expectRecorded(await store.settleTopUp(before));
  });
}
