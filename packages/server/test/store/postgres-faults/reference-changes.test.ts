import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { StoreUnavailable } from "../../../src/store/errors.ts";
import { withinASecond } from "../../store-suite/database.ts";
import { SITA_NET } from "../../store-suite/provider.ts";
import { by } from "../../support/by.ts";
import { type FaultyProvider, openFaultyProvider, sleep, timed, untilWell } from "./faulty-provider.ts";

const HASH = createHash("sha256").update("a token").digest();

describe.concurrent("a change by hand is seen within a second", () => {
  test.for([
    { how: "by word of PostgreSQL", dropsNotifications: false },
    { how: "even where its word is lost", dropsNotifications: true },
  ])("$how", async ({ dropsNotifications }, context) => {
    const opened = await openFaultyProvider(context);
    await addToken(opened);
    opened.proxy.dropsNotifications = dropsNotifications;
    await expectChangesToShow(opened);
  });

  test("also after the watching session was ended, which no request notices", async (context) => {
    const opened = await openFaultyProvider(context);
    await addToken(opened);
    const other = await opened.otherSession();
    const failures: unknown[] = [];
    let isOver = false;
    const asking = (async () => {
      while (!isOver) {
        await opened.store.ping().catch((error: unknown) => failures.push(error));
        await sleep(5);
      }
    })();
    for (let round = 0; round < 3; round += 1) {
      const { rowCount } = await other.query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE '%FROM reference_version%' AND pid <> pg_backend_pid()",
      );
      expect(rowCount).toBe(1);
      await sleep(200);
    }
    await expectChangesToShow(opened);
    isOver = true;
    await asking;
    expect(failures).toEqual([]);
  });
});

test.concurrent("nothing older than a second is served while PostgreSQL cannot be reached", async ({
  expect,
  onTestFinished,
}) => {
  const opened = await openFaultyProvider({ onTestFinished });
  const { store, proxy, database } = opened;
  await addToken(opened);
  expect(await store.findAccessToken(HASH)).toMatchObject({ revokedAt: undefined });
  proxy.hold();
  await database.tamper("SET session_replication_role = origin; UPDATE access_token SET revoked_at = 1");
  const revoked = performance.now();
  const asked: Promise<{ readonly at: number; readonly result: unknown }>[] = [];
  while (performance.now() < revoked + 2_000) {
    const at = performance.now() - revoked;
    asked.push(timed(() => store.findAccessToken(HASH)).then(({ result }) => ({ at, result })));
    await sleep(50);
  }
  const answers = await Promise.all(asked);
  const late = answers.filter(({ at }) => at > 1_000);
  expect(late.length).toBeGreaterThan(5);
  for (const { result } of late) expect(result).toBeInstanceOf(StoreUnavailable);
  proxy.pass();
  await expect
    .poll(() => store.findAccessToken(HASH).catch(() => undefined), { timeout: 5_000 })
    .toMatchObject({ revokedAt: 1 });
});

async function addToken({ store, partner, now }: Pick<FaultyProvider, "store" | "partner" | "now">): Promise<void> {
  const token = { id: "T1", partner, environment: "production", createdAt: now } as const;
  await store.addAccessToken(
    { ...token, expiresAt: undefined, revokedAt: undefined, replacedBy: undefined },
    HASH,
    by(1),
  );
}

async function expectChangesToShow({ store, partner, revision, otherSession }: FaultyProvider): Promise<void> {
  const changes = [
    {
      sql: "UPDATE access_token SET revoked_at = 1",
      see: async () => (await store.findAccessToken(HASH))?.revokedAt,
      before: undefined,
      after: 1,
    },
    {
      sql: `UPDATE partner SET status = 'suspended' WHERE id = ${partner.id}`,
      see: async () => (await store.findAccessToken(HASH))?.partner.status,
      before: "active",
      after: "suspended",
    },
    {
      sql: `WITH new AS (INSERT INTO catalogue_revision VALUES (${revision + 1}, 'production', 1))
        INSERT INTO bouquet SELECT ${revision + 1}, position, service, code, name, price, segments, plan, add_on, months,
          days FROM bouquet WHERE revision = ${revision}`,
      see: async () => (await store.currentCatalogue("production"))?.revision,
      before: revision,
      after: revision + 1,
    },
    {
      sql: "INSERT INTO checkout_secret SELECT 9, key, created_at + 1 FROM checkout_secret",
      see: async () => (await store.checkoutSecrets())[0]?.id,
      before: 0,
      after: 9,
    },
  ];
  const other = await otherSession();
  for (const { sql, see, before, after } of changes) {
    // Twice, so that it is remembered.
    for (let time = 0; time < 2; time += 1) expect(await see()).toBe(before);
    await other.query(sql);
    await withinASecond(async () => expect(await see()).toBe(after));
  }
}

test.concurrent("a catalogue that another server has under the same number is the one that is listed and sold", async ({
  expect,
  onTestFinished,
}) => {
  const opened = await openFaultyProvider({ onTestFinished });
  const { store, proxy, revision } = opened;
  const priceOf = async () =>
    (await store.currentCatalogue("production"))?.bouquets.find(({ code }) => code === "NET-1M")?.price ?? 0n;
  const former = await priceOf();
  await expect(store.settleTopUp(opened.command(SITA_NET, "NET-1M"))).resolves.toMatchObject({ kind: "recorded" });
  proxy.refuse();
  // As a standby does that had not yet what was imported last, and was promoted: nothing is counted as a change.
  await opened.database.tamper(`UPDATE bouquet SET price = price + 700 WHERE revision = ${revision}`);
  await expect.poll(() => store.ping().then(String, () => "away")).toBe("away");
  proxy.pass();
  await untilWell(() => store.ping());
  await expect.poll(priceOf, { timeout: 3_000 }).toBe(former + 700n);
  expect(await store.settleTopUp(opened.command(SITA_NET, "NET-1M"))).toMatchObject({ kind: "refused" });
  const amount = former + 700n;
  expect(await store.settleTopUp(opened.command(SITA_NET, "NET-1M", { amount }))).toMatchObject({ kind: "recorded" });
});
