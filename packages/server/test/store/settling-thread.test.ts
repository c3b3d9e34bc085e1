import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep, setImmediate as turn } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { describe, expect, onTestFinished, test } from "vitest";
import { DEFAULT_BASE_PLANS } from "../../src/domain/catalogue.ts";
import { StoreContended, StoreUnavailable } from "../../src/store/errors.ts";
import { openSqliteStore } from "../../src/store/sqlite/open.ts";
import { unpackError } from "../../src/store/sqlite/settling/settling-messages.ts";
import { SettlingThread, type StartSettlingThread } from "../../src/store/sqlite/settling/settling-thread.ts";
import type { Store } from "../../src/store/store.ts";
import { countRows, findWrong } from "../store-suite/database.ts";
import { endOf, expectRecorded, FIBER, openProvider, SITA_NET, SITA_TV } from "../store-suite/provider.ts";
import { seededRandom } from "../support/random.ts";
import { endSettling, startSettlingBy } from "../support/settling-thread.ts";
import { makeSqliteDatabase, rawConnection } from "../support/sqlite-database.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** A provider, and a store on its database whose top-ups go to a thread; with the threads that were begun. */
async function openThreaded(start?: StartSettlingThread) {
  const path = join(temporaryFolder(), "topupd.db");
  const opened = await openProvider(() => makeSqliteDatabase(path));
  const workers: Worker[] = [];
  const clock = () => opened.now;
  const store = await openSqliteStore({
    ...{ path, timeZone: undefined, currencyExponent: undefined, basePlans: DEFAULT_BASE_PLANS },
    ...{ clock, random: seededRandom(9) },
    settlingThread: start ?? startSettlingBy(clock, (worker) => workers.push(worker)),
  });
  onTestFinished(() => store.close());
  return { opened, path, store, workers };
}

/** Holds the write lock, as another process does, until it is let go. */
function lock(path: string): () => void {
  const other = rawConnection(path);
  other.exec("BEGIN IMMEDIATE");
  return () => other.exec("ROLLBACK");
}

/** Has a view of the database open almost always: it ends with the turn, and another begins. */
function readAlways(store: Store) {
  let isReading = true;
  const reading = (async () => {
    for (let reads = 0; isReading && reads < 1_000_000; reads += 1) {
      await store.findConnection(SITA_TV);
      if (reads % 100 === 0) await turn();
    }
  })();
  const end = async () => {
    isReading = false;
    await reading;
  };
  return { end };
}

