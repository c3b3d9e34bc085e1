import type pg from "pg";
import { beforeAll, describe, expect, test } from "vitest";
import { StoreRefused, StoreUnavailable } from "../../../src/store/errors.ts";
import { openPostgresStore } from "../../../src/store/postgres/open.ts";
import { Database } from "../../../src/store/postgres/session/database.ts";
import { RAM_NET, RAM_TV, SITA_NET } from "../../store-suite/provider.ts";
import { withClient } from "../../support/postgres-database.ts";
import { type PostgresServer, startPostgres } from "../../support/postgres-server.ts";
import { seededRandom } from "../../support/random.ts";
import { openFaultyProvider, sleep, timed, untilWell } from "./faulty-provider.ts";

const CONNECTIONS = 20;

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres({ max_connections: String(CONNECTIONS) });
  return () => server.close();
});

describe("a server that serves, but not as it should", () => {
  test("takes no writes: top-ups are unavailable and the service is not ready, until it does", async (context) => {
    const { store, command } = await openFaultyProvider({ ...context, server: server.url });
    const recorded = command(RAM_NET, "NET-1M");
    await store.settleTopUp(recorded);
    await withSetting("default_transaction_read_only = on", async () => {
      const { result } = await timed(() => store.settleTopUp(command(SITA_NET, "NET-1M")));
      expect(result).toBeInstanceOf(StoreUnavailable);
      expect(String(result)).toContain("read-only");
      await expect(store.ping()).rejects.toThrow(StoreUnavailable);
      expect(await store.findTransaction(recorded.checkoutId)).toMatchObject({ txnId: recorded.txnId });
    });
    await untilWell(() => store.ping());
    expect(await store.settleTopUp(command(SITA_NET, "NET-1M"))).toMatchObject({ kind: "recorded" });
  });

  test("ends all sessions: no request fails twice, and none much later", async (context) => {
    const { store, command, otherSession } = await openFaultyProvider({ ...context, server: server.url });
    const other = await otherSession();
    await Promise.all(Array.from({ length: 4 }, () => store.ping()));
    const all = "pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()";
    expect((await other.query(`SELECT pg_terminate_backend(pid) FROM ${all}`)).rowCount).toBe(5);
    const twice = await Promise.all(
      Array.from({ length: 8 }, async () => [await timed(() => store.ping()), await timed(() => store.ping())]),
    );
    for (const [first, second] of twice) {
      if (first?.result instanceof Error) expect(first.result).toBeInstanceOf(StoreUnavailable);
      expect(second?.result).toBeUndefined();
    }
    expect(await store.settleTopUp(command(SITA_NET, "NET-1M"))).toMatchObject({ kind: "recorded" });
  });

  test("has no connection left: requests are unavailable, and go on as soon as it has", async (context) => {
    const { store, command, otherSession } = await openFaultyProvider({ ...context, server: server.url });
    const other = await otherSession();
    await other.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
    );
    const occupiers = await Promise.all(Array.from({ length: CONNECTIONS }, () => occupy(server.url)));
    const { ms, result } = await timed(() => store.settleTopUp(command(SITA_NET, "NET-1M")));
    expect(result).toBeInstanceOf(StoreUnavailable);
    expect(String(result)).toContain("max_connections");
    expect(ms).toBeLessThan(3_000);
    await Promise.all(occupiers.map((leave) => leave()));
    expect(await untilWell(() => store.settleTopUp(command(SITA_NET, "NET-1M")))).toBeLessThan(3_000);
  });

  test("gives up its standby: what it then commits is not acknowledged, and a repetition replays it", async (context) => {
    const { store, command, otherSession } = await openFaultyProvider({ ...context, server: server.url });
    const other = await otherSession();
    const sent = command(SITA_NET, "NET-1M");
    await withSetting("synchronous_standby_names = 'nobody'", async () => {
      const settling = timed(() => store.settleTopUp(sent));
      const waiting = "pg_stat_activity WHERE wait_event = 'SyncRep' AND datname = current_database()";
      await expect
        .poll(async () => (await other.query(`SELECT pg_cancel_backend(pid) FROM ${waiting}`)).rowCount)
        .toBe(1);
      expect((await settling).result).toBeInstanceOf(StoreUnavailable);
    });
    expect(await store.findTransaction(sent.checkoutId)).toMatchObject({ txnId: sent.txnId });
    expect(await store.settleTopUp(sent)).toMatchObject({ kind: "replayed" });
  });

  test("has no standby: it takes two connections and not all, and is over when the standby is back", async (context) => {
    const { store, command, otherSession } = await openFaultyProvider({ ...context, server: server.url });
    const other = await otherSession();
    const waiting = async () =>
      (await other.query("SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND datname = current_database()"))
        .rowCount;
    const sent = [command(SITA_NET, "NET-1M"), command(RAM_NET, "NET-1M")];
    const begun = Date.now();
    await withSetting("synchronous_standby_names = 'nobody'", async () => {
      for (const each of sent) {
        const { result } = await timed(() => store.settleTopUp(each));
        expect(result).toBeInstanceOf(StoreUnavailable);
      }
      for (let attempt = 0; attempt < 5; attempt += 1) {
        const { ms, result } = await timed(() => store.settleTopUp(command(RAM_TV, "TV-1M")));
        expect(String(result)).toContain("SyncRep");
        expect(ms).toBeLessThan(1_000);
      }
      await expect(store.access.recordUses(new Map())).rejects.toThrow(/standby/);
      await expect(store.ping()).rejects.toThrow(/standby/);
      expect(await waiting()).toBe(sent.length);
      // What the standby has to confirm yet is on record nowhere, and will be.
      // By whichever clock topupd goes: PostgreSQL's may be ahead or behind.
      for (const now of [Date.now(), Date.now() - 3_600_000, Date.now() + 3_600_000]) {
        expect(await store.search.isBeingWritten(now, now)).toBe(true);
        expect(await store.search.isBeingWritten(now - (Date.now() - begun) - 1_000, now)).toBe(false);
      }
      expect(await store.findTransaction(sent[0]?.checkoutId ?? "")).toBeUndefined();
    });
    await expect.poll(waiting).toBe(0);
    await store.ping();
    expect(await store.search.isBeingWritten(Date.now(), Date.now())).toBe(false);
    for (const each of sent) expect(await store.settleTopUp(each)).toMatchObject({ kind: "replayed" });
    expect(await store.settleTopUp(command(RAM_TV, "TV-1M"))).toMatchObject({ kind: "recorded" });
  });

  test("has no standby, for a user who serves as another: it is noticed as well", async (context) => {
    const { url, otherSession } = await openFaultyProvider({ ...context, server: server.url });
    const other = await otherSession();
    await other.query(`CREATE ROLE servers; GRANT ALL ON ALL TABLES IN SCHEMA public TO servers;
      CREATE ROLE server_1 LOGIN IN ROLE servers; ALTER ROLE server_1 SET role = 'servers'`);
    const database = new Database({ url: Object.assign(new URL(url), { username: "server_1" }).href, connections: 4 });
    context.onTestFinished(() => database.close());
    const text = "INSERT INTO retired_checkout VALUES (0, gen_random_uuid()::text, 0)";
    const write = () => timed(() => database.transact([], (_, session) => session.commit([[{ name: "write", text }]])));
    await withSetting("synchronous_standby_names = 'nobody'", async () => {
      for (const { result } of await Promise.all([write(), write()])) expect(result).toBeInstanceOf(StoreUnavailable);
      await expect(database.verifyCommits()).rejects.toThrow(/standby/);
    });
    await expect.poll(() => database.verifyCommits().then(String, String)).toBe("undefined");
  });

  test("stops flushing to disk while it runs: nothing is acknowledged until it does again", async (context) => {
    const { store, command } = await openFaultyProvider({ ...context, server: server.url });
    await withSetting("fsync = off", async () => {
      await expect.poll(() => store.ping().then(String, String), { timeout: 5_000 }).toContain("cannot be reached");
      const { result } = await timed(() => store.settleTopUp(command(SITA_NET, "NET-1M")));
      expect(String(result)).toContain("fsync=off");
    });
    await untilWell(() => store.ping());
    expect(await store.settleTopUp(command(SITA_NET, "NET-1M"))).toMatchObject({ kind: "recorded" });
  });

  test("lets nobody in any more: requests are unavailable, and no defect", async (context) => {
    const { store, otherSession, url } = await openFaultyProvider({ ...context, server: server.url });
    const other = await otherSession();
    const name = new URL(url).pathname.slice(1);
    await asAdmin((admin) => admin.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`));
    await other.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
    );
    await sleep(100);
    await expect(store.ping()).rejects.toThrow(StoreUnavailable);
    await expect(store.findConnection(SITA_NET)).rejects.toThrow(StoreUnavailable);
    await asAdmin((admin) => admin.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`));
    expect(await untilWell(() => store.ping())).toBeLessThan(3_000);
  });
});

