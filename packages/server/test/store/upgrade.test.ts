import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, readdirSync, renameSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { StoreRefused } from "../../src/store/errors.ts";
import type { Store } from "../../src/store/store.ts";
import {
  findWrong,
  type MakeDatabase,
  type OpenedStore,
  type OpenOptions,
  openStore,
  type TestDatabase,
} from "../store-suite/database.ts";
import { by } from "../support/by.ts";
import { filledLine, officeLine } from "../support/office-line.ts";
import { otherProcess } from "../support/other-process.ts";
import { partnersOf } from "../support/partners.ts";
import { makePostgresDatabase, withClient } from "../support/postgres-database.ts";
import { makeSqliteDatabase, rawConnection } from "../support/sqlite-database.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const MIGRATIONS = fileURLToPath(new URL("../../src/store/migrations", import.meta.url));

/** Statements of a migration that only tests have, in the order in which they run. */
const STATEMENTS = [
  "CREATE TABLE colour (id INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT;",
  "INSERT INTO colour VALUES (1, 'blue');",
  "ALTER TABLE partner ADD COLUMN colour INTEGER;",
  "UPDATE partner SET colour = 1;",
];
const OTHER = STATEMENTS.join("\n");
const ADDITIVE = `--- additive\n${OTHER}`;

/** The migrations of a later topupd: the released ones, and these. */
function later(...texts: readonly string[]): URL {
  const folder = temporaryFolder();
  cpSync(MIGRATIONS, folder, { recursive: true });
  for (const [at, text] of texts.entries()) writeFileSync(join(folder, `000${at + 2}_later.sql`), text);
  return pathToFileURL(`${folder}/`);
}

/**
 * A file that moves each time that it is opened: in one process, the driver keeps a file open until its statements are
 * garbage.
 */
function makeMovingDatabase() {
  let folder = temporaryFolder();
  const moved = () => {
    const next = temporaryFolder();
    cpSync(folder, next, { recursive: true });
    return next;
  };
  const made = {
    path: () => join(folder, "topupd.db"),
    beforeOpening: (_path: string): unknown => undefined,
    /** Leaves the file of the stores that this process has had open. */
    move: () => {
      folder = moved();
    },
    open: async (options: OpenOptions) => {
      made.move();
      await made.beforeOpening(made.path());
      return makeSqliteDatabase(made.path()).open(options);
    },
    read: (query: string) => makeSqliteDatabase(join(moved(), "topupd.db")).read(query),
    tamper: (sql: string) => makeSqliteDatabase(join(moved(), "topupd.db")).tamper(sql),
  };
  return made;
}

/** A database of this topupd with a partner, which no process has open. */
async function madeBy(makeDatabase: MakeDatabase): Promise<OpenedStore> {
  const opened = await openStore(makeDatabase);
  await partnersOf(opened.store).add("wallet", by(0));
  await opened.store.close();
  return opened;
}

/** The colours of partners; undefined in a database of the version before. */
async function coloursIn({ read }: TestDatabase): Promise<unknown[] | undefined> {
  const had = await read("SELECT name FROM schema_migration ORDER BY number");
  const colours = await read("SELECT colour FROM partner").catch(() => undefined);
  const named = await read("SELECT name FROM colour").catch(() => undefined);
  expect([colours === undefined, named === undefined]).toEqual(had.length === 1 ? [true, true] : [false, false]);
  return colours?.map(({ colour }) => Number(colour));
}

async function namesIn(store: Store): Promise<string[]> {
  return (await partnersOf(store).list()).map(({ name }) => name);
}

describe.each([
  ["SQLite", makeMovingDatabase as MakeDatabase],
  ["PostgreSQL", makePostgresDatabase as MakeDatabase],
])("an upgrade on %s", (_, makeDatabase) => {
  test("of several versions is one step, and keeps the data", async () => {
    const { another, database } = await madeBy(makeDatabase);
    const store = await another({ migrations: later(OTHER, "INSERT INTO colour VALUES (2, 'red');") });
    expect(await namesIn(store)).toEqual(["wallet"]);
    expect(await coloursIn(database)).toEqual([1]);
    expect(await database.read("SELECT id FROM colour")).toHaveLength(2);
    await store.close();
  });

  test.each(STATEMENTS.map((_, at) => at))("that fails at step %d changes nothing, and works later", async (at) => {
    const { another, database } = await madeBy(makeDatabase);
    const broken = STATEMENTS.toSpliced(at + 1, 0, "INSERT INTO nowhere VALUES (1);").join("\n");
    // The failure also undoes the migration before.
    await expect(another({ migrations: later(OTHER, broken) })).rejects.toThrow();
    await expect(another({ migrations: later(broken) })).rejects.toThrow();
    expect(await coloursIn(database)).toBeUndefined();
    const old = await another({});
    expect(await namesIn(old)).toEqual(["wallet"]);
    expect(await findWrong(old)).toEqual([]);
    await old.close();
    await (await another({ migrations: later(OTHER) })).close();
    expect(await coloursIn(database)).toEqual([1]);
  });

  test("cannot be undone by an older version", async () => {
    const { another } = await madeBy(makeDatabase);
    await (await another({ migrations: later(OTHER) })).close();
    await expect(another({})).rejects.toThrow(/made by a newer topupd: use that, or restore .*before/);
  });
});

