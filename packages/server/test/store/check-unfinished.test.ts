import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { StoreUnavailable } from "../../src/store/errors.ts";
import { openPostgresStore } from "../../src/store/postgres/open.ts";
import { checkDatabase } from "../../src/store/sqlite/check.ts";
import { Database } from "../../src/store/sqlite/database.ts";
import type { CheckEvent, Store } from "../../src/store/store.ts";
import { findWrong, openStore } from "../store-suite/database.ts";
import { makePostgresDatabase, type TestPostgres, withClient } from "../support/postgres-database.ts";
import { seededRandom } from "../support/random.ts";
import { temporaryFolder } from "../support/service.ts";
import { makeSqliteDatabase } from "../support/sqlite-database.ts";

/*
 * Damage is a finding, and whatever else keeps a check from its end is none: whoever is woken by a finding must not be
 * woken by a session that was ended.
 */

const UNFINISHED = expect.objectContaining({
  name: "StoreUnavailable",
  message: expect.stringMatching(/^the check was not finished: .+\. Set that right, and run it again$/),
});

/** Checks, and once it has begun lets something happen. */
async function checkMeanwhile(check: AsyncIterable<CheckEvent>, happen: () => Promise<unknown> | undefined) {
  const wrong: string[] = [];
  let events = 0;
  for await (const event of check) {
    events += 1;
    if (events === 1) await happen();
    if (event.kind === "wrong") wrong.push(event.what);
  }
  return wrong;
}

describe("in SQLite", () => {
  const failing = async (errcode: number) => {
    const path = join(temporaryFolder(), "topupd.db");
    const { store } = await openStore(() => makeSqliteDatabase(path));
    const view = new Database(path, { mustExist: true });
    onTestFinished(() => view.close());
    const prepare = view.prepare.bind(view);
    vi.spyOn(view, "prepare").mockImplementation((sql) => {
      if (sql.includes("retired_checkout")) throw Object.assign(new Error("as SQLite says it"), { errcode });
      return prepare(sql);
    });
    return checkMeanwhile(checkDatabase(view, store.provider, 1), () => undefined);
  };

  test.each([
    ["another process holds the database", 5],
    ["another process recovers it", 261],
    ["memory is short", 7],
    ["the disk is full", 13],
    ["a temporary file cannot be written", 778],
    ["the file cannot be opened", 14],
    ["a read of the disk that fails", 266],
    ["a read of the disk that gives a part", 522],
  ])("%s: the check was not finished, and nothing was found", async (_, errcode) => {
    await expect(failing(errcode)).rejects.toEqual(UNFINISHED);
  });

  test.each([
    ["a page that is damaged", 11],
    ["a file that is no database any more", 26],
  ])("%s is found", async (_, errcode) => {
    expect(await failing(errcode)).toContainEqual(expect.stringMatching(/^integrity: /));
  });
});

describe("in PostgreSQL", () => {
  /** Has the reading of a table fail. */
  const failing = async (code: string) => {
    const database = makePostgresDatabase();
    const { store } = await openStore(() => database);
    await database.tamper(`CREATE FUNCTION fail() RETURNS boolean LANGUAGE plpgsql STABLE AS
        $$ BEGIN RAISE EXCEPTION 'as PostgreSQL says it' USING ERRCODE = '${code}'; END $$;
      ALTER TABLE retired_checkout RENAME TO kept_elsewhere;
      CREATE VIEW retired_checkout AS SELECT * FROM kept_elsewhere WHERE fail()`);
    return findWrong(store);
  };

  test.each([
    ["another session holds a table", "55P03"],
    ["an operator breaks the question off", "57014"],
    ["the disk is full", "53100"],
    ["memory is short", "53200"],
  ])("%s: the check was not finished, and nothing was found", async (_, code) => {
    await expect(failing(code)).rejects.toEqual(UNFINISHED);
  });

  test.each([
    ["a page that is damaged", "XX001"],
    ["an index that is damaged", "XX002"],
    ["a page that the disk does not give", "58030"],
    ["a file of a table that is gone", "58P01"],
  ])("%s is found", async (_, code) => {
    expect(await failing(code)).toContainEqual(expect.stringMatching(/^integrity: PostgreSQL/));
  });

  test("a session that is ended: the check was not finished", async () => {
    const { database, store } = await openWithRole();
    const end = () =>
      database.read(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()`);
    await expect(checkMeanwhile(store.check(), end)).rejects.toEqual(UNFINISHED);
  });

  test.each([
    ["no connection left for the role", "CONNECTION LIMIT 0", "PostgreSQL has no connection left"],
    ["the role shut out", "NOLOGIN", "PostgreSQL does not let this user in"],
  ])("%s: the check was not finished, and no defect of topupd", async (_, limit, said) => {
    const { database, store, role } = await openWithRole();
    const checking = checkMeanwhile(store.check(), () => database.read(`ALTER ROLE ${role} ${limit}`));
    await expect(checking).rejects.toThrow(`the check was not finished: ${said}`);
    await expect(checking).rejects.toThrow(StoreUnavailable);
  });
});

/** A store of a role that holds to limits, as no superuser does. */
async function openWithRole(): Promise<{ database: TestPostgres; store: Store; role: string }> {
  const database = makePostgresDatabase();
  await (await openStore(() => database)).store.close();
  const name = new URL(database.url).pathname.slice(1);
  const role = `guest_of_${name}`;
  await withClient(database.url, async (client) => {
    await client.query(`CREATE ROLE ${role} LOGIN; GRANT CREATE ON DATABASE ${name} TO ${role};
      GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO ${role}`);
  });
  onTestFinished(async () => {
    await withClient(database.url, (client) => client.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`));
  });
  const url = new URL(database.url);
  url.username = role;
  const store = await openPostgresStore({
    ...{ timeZone: undefined, currencyExponent: undefined, connections: 2, clock: () => 1, random: seededRandom(1) },
    url: url.href,
    mustExist: true,
  });
  onTestFinished(() => store.close());
  return { database, store, role };
}
