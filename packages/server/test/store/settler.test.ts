import { statSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep, setImmediate as turn } from "node:timers/promises";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { DEFAULT_BASE_PLANS } from "../../src/domain/catalogue.ts";
import { firstTransactionId } from "../../src/domain/transaction.ts";
import { StoreContended, StoreUnavailable } from "../../src/store/errors.ts";
import { openSqliteStore } from "../../src/store/sqlite/open.ts";
import { errorOf, failureOf, Messages } from "../../src/store/sqlite/settler-protocol.ts";
import { countRows, FAR_AHEAD, findWrong } from "../store-suite/database.ts";
import { hashOf } from "../store-suite/filled-provider.ts";
import { endOf, expectRecorded, FIBER, openProvider, SITA_NET, SITA_TV } from "../store-suite/provider.ts";
import { by } from "../support/by.ts";
import { partnersOf } from "../support/partners.ts";
import { seededRandom } from "../support/random.ts";
import { startSettler } from "../support/settler.ts";
import { makeSqliteDatabase, rawConnection } from "../support/sqlite-database.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** A provider, a settler on its database, and stores whose top-ups go to it. */
async function openSettled() {
  const path = join(temporaryFolder(), "topupd.db");
  const opened = await openProvider(() => makeSqliteDatabase(path));
  const clock = () => opened.now;
  const batches: number[] = [];
  const options = {
    ...{ path, clock, provider: opened.store.provider, socketPath: join(temporaryFolder(), "settler") },
    observeBatch: (items: number) => (committed: boolean) => {
      if (committed) batches.push(items);
    },
  };
  const settler = await startSettler(options);
  const proxyPath = join(temporaryFolder(), "proxy");
  const sockets = new Set<Socket>();
  const proxy = createServer((worker) => {
    const upstream = connect(settler.socketPath);
    for (const socket of [worker, upstream]) sockets.add(socket.on("error", () => {}));
    worker.pipe(upstream).pipe(worker);
  });
  proxy.listen(proxyPath);
  /** Cuts the connection between worker and settler. */
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  onTestFinished(() => {
    cut();
    proxy.close();
  });
  const openWorker = async ({ throughProxy = false } = {}) => {
    const settlerSocket = throughProxy ? proxyPath : settler.socketPath;
    const store = await openSqliteStore({
      ...{
        path,
        timeZone: undefined,
        currencyExponent: undefined,
        basePlans: DEFAULT_BASE_PLANS,
        monthsAhead: FAR_AHEAD,
      },
      ...{ clock, random: seededRandom(9), settlerSocket },
    });
    onTestFinished(() => store.close());
    return store;
  };
  const again = () => startSettler(options);
  return { opened, path, settler, again, cut, openWorker, store: await openWorker(), batches };
}

/** Holds the write lock as another process does. @returns a function that releases the lock. */
function lock(path: string): () => void {
  const other = rawConnection(path);
  other.exec("BEGIN IMMEDIATE");
  return () => other.exec("ROLLBACK");
}

const isUnknown = (message: string) => ({ status: "rejected", reason: new StoreUnavailable(message) });

