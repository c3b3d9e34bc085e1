import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { StoreUnavailable } from "../../../src/store/errors.ts";
import { withinASecond } from "../../store-suite/database.ts";
import { SITA_NET } from "../../store-suite/provider.ts";
import { by } from "../../support/by.ts";
import { partnersOf } from "../../support/partners.ts";
import { type FaultyProvider, openFaultyProvider, sleep, timed, untilWell } from "./faulty-provider.ts";

const HASH = createHash("sha256").update("a token").digest();

test.concurrent("a change shows also after the watching session was ended, which no request notices", async (context) => {
  const opened = await openFaultyProvider(context);
  const { store } = opened;
  await addToken(opened);
  const colleague = await opened.another();
  const other = await opened.otherSession();
  const failures: unknown[] = [];
  let isOver = false;
  const asking = (async () => {
    while (!isOver) {
      await store.ping().catch((error: unknown) => failures.push(error));
      await sleep(5);
    }
  })();
  for (let round = 0; round < 3; round += 1) {
    await other.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE '%max(seq)%' AND pid <> pg_backend_pid()",
    );
    await sleep(200);
  }
  // The second read puts it into the cache.
  for (let time = 0; time < 2; time += 1) expect((await store.findAccessToken(HASH))?.revokedAt).toBeUndefined();
  await partnersOf(colleague).revokeToken("T1", by(5));
  await withinASecond(async () => expect((await store.findAccessToken(HASH))?.revokedAt).toBe(5));
  isOver = true;
  await asking;
  expect(failures).toEqual([]);
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
  const held = performance.now();
  await database.tamper("UPDATE access_token SET revoked_at = 1");
  const asked: Promise<{ readonly at: number; readonly result: unknown }>[] = [];
  while (performance.now() < held + 2_000) {
    const at = performance.now() - held;
    asked.push(timed(() => store.findAccessToken(HASH)).then(({ result }) => ({ at, result })));
    await sleep(50);
  }
  const late = (await Promise.all(asked)).filter(({ at }) => at > 1_000);
  expect(late.length).toBeGreaterThan(5);
  for (const { result } of late) expect(result).toBeInstanceOf(StoreUnavailable);
  proxy.pass();
  await expect
    .poll(() => store.findAccessToken(HASH).catch(() => undefined), { timeout: 5_000 })
    .toMatchObject({ revokedAt: 1 });
});

test.concurrent("a catalogue that another server has under the same number is the one that is listed and sold", async ({
  expect,
  onTestFinished,
}) => {
  const opened = await openFaultyProvider({ onTestFinished });
  const { store, proxy, revision } = opened;
  const priceOf = async () =>
    (await store.currentCatalogue("production", opened.now))?.bouquets.find(({ code }) => code === "NET-1M")?.price ??
    0n;
  const former = await priceOf();
  await expect(store.settleTopUp(opened.command(SITA_NET, "NET-1M"))).resolves.toMatchObject({ kind: "recorded" });
  proxy.refuse();
  // A promoted standby may lack the last import: the change counter does not show it.
  await opened.database.tamper(`UPDATE bouquet SET price = price + 700 WHERE revision = ${revision}`);
  await expect.poll(() => store.ping().then(String, () => "away")).toBe("away");
  proxy.pass();
  await untilWell(() => store.ping());
  await expect.poll(priceOf, { timeout: 3_000 }).toBe(former + 700n);
  expect(await store.settleTopUp(opened.command(SITA_NET, "NET-1M"))).toMatchObject({ kind: "refused" });
  const amount = former + 700n;
  expect(await store.settleTopUp(opened.command(SITA_NET, "NET-1M", { amount }))).toMatchObject({ kind: "recorded" });
});

async function addToken({ store, partner, now }: Pick<FaultyProvider, "store" | "partner" | "now">): Promise<void> {
  const token = { id: "T1", partner, environment: "production", createdAt: now } as const;
  const open = { expiresAt: undefined, revokedAt: undefined, replacedBy: undefined };
  await partnersOf(store).addToken({ ...token, ...open }, HASH, by(now));
}