describe("a thread that settles top-ups", () => {
  test("lets everything else be read while it waits", async () => {
    const { opened, path, store } = await openThreaded();
    const release = lock(path);
    const settled = store.settleTopUp(opened.command(SITA_NET, "NET-1M"));
    await sleep(100);
    expect(await endOf(store, SITA_NET, FIBER)).toBe("2026-12-10 09:00:00");
    release();
    expectRecorded(await settled);
    expect(await endOf(store, SITA_NET, FIBER)).toBe("2027-01-10 09:00:00");
  });

  test("is seen by whoever asks once it has settled, though others were reading in that very turn", async () => {
    const { opened, store } = await openThreaded();
    const reading = readAlways(store);
    let last = "";
    for (let round = 0; round < 100; round += 1) {
      const recorded = store.settleTopUp(opened.command(SITA_NET, "NET-1M"));
      const end = (await recorded.then(() => endOf(store, SITA_NET, FIBER))) as string;
      expect(end > last, `${end} after ${last}`).toBe(true);
      expectRecorded(await recorded);
      last = end;
    }
    await reading.end();
  });

  test("that ends before its time leaves its batch unknown, and another takes its place", async () => {
    const { opened, path, store, workers } = await openThreaded();
    const release = lock(path);
    const command = opened.command(SITA_NET, "NET-1M");
    const settled = [store.settleTopUp(command), store.settleTopUp(opened.command(SITA_TV, "TV-1M"))];
    const told = Promise.allSettled(settled);
    await sleep(100);
    await endSettling(workers[0]);
    for (const each of await told) {
      expect(each).toMatchObject({
        status: "rejected",
        reason: { message: "the thread that settles top-ups has ended" },
      });
      expect(each.status === "rejected" && each.reason).toBeInstanceOf(StoreUnavailable);
    }
    release();
    expectRecorded(await store.settleTopUp(command));
    expect(await store.settleTopUp(command)).toMatchObject({ kind: "replayed" });
    expect(workers).toHaveLength(2);
    expect(await countRows(opened, "top_up")).toBe(1);
    expect(await findWrong(store)).toEqual([]);
  });

  test("that ends after its commit, and before it could say so, has recorded once", async () => {
    const { opened, path, store, workers } = await openThreaded();
    const command = opened.command(SITA_NET, "NET-1M");
    const release = lock(path);
    const told = Promise.allSettled([store.settleTopUp(command)]);
    await sleep(50);
    // What the thread says from now on is not heard.
    workers[0]?.removeAllListeners("message");
    release();
    const raw = rawConnection(path);
    const isRecorded = () => raw.prepare("SELECT 1 FROM top_up").get() !== undefined;
    for (let waited = 0; !isRecorded() && waited < 5_000; waited += 10) await sleep(10);
    await endSettling(workers[0]);
    expect(await told).toMatchObject([{ status: "rejected", reason: { name: "StoreUnavailable" } }]);
    expect(await store.settleTopUp(command)).toMatchObject({ kind: "replayed" });
    expect(await endOf(store, SITA_NET, FIBER)).toBe("2027-01-10 09:00:00");
  });

  test("that ended long ago takes nothing from the one that came after it", async () => {
    const { opened, path, store, workers } = await openThreaded();
    expectRecorded(await store.settleTopUp(opened.command(SITA_NET, "NET-1M")));
    await endSettling(workers[0]);
    const release = lock(path);
    const settled = store.settleTopUp(opened.command(SITA_NET, "NET-1M"));
    await sleep(50);
    workers[0]?.emit("message", { id: 2, settled: ["not it"] });
    workers[0]?.emit("exit", 1);
    release();
    expectRecorded(await settled);
  });

  test("whose answer cannot be read, or makes no sense, leaves its batch unknown", async () => {
    const { opened, path, store, workers } = await openThreaded();
    const isUnknown = [{ status: "rejected", reason: { name: "StoreUnavailable" } }];
    let release = lock(path);
    const unreadable = Promise.allSettled([store.settleTopUp(opened.command(SITA_NET, "NET-1M"))]);
    await sleep(50);
    workers[0]?.emit("messageerror", new Error("unreadable"));
    expect(await unreadable).toMatchObject(isUnknown);
    release();

    release = lock(path);
    const senseless = Promise.allSettled([store.concludeCheckout("x".repeat(64))]);
    await sleep(200);
    // The time of a record, where none was asked for.
    workers[1]?.emit("message", { id: 2, settled: [5] });
    expect(await senseless).toMatchObject(isUnknown);
    release();
    expectRecorded(await store.settleTopUp(opened.command(SITA_NET, "NET-1M")));
    expect(workers).toHaveLength(2);
  });

  test("that cannot begin makes top-ups unavailable, and the store, and nothing else, until one can", async () => {
    const broken = join(temporaryFolder(), "broken.mjs");
    writeFileSync(broken, "throw Object.assign(new Error('quotes a path'), { code: 'ERR_BROKEN' });");
    let start: StartSettlingThread = () => new Worker(broken);
    const { opened, store } = await openThreaded((data) => start(data));
    const expectAway = async (message: string) => {
      const settled = store.settleTopUp(opened.command(SITA_NET, "NET-1M"));
      await expect(settled).rejects.toEqual(new StoreUnavailable(message));
      await expect(settled).rejects.toBeInstanceOf(StoreUnavailable);
      await expect(store.ping()).rejects.toEqual(new StoreUnavailable(message));
      expect(await endOf(store, SITA_NET, FIBER)).toBe("2026-12-10 09:00:00");
    };
    for (let attempt = 0; attempt < 3; attempt += 1)
      await expectAway("the thread that settles top-ups has ended: ERR_BROKEN");
    start = () => {
      throw new Error("no more threads");
    };
    await expectAway("no thread that settles top-ups can be begun");
    start = startSettlingBy(() => opened.now);
    await store.ping();
    expectRecorded(await store.settleTopUp(opened.command(SITA_NET, "NET-1M")));
  });

  test("that cannot begin keeps no store from closing", async () => {
    const broken = join(temporaryFolder(), "broken.mjs");
    writeFileSync(broken, "throw new Error('cannot begin');");
    const { store } = await openThreaded(() => new Worker(broken));
    await store.close();
    await store.close();
  });

  test("answers each by itself, whatever takes longer, and nothing once it is closed", async () => {
    const { opened, path, store } = await openThreaded();
    let threads = 0;
    const start = startSettlingBy(
      () => opened.now,
      () => {
        threads += 1;
      },
    );
    const thread = new SettlingThread({ start, path, provider: store.provider, observeCheckpoints: undefined });
    onTestFinished(() => thread.close());
    await thread.settle([]);
    const release = lock(path);
    const command = opened.command(SITA_NET, "NET-1M");
    const settled = thread.settle([{ kind: "top_up", command }]);
    expect(await thread.settle([])).toEqual([]);
    release();
    expect(await settled).toMatchObject([{ kind: "recorded", transaction: { checkoutId: command.checkoutId } }]);

    await thread.close();
    await expect(thread.settle([])).rejects.toEqual(new StoreUnavailable("the store is closed"));
    expect(threads).toBe(1);
  });

  test("begins its log anew, though somebody reads in every turn", async () => {
    const { opened, path, store } = await openThreaded();
    const reading = readAlways(store);
    const look = rawConnection(path).prepare("PRAGMA wal_checkpoint(NOOP)");
    let [longest, pages] = [0, 0];
    const toppingUp = async () => {
      // A busy machine may miss occasions, which come every few hundred rounds.
      for (let round = 0; pages >= longest && round < 5_000; round += 1) {
        expectRecorded(await store.settleTopUp(opened.command(SITA_NET, "NET-1M")));
        pages = (look.get() as { log: number }).log;
        longest = Math.max(longest, pages);
      }
    };
    // As one is answered, the next is waiting already.
    await Promise.all([toppingUp(), toppingUp(), toppingUp(), toppingUp()]);
    await reading.end();
    expect(longest).toBeGreaterThan(900);
    expect(pages).toBeLessThan(longest);
  });

  test("leaves the file alone complete when its store is closed", async () => {
    const { opened, path, store } = await openThreaded();
    await opened.store.close();
    const command = opened.command(SITA_NET, "NET-1M");
    const settled = store.settleTopUp(command);
    await store.close();
    expectRecorded(await settled);
    expect(statSync(`${path}-wal`).size).toBe(0);
    await expect(store.settleTopUp(opened.command(SITA_NET, "NET-1M"))).rejects.toThrow("the store is closed");
    const again = await opened.another();
    expect(await again.findTransaction(command.checkoutId)).toBeDefined();
  });
});

test("an error is the same after it was sent to another thread", () => {
  const send = (failed: unknown) =>
    unpackError(structuredClone({ id: 1, failed, isUnavailable: failed instanceof StoreUnavailable }));
  for (const thrown of [new StoreUnavailable("another process holds it"), new StoreContended("held")]) {
    expect(send(thrown)).toBeInstanceOf(StoreUnavailable);
    expect(send(thrown).message).toBe(thrown.message);
  }
  const defect = new TypeError("a defect");
  expect(send(defect)).toBeInstanceOf(TypeError);
  expect(send(defect)).toMatchObject({ message: "a defect", stack: defect.stack });
  expect(send("a text").message).toBe("a text");
});
