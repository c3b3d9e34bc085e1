import { expect, onTestFinished, test } from "vitest";
import { StoreRefused, StoreUnavailable } from "../../../src/store/errors.ts";
import { openPostgresStore } from "../../../src/store/postgres/open.ts";
import { withOwnSession } from "../../../src/store/postgres/session/database.ts";
import type { Store } from "../../../src/store/store.ts";
import { findWrong, openStore } from "../../store-suite/database.ts";
import { expectRecorded, GITA_NET, openProvider, RAM_TV, SITA_NET } from "../../store-suite/provider.ts";
import { makePostgresDatabase, withClient } from "../../support/postgres-database.ts";
import { seededRandom } from "../../support/random.ts";

/** What operators set for reasons of their own, and what would make statements mean something else. */
const ODD = [
  "array_nulls = off",
  "bytea_output = 'escape'",
  "client_encoding = 'LATIN1'",
  "client_min_messages = 'error'",
  "datestyle = 'SQL, DMY'",
  "default_transaction_deferrable = on",
  "default_transaction_isolation = 'serializable'",
  "enable_bitmapscan = off",
  "enable_indexonlyscan = off",
  "enable_indexscan = off",
  "enable_nestloop = off",
  "enable_sort = off",
  "extra_float_digits = -15",
  "idle_session_timeout = '300ms'",
  "intervalstyle = 'iso_8601'",
  "lock_timeout = '1ms'",
  "plan_cache_mode = 'force_generic_plan'",
  "quote_all_identifiers = on",
  "row_security = off",
  "standard_conforming_strings = off",
  "statement_timeout = '50ms'",
  "synchronous_commit = off",
  "transform_null_equals = on",
];

function makeOddDatabase() {
  const database = makePostgresDatabase();
  const name = new URL(database.url).pathname.slice(1);
  const set = (setting: string) => database.read(`ALTER DATABASE ${name} SET ${setting}`);
  return { ...database, set };
}

test("a database with odd settings keeps everything as it was meant", async () => {
  const database = makeOddDatabase();
  // Tables first: the settings are for the sessions that come after.
  await openStore(() => database);
  for (const setting of ODD) await database.set(setting);
  const { store, command } = await openProvider(() => database);
  const free = { udf1: "NULL", udf2: 'खेल 🎬 {"\\,' };
  const transaction = expectRecorded(await store.settleTopUp(command(SITA_NET, "NET-1M", free)));
  expect(await store.findTransaction(transaction.checkoutId)).toMatchObject(free);
  expectRecorded(await store.settleTopUp(command(RAM_TV, "TV-1M")));
  const gita = await store.findConnection(GITA_NET);
  expect(gita?.profile.mobile).toBeUndefined();
  expect(gita?.connection?.segment).toBeUndefined();
  expect(await findWrong(store)).toEqual([]);
});

test("what a session promises does not follow the server's settings as they change", async () => {
  const database = makePostgresDatabase();
  await openStore(() => database);
  await withOwnSession(database.url, "serving", async (session) => {
    const sources = await session.ask<{ name: string; source: string }>(
      `SELECT name, source FROM pg_settings WHERE name IN ('synchronous_commit', 'client_min_messages', 'array_nulls',
         'statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout', 'default_transaction_isolation',
         'default_transaction_deferrable', 'row_security', 'enable_indexscan', 'enable_nestloop') ORDER BY name`,
    );
    expect(sources.map(({ source }) => source)).toEqual(Array.from({ length: 11 }, () => "session"));
  });
});

test("rows that a policy hides are not told to be missing: nothing is told", async () => {
  const database = makePostgresDatabase();
  const { store: owner, command } = await openProvider(() => database);
  const sent = command(SITA_NET, "NET-1M");
  expectRecorded(await owner.settleTopUp(sent));
  const guest = await openAsGuest(database.url);
  expect(await guest.findTransaction(sent.checkoutId)).toMatchObject({ txnId: sent.txnId });
  await database.read("ALTER TABLE top_up ENABLE ROW LEVEL SECURITY");
  await expect(guest.findTransaction(sent.checkoutId)).rejects.toThrow(StoreUnavailable);
  await expect(guest.findTransaction(sent.checkoutId)).rejects.toThrow(/lacks a privilege .*row-level security/);
  await expect(guest.concludeCheckout(sent.checkoutId)).rejects.toThrow(StoreUnavailable);
  expect(await owner.findTransaction(sent.checkoutId)).toMatchObject({ txnId: sent.txnId });
});

