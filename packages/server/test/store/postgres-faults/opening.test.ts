import type pg from "pg";
import { beforeAll, describe, expect, test } from "vitest";
import { StoreRefused, StoreUnavailable } from "../../../src/store/errors.ts";
import { countRows, findWrong } from "../../store-suite/database.ts";
import { SITA_NET } from "../../store-suite/provider.ts";
import { makeEmptyDatabase, withClient } from "../../support/postgres-database.ts";
import { type PostgresServer, startPostgres } from "../../support/postgres-server.ts";
import { openElsewhere, openFaultyProvider, sleep, timed } from "./faulty-provider.ts";

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
  return () => server.close();
});

describe("opening names the fault, and no password", () => {
  test("where the password is wrong, the user has no rights or there is no such database or host", async () => {
    await withClient(server.url, async (admin) => {
      await admin.query("CREATE ROLE guest LOGIN PASSWORD 'right'");
      // From now on, other users than the tests' own need a password.
      const rules = "host all postgres 127.0.0.1/32 trust\nhost all all 127.0.0.1/32 scram-sha-256";
      const { rows } = await admin.query("SHOW hba_file");
      await admin.query(`COPY (SELECT regexp_split_to_table('${rules}', E'\\n')) TO '${rows[0].hba_file}'`);
      await admin.query("SELECT pg_reload_conf()");
      await expect.poll(() => refusal({ username: "guest", password: "s3cret-wrong" })).toContain("password");
    });
    expect(await refusal({ username: "guest", password: "s3cret-wrong" })).toBe(
      'StoreRefused: PostgreSQL does not let this user in (password authentication failed for user "guest")',
    );
    expect(await refusal({ username: "guest" })).toMatch(/^StoreRefused: .*asks for a password/);
    expect(await refusal({ username: "guest", password: "right" })).toMatch(/^StoreRefused: .*lacks a privilege/);
    expect(await refusal({ pathname: "/nowhere" })).toMatch(/^StoreRefused: .*no database of this name.*createdb/);
    expect(await refusal({ hostname: "nowhere.invalid" })).toMatch(/^StoreUnavailable: .*nowhere\.invalid/);
    expect(await refusal({ port: "1" })).toMatch(/^StoreUnavailable: .*ECONNREFUSED 127\.0\.0\.1:1$/);
  });

  test("where the database has another encoding, or tables of others", async () => {
    await withClient(server.url, async (admin) => {
      await admin.query("CREATE DATABASE ascii TEMPLATE template0 ENCODING 'SQL_ASCII'");
      await admin.query("CREATE DATABASE others");
    });
    expect(await refusal({ pathname: "/ascii" })).toMatch(/^StoreRefused: .*SQL_ASCII.*UTF8/);
    const url = Object.assign(new URL(server.url), { pathname: "/others" }).href;
    await withClient(url, (client) => client.query("CREATE TABLE invoice (id integer)"));
    expect(await refusal({ pathname: "/others" })).toMatch(/^StoreRefused: .*not those of topupd/);
  });

  test("where PostgreSQL does not flush to disk: nothing is made", async () => {
    const careless = await startPostgres({ fsync: "off" });
    try {
      await expect(openElsewhere(careless.url)).rejects.toThrow(/^PostgreSQL runs with fsync=off/);
      const tables = "SELECT FROM pg_tables WHERE schemaname = 'public'";
      expect((await withClient(careless.url, (client) => client.query(tables))).rowCount).toBe(0);
    } finally {
      await careless.close();
    }
  });
});

describe("durability that the server leaves open", () => {
  test("synchronous_commit=off is switched on in every session", async (context) => {
    const { url, otherSession, another } = await openFaultyProvider({ ...context, server: server.url });
    const name = new URL(url).pathname.slice(1);
    await (await otherSession()).query(`ALTER DATABASE ${name} SET synchronous_commit = off`);
    const store = await another();
    const events: string[] = [];
    for await (const event of store.check()) events.push(event.what);
    expect(events).toContain("durability: fsync=on, synchronous_commit=on");
  });

  test("full_page_writes=off is what a check finds wrong", async (context) => {
    const { store } = await openFaultyProvider({ ...context, server: server.url });
    expect(await findWrong(store)).toEqual([]);
    await withSetting("full_page_writes = off", async () => {
      expect(await findWrong(store)).toEqual([expect.stringContaining("full_page_writes=off")]);
    });
  });
});