describe("an upgrade on PostgreSQL", () => {
  test("is refused while the version before serves and could not afterwards", async () => {
    const { another, database } = await madeBy(makePostgresDatabase);
    const old = await another({});
    await expect(another({ migrations: later(OTHER) })).rejects.toThrow(
      /stop all services and commands of topupd first/,
    );
    expect(await namesIn(old)).toEqual(["wallet"]);
    expect(await coloursIn(database)).toBeUndefined();
    await old.close();
    await (await another({ migrations: later(OTHER) })).close();
  });

  test("with additive migrations needs no stop of the version before", async () => {
    const { another, database } = await madeBy(makePostgresDatabase);
    const old = await another({});
    const store = await another({ migrations: later(ADDITIVE) });
    expect([await namesIn(old), await namesIn(store)]).toEqual([["wallet"], ["wallet"]]);
    expect(await coloursIn(database)).toEqual([1]);
    await store.close();
    const next = later(ADDITIVE, "--- additive\nINSERT INTO colour VALUES (2, 'red');");
    await expect(another({ migrations: next })).rejects.toThrow(/stop all services/);
    await old.close();
    await (await another({ migrations: next })).close();
  });

  test("with one migration that is not additive needs it", async () => {
    const { another } = await madeBy(makePostgresDatabase);
    const old = await another({});
    const migrations = later(ADDITIVE, "INSERT INTO colour VALUES (2, 'red');");
    await expect(another({ migrations })).rejects.toThrow(/stop all services/);
    await old.close();
  });
});

describe("an upgrade of a SQLite file", () => {
  async function made() {
    const moving = makeMovingDatabase();
    const { another } = await madeBy(() => moving);
    return { another, database: moving, copy: () => `${moving.path()}.before-0002` };
  }

  test("first writes a copy that the version before opens, and says where", async () => {
    const { copy, another, database } = await made();
    const copies: string[] = [];
    await (await another({ migrations: later(OTHER), onCopy: (name: string) => copies.push(name) })).close();
    expect(copies).toEqual([copy()]);
    expect(statSync(copy()).mode & 0o777).toBe(0o600);
    const refused = await another({}).catch((error: unknown) => error);
    expect(refused).toEqual(new StoreRefused(newer(copy())));
    renameSync(copy(), database.path());
    const old = await another({});
    expect([await namesIn(old), await findWrong(old)]).toEqual([["wallet"], []]);
    await old.close();
  });

  test("writes no copy of a new database, and none if nothing is pending", async () => {
    const { another, database } = await made();
    await (await another({})).close();
    const files = readdirSync(join(database.path(), ".."));
    expect(files.filter((name) => !/^topupd\.db(-shm|-wal)?$/.test(name))).toEqual([]);
  });

  test("replaces the copy, whole or not, that an earlier attempt has left", async () => {
    const { copy, another } = await made();
    for (const left of [copy(), `${copy()}.part`]) writeFileSync(left, "half");
    await (await another({ migrations: later(OTHER) })).close();
    expect(rawConnection(copy()).prepare("SELECT name FROM partner").all()).toEqual([{ name: "wallet" }]);
    expect(existsSync(`${copy()}.part`)).toBe(false);
  });

  test("is refused if the disk has no room for the copy", async () => {
    const { copy, another, database } = await made();
    // SQLite ignores what follows the last page.
    const { size } = statSync(database.path());
    database.beforeOpening = (path) => truncateSync(path, 2 ** 42);
    await expect(another({ migrations: later(OTHER) })).rejects.toThrow(/bytes free, and .* Nothing was changed$/);
    truncateSync(database.path(), size);
    expect(await coloursIn(database)).toBeUndefined();
    expect([existsSync(copy()), existsSync(`${copy()}.part`)]).toEqual([false, false]);
  });

  test("is refused while another process has it open", async () => {
    const { another, database } = await made();
    let other: ReturnType<typeof otherProcess> | undefined;
    database.beforeOpening = async (path) => {
      other ??= otherProcess(path);
      await other.ask("SELECT name FROM partner");
    };
    await expect(another({ migrations: later(OTHER) })).rejects.toThrow(/other processes have it open/);
    await other?.end();
    database.beforeOpening = async () => {};
    await (await another({ migrations: later(OTHER) })).close();
  });
});

