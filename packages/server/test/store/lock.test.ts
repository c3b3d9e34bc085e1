import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { DEFAULT_BASE_PLANS } from "../../src/domain/catalogue.ts";
import { CHECKOUT_VALID_MS } from "../../src/domain/checkout.ts";
import { StoreUnavailable } from "../../src/store/errors.ts";
import { countRows, findWrong } from "../store-suite/database.ts";
import { expectRecorded, openProvider, SITA_NET, SITA_TV } from "../store-suite/provider.ts";
import { by } from "../support/by.ts";
import { partnersOf } from "../support/partners.ts";
import { seededRandom } from "../support/random.ts";
import { makeSqliteDatabase, rawConnection } from "../support/sqlite-database.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** A provider while another process holds the write lock of the database. */
async function openLocked() {
  const path = join(temporaryFolder(), "topupd.db");
  const opened = await openProvider(() => makeSqliteDatabase(path));
  const other = rawConnection(path);
  other.exec("BEGIN IMMEDIATE");
  return { opened, other };
}

describe("while another process writes", () => {
  test("a write waits, and is done once the other has let go", async () => {
    const { opened, other } = await openLocked();
    const command = opened.command(SITA_NET, "NET-1M");
    const settled = opened.store.settleTopUp(command);
    const added = partnersOf(opened.store).add("bank", by(opened.now));
    await sleep(100);
    expect(await opened.store.findTransaction(command.checkoutId)).toBeUndefined();
    other.exec("ROLLBACK");
    expectRecorded(await settled);
    expect(await added).toMatchObject({ name: "bank" });
  });

  test("a write that is given up after five seconds has written nothing, and delayed nothing else", async () => {
    const { opened, other } = await openLocked();
    const { store } = opened;
    const command = opened.command(SITA_NET, "NET-1M");
    let waiting = true;
    const writes = Promise.allSettled([
      store.settleTopUp(command),
      store.settleTopUp(opened.command(SITA_TV, "TV-1M")),
      partnersOf(store).add("bank", by(opened.now)),
      store.concludeCheckout(command.checkoutId),
    ]).finally(() => {
      waiting = false;
    });

    let answered = 0;
    while (waiting && answered < 1000) {
      await store.ping();
      expect((await store.findConnection(SITA_NET))?.profile.cuid).toBe("2000001");
      answered += 1;
      await sleep(10);
    }
    for (const write of await writes) {
      expect(write.status === "rejected" && write.reason).toBeInstanceOf(StoreUnavailable);
      expect(write).toMatchObject({ reason: { message: "another process holds the database" } });
    }
    // A blocked event loop would have allowed only a few reads.
    expect(answered).toBeGreaterThan(20);

    other.exec("ROLLBACK");
    expect(await countRows(opened, "top_up")).toBe(0);
    expect(await partnersOf(store).find("bank")).toBeUndefined();
    expectRecorded(await store.settleTopUp(command));
    expect(await findWrong(store)).toEqual([]);
  });

  test("a checkout that expires while its top-up waits for the lock has expired", async () => {
    const { opened, other } = await openLocked();
    const settled = opened.store.settleTopUp(opened.command(SITA_NET, "NET-1M"));
    await sleep(50);
    opened.now += CHECKOUT_VALID_MS + 1;
    other.exec("ROLLBACK");
    expect(await settled).toEqual({
      kind: "refused",
      refusal: "checkout_expired",
      retired: { retiredAt: expect.any(Number) },
    });
  });

  test("a conclusive answer waits for what the other is writing", async () => {
    const { opened, other } = await openLocked();
    const { checkoutId } = opened.command(SITA_NET, "NET-1M");
    other.exec(
      `INSERT INTO top_up VALUES ('${checkoutId}', 'T', 1, 'production', '2000001', 'internet', 'sita',
         'NET-1M', 113000, 0, 1, '2026-11-20 09:00:00', 'success', NULL, NULL)`,
    );
    const conclusive = opened.store.concludeCheckout(checkoutId);
    await sleep(50);
    expect(await opened.store.findTransaction(checkoutId)).toBeUndefined();
    other.exec("COMMIT");
    expect(await conclusive).toMatchObject({ checkoutId, txnId: "T", amount: 113_000n });
  });

  test("top-ups that come while one waits are settled with the next batch", async () => {
    const { opened, other } = await openLocked();
    const first = opened.store.settleTopUp(opened.command(SITA_NET, "NET-1M"));
    await sleep(50);
    const later = Array.from({ length: 20 }, () => opened.store.settleTopUp(opened.command(SITA_NET, "NET-1M")));
    other.exec("ROLLBACK");
    for (const outcome of await Promise.all([first, ...later])) expectRecorded(outcome);
    expect(await countRows(opened, "top_up")).toBe(21);
  });
});

test("a top-up that another store has acknowledged is found, also by one that read something else just before", async () => {
  const opened = await openProvider(() => makeSqliteDatabase());
  const { store: asking, command } = opened;
  const views: Promise<unknown>[] = [];
  // The clock is read inside the recording transaction, whose writes other reads cannot see yet.
  const clock = () => {
    views.push(asking.findConnection(SITA_NET));
    return opened.now;
  };
  const recording = await opened.database.open({ clock, random: seededRandom(9), basePlans: DEFAULT_BASE_PLANS });
  onTestFinished(() => recording.close());
  const sent = command(SITA_NET, "NET-1M");
  const transaction = expectRecorded(await recording.settleTopUp(sent));
  expect(await asking.findTransaction(sent.checkoutId)).toEqual(transaction);
  await Promise.all(views);
});
