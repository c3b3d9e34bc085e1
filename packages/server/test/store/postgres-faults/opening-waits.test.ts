import { afterEach, describe, expect, test, vi } from "vitest";
import { StoreUnavailable } from "../../../src/store/errors.ts";
import { withOwnSession } from "../../../src/store/postgres/session/database.ts";
import { WAITS } from "../../../src/store/postgres/session/session.ts";
import { SITA_NET } from "../../store-suite/provider.ts";
import { by } from "../../support/by.ts";
import { makeEmptyDatabase, withClient } from "../../support/postgres-database.ts";
import { PostgresProxy } from "../../support/postgres-proxy.ts";
import { openElsewhere, openFaultyProvider, sleep, timed } from "./faulty-provider.ts";

afterEach(() => {
  vi.useRealTimers();
});

const HOLD_OPENING = "BEGIN; SELECT pg_advisory_xact_lock(7461001); SELECT 1 FROM provider FOR UPDATE";

describe("a database in which all is settled", () => {
  test("is opened though another session holds what opening writes", async ({ onTestFinished }) => {
    const { url, otherSession } = await openFaultyProvider({ onTestFinished });
    const other = await otherSession();
    await other.query(HOLD_OPENING);
    const { ms, result } = await timed(() => openElsewhere(url).then((store) => store.close()));
    expect(result).toBeUndefined();
    expect(ms).toBeLessThan(3_000);
  });

  test("is opened, read and checked though it takes no writes", async ({ onTestFinished }) => {
    const { url, store, command, otherSession, partner } = await openFaultyProvider({ onTestFinished });
    const recorded = command(SITA_NET, "NET-1M");
    await store.settleTopUp(recorded);
    const other = await otherSession();
    await other.query(`ALTER DATABASE ${new URL(url).pathname.slice(1)} SET default_transaction_read_only = on`);
    const reading = await openElsewhere(url);
    onTestFinished(() => reading.close());
    expect(await reading.listPartners()).toEqual([partner]);
    const { txnId, amount } = recorded;
    const { search } = reading;
    const environment = "production";
    expect(await search.listTransactions({ environment }, { before: undefined, limit: 9 })).toMatchObject([{ txnId }]);
    const ever = { environment, partnerId: undefined, from: 0, until: 4e12 } as const;
    expect(await search.sumTopUps(ever)).toMatchObject([{ amount }]);
    const events: string[] = [];
    for await (const event of reading.check()) events.push(`${event.kind} ${event.what}`);
    expect(events).toContainEqual(expect.stringContaining("NOT compared: the database takes no writes"));
    expect(events.filter((event) => event.startsWith("wrong"))).toEqual([]);
    await expect(reading.addPartner("another", by(1))).rejects.toThrow(/takes no writes/);
    await store.close();
  });
});

describe("a new database", () => {
  test("is not waited for without an end, where what opening writes is not confirmed", async ({ onTestFinished }) => {
    const { url, made } = makeEmptyDatabase(undefined, onTestFinished);
    await made;
    const proxy = await PostgresProxy.start(url);
    onTestFinished(() => proxy.close());
    proxy.commitFault = "held";
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const opening = timed(() => openElsewhere(proxy.url));
    // Far enough for the commit to be sent.
    while (!proxy.isHolding) await new Promise((resolve) => setImmediate(resolve));
    await vi.advanceTimersByTimeAsync(WAITS.opening);
    // Then it takes leave.
    await vi.advanceTimersByTimeAsync(1_000);
    const { result } = await opening;
    expect(result).toBeInstanceOf(StoreUnavailable);
    expect(String(result)).toContain("SyncRep");
  });

  test("is open to others soon after the process that makes it has fallen silent", async ({ onTestFinished }) => {
    const { url, made } = makeEmptyDatabase(undefined, onTestFinished);
    await made;
    await withOwnSession(url, "opening", async (session) => {
      const [limits] = await session.ask<{ ms: number }>(
        "SELECT setting::int AS ms FROM pg_settings WHERE name = 'idle_in_transaction_session_timeout'",
      );
      expect(limits?.ms).toBeGreaterThan(0);
      expect(limits?.ms).toBeLessThan(WAITS.opening / 2);
    });
  });

  test("is opened by one process at a time, and the other finds what the first has made", async ({
    onTestFinished,
  }) => {
    const { url, made } = makeEmptyDatabase(undefined, onTestFinished);
    await made;
    await withClient(url, async (client) => {
      await client.query("BEGIN; SELECT pg_advisory_xact_lock(7461001)");
      const opening = Array.from({ length: 3 }, () => openElsewhere(url));
      await sleep(300);
      await client.query("COMMIT");
      const stores = await Promise.all(opening);
      const secrets = await Promise.all(stores.map((store) => store.checkoutSecrets()));
      expect(secrets[1]).toEqual(secrets[0]);
      expect(secrets[2]).toEqual(secrets[0]);
      await Promise.all(stores.map((store) => store.close()));
    });
  });
});