describe("a settler", () => {
  test("settles what several workers ask for in shared batches, each in its own words", async () => {
    const { opened, store, openWorker, batches } = await openSettled();
    const other = await openWorker();
    const command = opened.command(SITA_NET, "NET-1M");
    const wrong = { ...opened.command(SITA_TV, "TV-1M"), amount: 1n };
    const [recorded, refused, replayed] = await Promise.all([
      store.settleTopUp(command),
      other.settleTopUp(wrong),
      other.settleTopUp(command),
    ]);
    expect([recorded.kind, replayed.kind].sort()).toEqual(["recorded", "replayed"]);
    expect(refused).toMatchObject({ kind: "refused" });
    expect(recorded).toMatchObject({ transaction: { checkoutId: command.checkoutId, udf1: command.udf1 } });
    expect(Math.max(...batches)).toBeGreaterThan(1);
    expect(await countRows(opened, "top_up")).toBe(1);
  });

  test("lets everything else be read while it waits, and shows its top-up once it has settled", async () => {
    const { opened, path, store } = await openSettled();
    const release = lock(path);
    const settled = store.settleTopUp(opened.command(SITA_NET, "NET-1M"));
    await sleep(50);
    expect(await endOf(store, SITA_NET, FIBER)).toBe("2026-12-10 09:00:00");
    release();
    expectRecorded(await settled);
    expect(await endOf(store, SITA_NET, FIBER)).toBe("2027-01-10 09:00:00");
  });

  test("is seen though others were reading in that very turn", async () => {
    const { opened, store } = await openSettled();
    let isReading = true;
    const reading = (async () => {
      for (let reads = 0; isReading && reads < 1_000_000; reads += 1) {
        await store.findConnection(SITA_TV);
        if (reads % 100 === 0) await turn();
      }
    })();
    let last = "";
    for (let round = 0; round < 50; round += 1) {
      const recorded = store.settleTopUp(opened.command(SITA_NET, "NET-1M"));
      const end = (await recorded.then(() => endOf(store, SITA_NET, FIBER))) as string;
      expect(end > last, `${end} after ${last}`).toBe(true);
      last = end;
    }
    isReading = false;
    await reading;
  });

  test("takes no top-up of a token that was revoked since a worker admitted it", async () => {
    const { opened, store } = await openSettled();
    const { partner, now } = opened;
    const ends = { expiresAt: undefined, revokedAt: undefined, replacedBy: undefined };
    const token = { id: "tok_lost", partner, environment: "production", createdAt: now, ...ends } as const;
    await partnersOf(opened.store).addToken(token, hashOf("lost"), by(now));
    const command = () => opened.command(SITA_NET, "NET-1M", { tokenId: "tok_lost" });
    expectRecorded(await store.settleTopUp(command()));
    await partnersOf(opened.store).revokeToken("tok_lost", by(now));
    expect(await store.settleTopUp(command())).toEqual({ kind: "refused", refusal: "revoked_token" });
  });

  test("gives a txnId the time of its decision, though the clock was set back since the worker asked", async () => {
    const { opened, path, store } = await openSettled();
    const release = lock(path);
    const settling = store.settleTopUp(opened.command(SITA_NET, "NET-1M"));
    await turn();
    opened.now -= 40 * 86_400_000;
    release();
    const { txnId, at } = expectRecorded(await settling);
    expect(at).toBe(opened.now);
    expect(txnId.slice(0, 10)).toBe(firstTransactionId(at));
    expect(await findWrong(store)).toEqual([]);
  });

  test("that cannot answer leaves unknown what it was asked, and has recorded it once", async () => {
    const { opened, path, openWorker, cut } = await openSettled();
    const store = await openWorker({ throughProxy: true });
    const release = lock(path);
    const command = opened.command(SITA_NET, "NET-1M");
    const told = Promise.allSettled([store.settleTopUp(command), store.concludeCheckout("x".repeat(64))]);
    await sleep(50);
    cut();
    const ended = isUnknown("the process that settles top-ups has ended");
    expect(await told).toEqual([ended, ended]);
    release();
    await vi.waitFor(async () => expect(await store.settleTopUp(command)).toMatchObject({ kind: "replayed" }));
    expect(await countRows(opened, "top_up")).toBe(1);
    expect(await findWrong(store)).toEqual([]);
  });

  test("that is unavailable makes top-ups unavailable, and nothing else, until another takes its place", async () => {
    const { opened, store, settler, again } = await openSettled();
    await settler.close();
    await vi.waitFor(async () => {
      const away = isUnknown("the process that settles top-ups is unavailable");
      const command = opened.command(SITA_NET, "NET-1M");
      expect(await Promise.allSettled([store.settleTopUp(command)])).toEqual([away]);
    });
    await store.ping();
    expect(await endOf(store, SITA_NET, FIBER)).toBe("2026-12-10 09:00:00");
    await again();
    await vi.waitFor(async () => expectRecorded(await store.settleTopUp(opened.command(SITA_NET, "NET-1M"))));
  });

  test("settles what it was asked before it ends, and leaves the file alone complete", async () => {
    const { opened, path, store, settler } = await openSettled();
    await opened.store.close();
    const command = opened.command(SITA_NET, "NET-1M");
    const settled = store.settleTopUp(command);
    await turn();
    await turn();
    await settler.close();
    expectRecorded(await settled);
    await store.close();
    await expect(store.settleTopUp(opened.command(SITA_NET, "NET-1M"))).rejects.toThrow("the store is closed");
    expect(statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0).toBe(0);
    expect(await (await opened.another()).findTransaction(command.checkoutId)).toBeDefined();
  });

  test("restarts its log, although reads happen in every turn", async () => {
    const { opened, path, store } = await openSettled();
    const look = rawConnection(path).prepare("PRAGMA wal_checkpoint(NOOP)");
    let [longest, pages] = [0, 0];
    const toppingUp = async () => {
      // A busy machine may miss chances to restart, which come every few hundred rounds.
      for (let round = 0; pages >= longest && round < 5_000; round += 1) {
        expectRecorded(await store.settleTopUp(opened.command(SITA_NET, "NET-1M")));
        await store.findConnection(SITA_TV);
        pages = (look.get() as { log: number }).log;
        longest = Math.max(longest, pages);
      }
    };
    await Promise.all([toppingUp(), toppingUp(), toppingUp(), toppingUp()]);
    expect(longest).toBeGreaterThan(900);
    expect(pages).toBeLessThan(longest);
  });
});

describe("messages", () => {
  test("arrive whole and in order, however they are cut up on their way", async () => {
    const path = join(temporaryFolder(), "socket");
    const heard: unknown[] = [];
    const server = createServer((socket) => new Messages<unknown, unknown>(socket, (all) => heard.push(...all)));
    server.listen(path);
    const socket = connect(path);
    onTestFinished(() => {
      socket.destroy();
      server.close();
    });
    const bytes: Buffer[] = [];
    const fake = {
      on: () => {},
      cork: () => {},
      uncork: () => {},
      writable: true,
      write: (b: Buffer) => bytes.push(b),
    };
    const sender = new Messages<unknown, unknown>(fake as unknown as typeof socket, () => {});
    const sent = Array.from({ length: 30 }, (_, index) => ({ index, text: "x".repeat(index), amount: BigInt(index) }));
    for (const message of sent) {
      sender.send(message);
      if (message.index % 7 === 0) await turn();
    }
    await turn();
    const all = Buffer.concat(bytes);
    for (let from = 0, step = 1; from < all.length; from += step, step = (step * 7) % 61) {
      socket.write(all.subarray(from, from + step));
      await turn();
    }
    await vi.waitFor(() => expect(heard).toEqual(sent));
  });

  test.each([new StoreUnavailable("another process holds it"), new StoreContended("held"), new Error("a defect")])(
    "an error is of the same kind at the other end: %s",
    (error) => {
      const received = errorOf(structuredClone(failureOf(error)));
      expect(received.constructor).toBe(error.constructor);
      expect(received.message).toBe(error.message);
    },
  );
});