test("a database in which triggers do not fire is refused: nobody would hear of revoked tokens", async () => {
  const database = makeOddDatabase();
  await openStore(() => database);
  await database.set("session_replication_role = 'replica'");
  const again = database.open({ clock: () => 1, random: seededRandom(1) });
  await expect(again).rejects.toThrow(StoreRefused);
  await expect(again).rejects.toThrow(/session_replication_role is replica/);
});

test("a table that a crash would empty is refused", async () => {
  const database = makePostgresDatabase();
  await openStore(() => database);
  await database.read("ALTER TABLE top_up SET UNLOGGED");
  const again = database.open({ clock: () => 1, random: seededRandom(1) });
  await expect(again).rejects.toThrow(StoreRefused);
  await expect(again).rejects.toThrow(/the table top_up is UNLOGGED/);
});

test("what an extension has put into the schema is no business of topupd's, but a rule is", async () => {
  const database = makePostgresDatabase();
  await database.open({ clock: () => 1, random: seededRandom(1) }).then((store) => store.close());
  await database.read("DROP SCHEMA public CASCADE; CREATE SCHEMA public");
  await database.read(`CREATE TABLE spatial (id integer PRIMARY KEY CHECK (id > 0)); ALTER EXTENSION plpgsql ADD TABLE spatial;
    CREATE FUNCTION trgm() RETURNS integer LANGUAGE sql AS 'SELECT 1'; ALTER EXTENSION plpgsql ADD FUNCTION trgm()`);
  const { store } = await openStore(() => database);
  expect(await findWrong(store)).toEqual([]);
  await database.read("CREATE RULE nothing AS ON INSERT TO reversal DO INSTEAD NOTHING");
  expect(await findWrong(store)).toEqual([expect.stringContaining("not known: rule reversal: nothing")]);
});

test("tables in a schema that needs quotes are found, and are in order", async () => {
  const database = makePostgresDatabase();
  const url = new URL(database.url);
  url.searchParams.set("options", '-c search_path="Top-Up"');
  await database.open({ clock: () => 1, random: seededRandom(1) }).then((store) => store.close());
  await database.read('CREATE SCHEMA "Top-Up"');
  const opened = await openStore(() => ({
    ...database,
    open: (options) =>
      openPostgresStore({
        ...{ timeZone: undefined, currencyExponent: undefined, connections: 2 },
        ...options,
        url: url.href,
      }),
  }));
  expect(await findWrong(opened.store)).toEqual([]);
  const [row] = await database.read(`SELECT count(*) AS count FROM "Top-Up".schema_migration`);
  expect(Number(row?.["count"])).toBe(1);
});

test("a schema of the user's own, made later, does not hide the tables that there are", async () => {
  const database = makePostgresDatabase();
  await openStore(() => database);
  const [user] = await database.read("SELECT current_user AS name");
  await database.read(`CREATE SCHEMA ${String(user?.["name"])}`);
  const again = database.open({ clock: () => 1, random: seededRandom(1) });
  await expect(again).rejects.toThrow(StoreRefused);
  await expect(again).rejects.toThrow(/in another schema/);
});

test("a schema that is not there is said to be missing", async () => {
  const database = makePostgresDatabase();
  const url = new URL(database.url);
  url.searchParams.set("options", "-c search_path=nowhere");
  await openStore(() => database);
  const opening = openPostgresStore({
    ...{ timeZone: undefined, currencyExponent: undefined, connections: 2, clock: () => 1, random: seededRandom(1) },
    url: url.href,
  });
  await expect(opening).rejects.toThrow(/the schema of search_path is not there/);
});

test("a user who may not make schemas serves, and is told by check what was not compared", async () => {
  const database = makePostgresDatabase();
  const { store: owner } = await openProvider(() => database);
  await owner.close();
  const guest = await openAsGuest(database.url);
  const events: string[] = [];
  for await (const event of guest.check()) events.push(`${event.kind} ${event.what}`);
  expect(events).toContainEqual(expect.stringContaining("NOT compared"));
  expect(events.filter((event) => event.startsWith("wrong"))).toEqual([]);
});

/** The store, for a user who owns none of it. */
async function openAsGuest(owners: string): Promise<Store> {
  const role = `guest_${Math.random().toString(36).slice(2)}`;
  await withClient(owners, (client) =>
    client.query(
      `CREATE ROLE ${role} LOGIN; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO ${role}`,
    ),
  );
  const url = new URL(owners);
  url.username = role;
  const guest = await openPostgresStore({
    ...{ timeZone: undefined, currencyExponent: undefined, connections: 2, clock: () => 1, random: seededRandom(1) },
    url: url.href,
    mustExist: true,
  });
  onTestFinished(async () => {
    await guest.close();
    await withClient(owners, (client) => client.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`));
  });
  return guest;
}
