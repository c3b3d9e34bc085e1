import { cpSync, existsSync, readdirSync, renameSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { StoreRefused } from "../../src/store/errors.ts";
import { openPostgresStore } from "../../src/store/postgres/open.ts";
import type { Store } from "../../src/store/store.ts";
import {
  findWrong,
  type MakeDatabase,
  type OpenedStore,
  openStore,
  type TestDatabase,
} from "../store-suite/database.ts";
import { by } from "../support/by.ts";
import { filledLine, officeLine } from "../support/office-line.ts";
import { otherProcess } from "../support/other-process.ts";
import { partnersOf } from "../support/partners.ts";
import { makePostgresDatabase, type TestPostgres } from "../support/postgres-database.ts";
import { PostgresProxy } from "../support/postgres-proxy.ts";
import { rawConnection } from "../support/sqlite-database.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { coloursIn, later, makeMovingDatabase, OTHER, STATEMENTS } from "../support/upgrades.ts";

const ADDITIVE = { additive: OTHER };
/** A database of this topupd with a partner, which no process has open. */
async function madeBy(makeDatabase: MakeDatabase): Promise<OpenedStore> {
  const opened = await openStore(makeDatabase);
  await partnersOf(opened.store).add("wallet", by(0));
  await opened.store.close();
  return opened;
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
    const next = later(ADDITIVE, { additive: "INSERT INTO colour VALUES (2, 'red');" });
    await expect(another({ migrations: next })).rejects.toThrow(/stop all services/);
    await old.close();
    await (await another({ migrations: next })).close();
  });

  test("refuses later sessions of the version before, which was cut off meanwhile", async () => {
    const { another, database } = await madeBy(makePostgresDatabase);
    const proxy = await PostgresProxy.start((database as TestPostgres).url);
    onTestFinished(() => proxy.close());
    const wishes = { timeZone: undefined, currencyExponent: undefined, connections: 4 };
    const open: TestDatabase["open"] = (options) => openPostgresStore({ ...wishes, ...options, url: proxy.url });
    const old = await openStore(() => ({ ...database, open }));
    proxy.refuse();
    const store = await another({ migrations: later(OTHER) });
    proxy.pass();
    await expect(namesIn(old.store)).rejects.toThrow("a newer topupd has upgraded the database");
    expect(await namesIn(store)).toEqual(["wallet"]);
    await old.store.close();
    await store.close();
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

test("topupd migrate says where the copy is, and what is refused", async () => {
  const { folder } = await filledLine();
  const moved = temporaryFolder();
  cpSync(folder, moved, { recursive: true });
  const line = officeLine({ folder: moved });
  line.migrations = later(OTHER);
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
