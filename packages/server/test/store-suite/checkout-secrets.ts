import { expect, test } from "vitest";
import { DEFAULT_BASE_PLANS } from "../../src/domain/catalogue.ts";
import { listEntries } from "../../src/office/audit/sql.ts";
import { listCheckoutSecrets, rotateCheckoutSecret } from "../../src/office/maintenance/operations.ts";
import { deskOf, refusal, run } from "../support/desk.ts";
import { seededRandom } from "../support/random.ts";
import { type MakeDatabase, type OpenedStore, openStore, withinASecond } from "./database.ts";
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
    const opened = await openStore(makeDatabase);
    const { store, now } = opened;
    const other = await opened.another();
    const [first] = await other.checkoutSecrets();
    const key = seededRandom(5)(32);
    opened.now += 1;
    const sealsFrom = new Date(now + 10_001).toISOString();
    expect(await rotate(opened)).toEqual({ id: 1, sealsFrom });
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
    for (let id = 1; id < 16; id += 1) expect(await rotate(opened)).toMatchObject({ id });
    expect(await refusal(rotate(opened))).toMatchObject({ code: "conflict" });
    opened.now += 86_400_000;
    expect(await rotate(opened)).toMatchObject({ id: 0 });
    const { items } = await run(deskOf({ ...opened, clock: () => opened.now }), listCheckoutSecrets, {});
    expect(items.slice(0, 2).map(({ id, state }) => [id, state])).toEqual([
      [0, "new"],
      [15, "sealing"],
    ]);
    expect(await opened.store.checkoutSecrets()).toHaveLength(16);
  });

  test("a checkout from before a rotation is good after it", async () => {
    const opened = await openProvider(makeDatabase);
    const before = opened.command(SITA_NET, "NET-1M");
    await rotate(opened);
    expectRecorded(await opened.store.settleTopUp(before));
  });
}

function rotate(opened: OpenedStore) {
  const ports = { store: opened.store, clock: () => opened.now, random: seededRandom(5) };
  return run(deskOf(ports), rotateCheckoutSecret, {});
}