describe("a server that serves, but not as it should", () => {
  test("takes no writes: top-ups are unavailable until it does, and nothing else", async (context) => {
    const { store, command, another } = await openFaultyProvider({ ...context, server: server.url });
    const recorded = command(SITA_NET, "NET-1M");
    await store.settleTopUp(recorded);
    const refused = command(SITA_NET, "NET-1M");
    await withSetting("default_transaction_read_only = on", async () => {
      await expect(store.settleTopUp(refused)).rejects.toThrow(/read-only/);
      await store.ping();
      // A database that is up to date is opened without a write.
      const reading = await another();
      expect(await reading.findTransaction(recorded.checkoutId)).toMatchObject({
        txnId: expect.stringContaining(recorded.txnDigits),
      });
    });
    expect(await store.settleTopUp(refused)).toMatchObject({ kind: "recorded" });
  });

  test("refuses all connections: requests are unavailable until it accepts them again", async (context) => {
    const opened = await openFaultyProvider({ ...context, server: server.url });
    const { store, command } = opened;
    const name = new URL(opened.url).pathname.slice(1);
    await store.ping();
    await withClient(server.url, async (admin) => {
      await admin.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
      await admin.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`);
      await sleep(100);
      await expect(store.settleTopUp(command(SITA_NET, "NET-1M"))).rejects.toThrow(StoreUnavailable);
      await admin.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`);
    });
    await expect.poll(() => store.ping().then(String, String), { timeout: 5_000 }).toBe("undefined");
    expect(await store.settleTopUp(command(SITA_NET, "NET-1M"))).toMatchObject({ kind: "recorded" });
    expect(await countRows(opened, "top_up")).toBe(1);
  });
});

test("a new database is made by one process at a time, and the others find what the first has made", async ({
  onTestFinished,
}) => {
  const { url, made } = makeEmptyDatabase(server.url, onTestFinished);
  await made;
  await withClient(url, async (client) => {
    await client.query("BEGIN; SELECT pg_advisory_xact_lock(7461001)");
    const opening = Array.from({ length: 3 }, () => openElsewhere(url));
    await sleep(300);
    await client.query("COMMIT");
    const stores = await Promise.all(opening);
    const [first, ...others] = await Promise.all(stores.map((store) => store.checkoutSecrets()));
    for (const secrets of others) expect(secrets).toEqual(first);
    await Promise.all(stores.map((store) => store.close()));
  });
});

async function refusal(changes: Partial<Record<"username" | "password" | "hostname" | "port" | "pathname", string>>) {
  const { result } = await timed(() => openElsewhere(Object.assign(new URL(server.url), changes).href));
  expect([StoreRefused, StoreUnavailable]).toContain((result as Error).constructor);
  expect(String(result)).not.toContain("s3cret");
  return String(result);
}

/** Changes a setting for one test, and waits until sessions see the change. */
async function withSetting(setting: string, work: () => Promise<void>): Promise<void> {
  await withClient(server.url, async (admin) => {
    const [name = ""] = setting.split(" ");
    const before = await show(admin, name);
    await admin.query(`ALTER SYSTEM SET ${setting}`);
    await admin.query("SELECT pg_reload_conf()");
    await expect.poll(() => show(admin, name)).not.toBe(before);
    await sleep(100);
    try {
      await work();
    } finally {
      await admin.query("SET default_transaction_read_only = off");
      await admin.query(`ALTER SYSTEM RESET ${name}`);
      await admin.query("SELECT pg_reload_conf()");
      await expect.poll(() => withClient(server.url, (fresh) => show(fresh, name))).toBe(before);
      await sleep(100);
    }
  });
}

async function show(client: pg.Client, name: string): Promise<string> {
  return (await client.query(`SELECT current_setting('${name}') AS value`)).rows[0].value;
}