describe("opening says what is wrong, and no password", () => {
  test("where the password is wrong, the user has no rights or there is no such database or host", async () => {
    await asAdmin(async (admin) => {
      await admin.query("CREATE ROLE guest LOGIN PASSWORD 'right'");
      // Tests have no password; others than their user need one from now on.
      const rules = "host all postgres 127.0.0.1/32 trust\nhost all all 127.0.0.1/32 scram-sha-256";
      const { rows } = await admin.query("SHOW hba_file");
      await admin.query(`COPY (SELECT regexp_split_to_table('${rules}', E'\\n')) TO '${rows[0].hba_file}'`);
      await admin.query("SELECT pg_reload_conf()");
      await expect.poll(() => refusal({ username: "guest", password: "s3cret-wrong" })).toContain("password");
    });
    expect(await refusal({ username: "guest", password: "s3cret-wrong" })).toBe(
      'StoreRefused: PostgreSQL does not let this user in (password authentication failed for user "guest")',
    );
    expect(await refusal({ username: "guest", password: "right" })).toMatch(/^StoreRefused: .*lacks a privilege/);
    expect(await refusal({ pathname: "/nowhere" })).toMatch(/^StoreRefused: .*no database of this name.*createdb/);
    expect(await refusal({ hostname: "nowhere.invalid" })).toMatch(/^StoreUnavailable: .*nowhere\.invalid/);
    expect(await refusal({ port: "1" })).toMatch(/^StoreUnavailable: .*ECONNREFUSED 127\.0\.0\.1:1$/);
  });

  test("where the database has another encoding, or tables of others", async () => {
    await asAdmin((admin) => admin.query("CREATE DATABASE ascii TEMPLATE template0 ENCODING 'SQL_ASCII'"));
    expect(await refusal({ pathname: "/ascii" })).toMatch(/^StoreRefused: .*SQL_ASCII.*UTF8/);
    await asAdmin((admin) => admin.query("CREATE DATABASE others"));
    const url = new URL(server.url);
    url.pathname = "/others";
    await withClient(url.href, (client) => client.query("CREATE TABLE invoice (id integer)"));
    expect(await refusal({ pathname: "/others" })).toMatch(/^StoreRefused: .*not those of topupd/);
  });

  test("where PostgreSQL does not keep what it commits", async () => {
    await withSetting("fsync = off", async () => {
      expect(await refusal({})).toMatch(/^StoreRefused: .*fsync=off/);
    });
  });
});