const PROGRAM = fileURLToPath(new URL("../support/upgrading.ts", import.meta.url));

/** Another process that opens the database with these migrations. It is at that when the promise resolves. */
async function upgrading(address: string, migrations: URL): Promise<ChildProcess> {
  const args = ["--import", "tsx", PROGRAM, address, migrations.href];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  await once(child.stdout as NonNullable<ChildProcess["stdout"]>, "data");
  return child;
}

async function kill(child: ChildProcess): Promise<void> {
  const ended = child.exitCode === null && once(child, "exit");
  child.kill("SIGKILL");
  await ended;
}

/** The migration with a statement that takes long after one of its own. */
function hangingAfter(at: number, hanging: string): URL {
  return later(STATEMENTS.toSpliced(at + 1, 0, hanging).join("\n"));
}

describe("a process that is killed during an upgrade", () => {
  const steps = [-1, ...STATEMENTS.map((_, at) => at)];

  test.each(steps)("after step %d leaves the old SQLite database", { timeout: 120_000 }, async (at) => {
    const database = makeMovingDatabase();
    const { another } = await madeBy(() => database);
    database.move();
    const slow = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n;";
    const child = await upgrading(database.path(), hangingAfter(at, slow));
    // The migration begins when the copy has its name.
    await expect.poll(() => existsSync(`${database.path()}.before-0002`)).toBe(true);
    await sleep(100);
    await kill(child);
    await expectOld(database, another);
  });

  test.each(steps)("after step %d leaves the old PostgreSQL database", { timeout: 120_000 }, async (at) => {
    const database = makePostgresDatabase();
    const { another } = await madeBy(() => database);
    const child = await upgrading(database.url, hangingAfter(at, "SELECT pg_sleep(1);"));
    const sessions = (where: string) =>
      withClient(database.url, async (client) => {
        const mine = "datname = current_database() AND application_name = 'topupd'";
        return (await client.query(`SELECT pid FROM pg_stat_activity WHERE ${mine} AND ${where}`)).rowCount;
      });
    await expect.poll(() => sessions("wait_event = 'PgSleep'"), { interval: 20 }).toBe(1);
    await kill(child);
    await expect.poll(() => sessions("true")).toBe(0);
    await expectOld(database, another);
  });

  test.each([0, 20, 80])("at any time, here %d ms, leaves old or new", { timeout: 120_000 }, async (ms) => {
    const database = makeMovingDatabase();
    const { another } = await madeBy(() => database);
    database.move();
    const child = await upgrading(database.path(), later(OTHER));
    await sleep(ms);
    await kill(child);
    if ((await coloursIn(database)) === undefined) await expectOld(database, another);
    else await (await another({ migrations: later(OTHER) })).close();
  });
});

/** The version before opens it and finds it in order; then the upgrade succeeds. */
async function expectOld(database: TestDatabase, another: OpenedStore["another"]): Promise<void> {
  expect(await coloursIn(database)).toBeUndefined();
  const old = await another({});
  expect([await namesIn(old), await findWrong(old)]).toEqual([["wallet"], []]);
  await old.close();
  const store = await another({ migrations: later(OTHER) });
  expect(await coloursIn(database)).toEqual([1]);
  expect(await findWrong(store)).toEqual([]);
  await store.close();
}

test("topupd migrate says where the copy is, and what is refused", async () => {
  const { folder } = await filledLine();
  const moved = temporaryFolder();
  cpSync(folder, moved, { recursive: true });
  const line = officeLine({ folder: moved });
  line.migrations = later(OTHER);
  expect(await line.run("partner", "list")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("topupd migrate"),
  });
  const other = otherProcess(join(moved, "topupd.db"));
  await other.ask("SELECT name FROM partner");
  const refused = {
    code: 1,
    stdout: "",
    stderr: expect.stringContaining("stop all services and commands of topupd first"),
  };
  expect(await line.run("migrate")).toEqual(refused);
  await other.end();
  expect(await line.run("migrate")).toMatchObject({
    ...{ code: 0, stdout: expect.stringMatching(/0002_later.sql +applied/) },
    stderr: `Before the upgrade, the database was copied to ${join(moved, "topupd.db.before-0002")}.\n`,
  });
});

function newer(copy: string): string {
  return `the database was made by a newer topupd: use that, or restore ${copy}`;
}
