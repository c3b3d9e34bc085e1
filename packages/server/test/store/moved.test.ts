import { copyFileSync, linkSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { StoreUnavailable } from "../../src/store/errors.ts";
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