/** What opening fails with. */
async function refusal(changes: Partial<Record<"username" | "password" | "hostname" | "port" | "pathname", string>>) {
  const url = Object.assign(new URL(server.url), changes);
  const options = { connections: 1, timeZone: undefined, currencyExponent: undefined, clock: () => 0 };
  const { result } = await timed(() => openPostgresStore({ ...options, url: url.href, random: seededRandom(1) }));
  expect([StoreRefused, StoreUnavailable]).toContain((result as Error).constructor);
  expect(String(result)).not.toContain("s3cret");
  return String(result);
}

function asAdmin<Result>(work: (admin: pg.Client) => Promise<Result>): Promise<Result> {
  return withClient(server.url, work);
}

/** Has a setting for a while, and waits until it reaches sessions. */
async function withSetting(setting: string, work: () => Promise<void>): Promise<void> {
  await asAdmin(async (admin) => {
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
      await expect.poll(() => asAdmin((fresh) => show(fresh, name))).toBe(before);
    }
  });
}

async function show(client: pg.Client, name: string): Promise<string> {
  return (await client.query(`SELECT current_setting('${name}') AS value`)).rows[0].value;
}

/** Takes a connection, if there is one left. @returns what gives it back. */
async function occupy(url: string): Promise<() => Promise<void>> {
  let leave = () => {};
  const gone = new Promise<void>((resolve) => {
    leave = resolve;
  });
  let occupied: Promise<void> = gone;
  await new Promise<void>((resolve) => {
    occupied = withClient(url, () => {
      resolve();
      return gone;
    }).catch(() => resolve());
  });
  return () => {
    leave();
    return occupied;
  };
}
