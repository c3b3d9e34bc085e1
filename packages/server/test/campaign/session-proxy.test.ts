import pg from "pg";
import { describe, expect, inject, test } from "vitest";
import { askPostgres } from "../../campaign/postgres.ts";
import type { Deed, Fault } from "../../campaign/session-plan.ts";
import { SessionProxy } from "../../campaign/session-proxy.ts";
import { socketOf } from "../../src/store/postgres/session/session.ts";
import type { OnFinished } from "../store-suite/database.ts";

const QUESTION = { name: "question", text: "SELECT 1 AS one" };
const LATE_MS = 300;

describe.concurrent("what the campaign does to a session", () => {
  test("bytes that are held back come late, wherever they are cut", async ({ onTestFinished }) => {
    const proxy = await startProxy(onTestFinished);
    const client = await connect(proxy, onTestFinished);
    for (const place of ["before", "within", "after"] as const) {
      proxy.arm({ ...at("look_up", { kind: "silence", ways: "both", ms: LATE_MS }), place });
      const begun = performance.now();
      expect((await client.query(QUESTION)).rows).toEqual([{ one: 1 }]);
      expect(performance.now() - begun).toBeGreaterThanOrEqual(LATE_MS - 10);
    }
    expect(Object.fromEntries(proxy.done)).toEqual({ "look_up: silence both": 3 });
  });

  test("a session that is silent for good hangs, also when the trouble is over, until its client leaves it", async ({
    expect,
    onTestFinished,
  }) => {
    const proxy = await startProxy(onTestFinished);
    const client = await connect(proxy, onTestFinished);
    proxy.arm(at("look_up", { kind: "silence", ways: "to_client", ms: "for_good" }));
    const asked = client.query(QUESTION).then(
      () => "answered",
      () => "left",
    );
    await expect.poll(() => proxy.done.size).toBe(1);
    proxy.heal();
    // Who takes leave and waits for the end has not left.
    client.end().catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, LATE_MS));
    expect([proxy.countHanging(), proxy.countHanging()]).toEqual([1, 1]);
    socketOf(client).destroy();
    await expect.poll(() => proxy.countHanging()).toBe(0);
    expect(await asked).toBe("left");
  });

  test("a session that PostgreSQL ends says so, and that the connection ends can be kept from it", async ({
    expect,
    onTestFinished,
  }) => {
    const proxy = await startProxy(onTestFinished);
    for (const isEndHeard of [true, false]) {
      const client = await connect(proxy, onTestFinished);
      let isEnded = false;
      client.on("end", () => {
        isEnded = true;
      });
      proxy.arm(at("look_up", { kind: "terminate", isEndHeard }));
      await expect(client.query(QUESTION)).rejects.toMatchObject({ code: "57P01" });
      if (isEndHeard) await expect.poll(() => isEnded).toBe(true);
      else expect([isEnded, proxy.countHanging()]).toEqual([false, 1]);
    }
  });

  test("a session that is reset at its first message is not had, and the next one is", async ({ onTestFinished }) => {
    const proxy = await startProxy(onTestFinished);
    proxy.arm(at("startup", { kind: "reset", told: "both" }));
    await expect(connect(proxy, onTestFinished)).rejects.toThrow();
    const client = await connect(proxy, onTestFinished);
    expect((await client.query(QUESTION)).rows).toEqual([{ one: 1 }]);
  });
});

function at(moment: Fault["moment"], deed: Deed): Fault {
  return { moment, place: "before", skip: 0, isWatchSpared: false, times: 1, deed };
}

async function startProxy(onTestFinished: OnFinished): Promise<SessionProxy> {
  const url = inject("postgresUrl");
  const proxy = await SessionProxy.start(url, (port, how) => {
    askPostgres(url, `SELECT pg_${how}_backend(pid) FROM pg_stat_activity WHERE client_port = ${port}`).catch(() => {});
  });
  onTestFinished(() => proxy.close());
  return proxy;
}

async function connect(proxy: SessionProxy, onTestFinished: OnFinished): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: proxy.url });
  client.on("error", () => {});
  await client.connect();
  onTestFinished(async () => void socketOf(client).destroy());
  return client;
}
