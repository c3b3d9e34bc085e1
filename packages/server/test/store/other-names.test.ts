import { copyFileSync, existsSync, linkSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { StoreRefused } from "../../src/store/errors.ts";
import { openSqliteStore } from "../../src/store/sqlite/open.ts";
import { isMountPoint } from "../../src/store/sqlite/other-names.ts";
import { by } from "../support/by.ts";
import { commandLine } from "../support/command-line.ts";
import { otherProcess } from "../support/other-process.ts";
import { seededRandom } from "../support/random.ts";
import { START, temporaryFolder } from "../support/service.ts";

function open(path: string) {
  const none = { timeZone: undefined, currencyExponent: undefined };
  return openSqliteStore({ path, ...none, clock: () => START, random: seededRandom(1) });
}

/** A database that nobody has open, made by a process that has ended: this one has never had it open. */
async function madeElsewhere(): Promise<{ folder: string; path: string }> {
  const { folder, mustRun } = commandLine();
  const path = join(folder, "topupd.db");
  await mustRun("partner", "add", "Wallet", "--database", `sqlite:${path}`);
  return { folder, path };
}

const COUNT = "SELECT count(*) AS count FROM partner";

describe("a database that another process has open", () => {
  test("by another name is refused, and nothing is made beside that name", async () => {
    const { folder, path } = await madeElsewhere();
    const second = join(folder, "second.db");
    linkSync(path, second);
    await otherProcess(path).ask(COUNT);
    expect(() => open(second)).toThrow(StoreRefused);
    expect(() => open(second)).toThrow("second.db has a second name, a hard link");
    expect([existsSync(`${second}-wal`), existsSync(`${second}-shm`)]).toEqual([false, false]);
  }, 20_000);

  test("by another name is refused though log and index of a process that crashed are beside this one", async () => {
    const { folder, path } = await madeElsewhere();
    mkdirSync(join(folder, "second"));
    const second = join(folder, "second", "topupd.db");
    linkSync(path, second);
    await otherProcess(path).ask(COUNT);
    for (const suffix of ["-wal", "-shm"]) copyFileSync(path + suffix, second + suffix);
    expect(() => open(second)).toThrow("a second name, a hard link");
  }, 20_000);

  test.each(["-wal", "-shm"])(
    "and whose %s was removed is refused",
    async (suffix) => {
      const { path } = await madeElsewhere();
      const other = otherProcess(path);
      await other.ask(COUNT);
      rmSync(path + suffix);
      expect(() => open(path)).toThrow("by another name, or its -wal or -shm was removed");
      expect(existsSync(path + suffix)).toBe(false);
      expect(await other.ask(COUNT)).toEqual([{ count: 1 }]);
    },
    20_000,
  );

  test("for a moment, as those have that begin at the same time, is waited for", async () => {
    const { path } = await madeElsewhere();
    const other = otherProcess(path, { endsAfterMs: 500 });
    await other.ask("PRAGMA locking_mode = EXCLUSIVE");
    await other.ask(COUNT);
    expect(existsSync(`${path}-shm`)).toBe(false);
    const store = open(path);
    expect(await store.listPartners()).toHaveLength(1);
    await store.close();
  });

  test("by the same name is opened beside it", async () => {
    const { path } = await madeElsewhere();
    const other = otherProcess(path);
    await other.ask(COUNT);
    const store = open(path);
    await store.addPartner("Second", by(START));
    expect(await other.ask(COUNT)).toEqual([{ count: 2 }]);
    await store.close();
  });
});

test("several processes that open a database at once all do", async () => {
  const { folder, path } = await madeElsewhere();
  const lists = Array.from({ length: 6 }, () =>
    commandLine({ folder }).run("partner", "list", "--database", `sqlite:${path}`),
  );
  for (const { code, stderr } of await Promise.all(lists)) expect(code, stderr).toBe(0);
}, 40_000);

test("a database that has a second name is refused though nobody has it open: two could begin at once", async () => {
  const { folder, path } = await madeElsewhere();
  const second = join(folder, "second.db");
  linkSync(path, second);
  expect(() => open(path)).toThrow("a second name, a hard link");
  rmSync(second);
  const store = open(path);
  expect(await store.listPartners()).toHaveLength(1);
  await store.close();
});

test("a log that a crash has left without its index is taken up", async () => {
  const { path } = await madeElsewhere();
  const other = otherProcess(path);
  await other.ask(
    "INSERT INTO partner (name, status, created_at) SELECT 'In the log', status, created_at FROM partner",
  );
  const crashed = join(temporaryFolder(), "topupd.db");
  for (const suffix of ["", "-wal"]) copyFileSync(path + suffix, crashed + suffix);
  const store = open(crashed);
  expect((await store.listPartners()).map(({ name }) => name)).toContain("In the log");
  await store.close();
});

test("a file that is mounted by itself is told from one whose folder is", () => {
  const mounts = [
    "22 27 0:21 / /proc rw,relatime - proc proc rw",
    "609 600 8:1 /srv/data /var/lib/topupd rw,relatime - ext4 /dev/sda1 rw",
    "610 600 8:1 /srv/topupd.db /data/my\\040provider/topupd.db rw,relatime - ext4 /dev/sda1 rw",
    "",
  ].join("\n");
  expect(isMountPoint("/data/my provider/topupd.db", mounts)).toBe(true);
  for (const path of [
    "/var/lib/topupd/topupd.db",
    "/data/my provider/topupd.db-wal",
    "/data/my\\040provider/topupd.db",
  ])
    expect(isMountPoint(path, mounts)).toBe(false);
  expect(isMountPoint("/data/topupd.db", "")).toBe(false);
});
