import { copyFileSync, cpSync, linkSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { join, relative } from "node:path";
import { describe, expect, test } from "vitest";
import { StoreUnavailable } from "../../src/store/errors.ts";
import { openStore } from "../store-suite/database.ts";
import { openProvider, SITA_NET } from "../store-suite/provider.ts";
import { by } from "../support/by.ts";
import { otherProcess } from "../support/other-process.ts";
import { START, temporaryFolder } from "../support/service.ts";
import { makeSqliteDatabase, makeThreadedDatabase, rawConnection } from "../support/sqlite-database.ts";

const WAYS: readonly (readonly [string, (path: string) => void])[] = [
  ["removed", (path) => rmSync(path)],
  ["moved away", (path) => renameSync(path, `${path}.old`)],
  [
    "replaced by a backup",
    (path) => {
      copyFileSync(path, `${path}.backup`);
      renameSync(`${path}.backup`, path);
    },
  ],
  ["separated from its log", (path) => rmSync(`${path}-wal`)],
  ["separated from the index of its log", (path) => rmSync(`${path}-shm`)],
];

test.each(WAYS)("a database whose file was %s records nothing more, and says that it is not ready", async (_, move) => {
  const path = join(temporaryFolder(), "topupd.db");
  const { store, command } = await openProvider(() => makeSqliteDatabase(path));
  expect((await store.settleTopUp(command(SITA_NET, "NET-1M"))).kind).toBe("recorded");
  await store.ping();
  move(path);
  await expect(store.settleTopUp(command(SITA_NET, "NET-1M"))).rejects.toThrow(StoreUnavailable);
  await expect(store.ping()).rejects.toThrow("moved, replaced or removed");
});

const COUNT = "SELECT count(*) AS count FROM top_up";

/** A store with top-ups that are in the log alone, whose file keeps another name wherever it goes. */
async function openAndMove(make: typeof makeSqliteDatabase, move: (path: string) => void) {
  const path = join(temporaryFolder(), "topupd.db");
  const { store, command } = await openProvider(() => make(path));
  for (let made = 0; made < 3; made += 1)
    expect((await store.settleTopUp(command(SITA_NET, "NET-1M"))).kind).toBe("recorded");
  linkSync(path, `${path}.open`);
  const log = `${path}-wal`;
  copyFileSync(log, `${path}.log`);
  move(path);
  return { store, log, open: `${path}.open`, logBefore: readFileSync(`${path}.log`) };
}

test.each(
  WAYS.slice(0, 3).flatMap(([how, move]) => [
    [how, "a process", makeSqliteDatabase, move] as const,
    [how, "a process with a settling thread", makeThreadedDatabase, move] as const,
  ]),
)("the log of a database whose file was %s is left as it is when %s closes it", async (_how, _who, make, move) => {
  const { store, log, open, logBefore } = await openAndMove(make, move);
  // What the process has open, as an operator saves it before the stop.
  copyFileSync(open, `${open}.saved`);
  await store.close();
  expect(readFileSync(log).equals(logBefore)).toBe(true);
  copyFileSync(log, `${open}.saved-wal`);
  expect(rawConnection(`${open}.saved`).prepare(COUNT).get()).toEqual({ count: 3 });
});

test.each(["-wal", "-shm"])(
  "a database whose %s was removed is complete without it once it is closed",
  async (suffix) => {
    const { store, open } = await openAndMove(makeSqliteDatabase, (path) => rmSync(path + suffix));
    await store.close();
    copyFileSync(open, `${open}.saved`);
    expect(rawConnection(`${open}.saved`).prepare(COUNT).get()).toEqual({ count: 3 });
  },
);

test("a log whose index was removed holds all that was acknowledged, as it is saved from a running process", async () => {
  const { log, open } = await openAndMove(makeSqliteDatabase, (path) => rmSync(`${path}-shm`));
  copyFileSync(open, `${open}.saved`);
  copyFileSync(log, `${open}.saved-wal`);
  expect(rawConnection(`${open}.saved`).prepare(COUNT).get()).toEqual({ count: 3 });
});

test("a log that another process has taken up by an index of its own is not touched any more", async () => {
  const path = join(temporaryFolder(), "topupd.db");
  const { store, command } = await openProvider(() => makeThreadedDatabase(path));
  for (let made = 0; made < 3; made += 1)
    expect((await store.settleTopUp(command(SITA_NET, "NET-1M"))).kind).toBe("recorded");
  rmSync(`${path}-shm`);
  const other = otherProcess(path);
  await other.ask("CREATE TABLE theirs (number INTEGER)");
  await other.ask("INSERT INTO theirs VALUES (1)");
  const log = readFileSync(`${path}-wal`);
  await expect(store.settleTopUp(command(SITA_NET, "NET-1M"))).rejects.toThrow("moved, replaced or removed");
  await expect(store.addPartner("new", by(START))).rejects.toThrow("moved, replaced or removed");
  await store.close();
  expect(readFileSync(`${path}-wal`).equals(log)).toBe(true);
  await other.ask("INSERT INTO theirs VALUES (2)");
  expect(await other.ask(COUNT)).toEqual([{ count: 3 }]);
  await other.end();
  const after = otherProcess(path);
  expect(await after.ask("PRAGMA integrity_check")).toEqual([{ integrity_check: "ok" }]);
  expect(await after.ask(COUNT)).toEqual([{ count: 3 }]);
  expect(await after.ask("SELECT count(*) AS count FROM theirs")).toEqual([{ count: 2 }]);
});

/** Ways to have a path lead to `topupd.db` in the folder named, which is in the folder given. */
const LINKS: readonly (readonly [string, (folder: string, to: string) => string])[] = [
  [
    "the file",
    (folder, to) => {
      link(join(folder, to, "topupd.db"), join(folder, "link.db"));
      return join(folder, "link.db");
    },
  ],
  [
    "the folder",
    (folder, to) => {
      link(join(folder, to), join(folder, "link"));
      return join(folder, "link", "topupd.db");
    },
  ],
  [
    "a link to the file, by a relative path",
    (folder, to) => {
      link(to, join(folder, "link"));
      link(join("link", "topupd.db"), join(folder, "link.db"));
      return relative(process.cwd(), join(folder, "link.db"));
    },
  ],
];

function link(target: string, path: string): void {
  rmSync(path, { force: true });
  symlinkSync(target, path);
}

describe.each(LINKS)("where the path of a database is a link to %s", (_, lead) => {
  /** @param isThere whether the database is made before the link. */
  async function openByLink(isThere: boolean) {
    const folder = temporaryFolder();
    mkdirSync(join(folder, "real"));
    const real = join(folder, "real", "topupd.db");
    if (isThere) await (await openStore(() => makeSqliteDatabase(real))).store.close();
    const path = lead(folder, "real");
    return { folder, real, ...(await openProvider(() => makeThreadedDatabase(path))) };
  }

  test.each(
    ["-wal", "-shm"].flatMap((suffix) => [
      ["was made before", suffix, true] as const,
      ["is made there", suffix, false] as const,
    ]),
  )("one that %s records nothing more without its %s", async (_how, suffix, isThere) => {
    const { real, store, command } = await openByLink(isThere);
    await store.ping();
    expect((await store.settleTopUp(command(SITA_NET, "NET-1M"))).kind).toBe("recorded");
    rmSync(real + suffix);
    await expect(store.settleTopUp(command(SITA_NET, "NET-1M"))).rejects.toThrow("moved, replaced or removed");
    await expect(store.ping()).rejects.toThrow("moved, replaced or removed");
  });

  test("one whose link is led elsewhere records nothing more", async () => {
    const { folder, store, command } = await openByLink(true);
    cpSync(join(folder, "real"), join(folder, "other"), { recursive: true });
    expect((await store.settleTopUp(command(SITA_NET, "NET-1M"))).kind).toBe("recorded");
    lead(folder, "other");
    await expect(store.settleTopUp(command(SITA_NET, "NET-1M"))).rejects.toThrow("moved, replaced or removed");
    await expect(store.ping()).rejects.toThrow("moved, replaced or removed");
  });
});
