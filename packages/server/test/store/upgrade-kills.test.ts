import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { countRows, findWrong, type OpenOptions, openStore, type TestDatabase } from "../store-suite/database.ts";
import { withClient } from "../support/postgres-database.ts";
import { FIXTURES, postgresOf, readFixture, writeSqliteFixture } from "../support/released.ts";
import { coloursIn, later, makeMovingDatabase, OTHER, STATEMENTS } from "../support/upgrades.ts";

/** The newest release. */
const RELEASE = readdirSync(FIXTURES).sort().at(-1) ?? "";
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
  const steps = [1, STATEMENTS.length - 1];

  test.each(steps)("after step %d leaves the old SQLite database", { timeout: 120_000 }, async (at) => {
    const database = makeMovingDatabase();
    writeSqliteFixture(RELEASE, database.path());
    const slow = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n;";
    const child = await upgrading(database.path(), hangingAfter(at, slow));
    // The migration begins when the copy has its name.
    await expect.poll(() => existsSync(`${database.path()}.before-0002`)).toBe(true);
    await sleep(100);
    await kill(child);
    await expectOld(database);
  });

  test.each(steps)("after step %d leaves the old PostgreSQL database", { timeout: 120_000 }, async (at) => {
    const database = await postgresOf(readFixture(RELEASE));
    const child = await upgrading(database.url, hangingAfter(at, "SELECT pg_sleep(1);"));
    const sessions = (where: string) =>
      withClient(database.url, async (client) => {
        const mine = "datname = current_database() AND application_name = 'topupd'";
        return (await client.query(`SELECT pid FROM pg_stat_activity WHERE ${mine} AND ${where}`)).rowCount;
      });
    await expect.poll(() => sessions("wait_event = 'PgSleep'"), { interval: 20 }).toBe(1);
    await kill(child);
    await expect.poll(() => sessions("true")).toBe(0);
    await expectOld(database);
  });

  test.each([20, 80])("at any time, here %d ms, leaves old or new", { timeout: 120_000 }, async (ms) => {
    const database = makeMovingDatabase();
    writeSqliteFixture(RELEASE, database.path());
    const child = await upgrading(database.path(), later(OTHER));
    await sleep(ms);
    await kill(child);
    if ((await coloursIn(database)) === undefined) await expectOld(database);
    else await expectNew(database);
  });
});

/** The version before opens it and finds it in order; then the upgrade succeeds. */
async function expectOld(database: TestDatabase): Promise<void> {
  expect(await coloursIn(database)).toBeUndefined();
  await expectWhole(database, {});
  await expectNew(database);
}

async function expectNew(database: TestDatabase): Promise<void> {
  await expectWhole(database, { migrations: later(OTHER) });
  expect(new Set(await coloursIn(database))).toEqual(new Set([1]));
}

async function expectWhole(database: TestDatabase, options: Partial<OpenOptions>): Promise<void> {
  const opened = await openStore(() => database, options);
  expect(await findWrong(opened.store)).toEqual([]);
  await opened.store.close();
  for (const [table, count] of Object.entries(readFixture(RELEASE).counts))
    expect(await countRows(opened, table), table).toBe(count);
}
