import { describe, expect, test } from "vitest";
import { BackupRefused, countChunks, readChunks, readHeader } from "../../src/backup/backup-file.ts";
import { backUpStore, restoreStore } from "../../src/office/maintenance/backups.ts";
import { pauseTarget } from "../../src/office/targets/operations.ts";
import type { Store } from "../../src/store/store.ts";
import { gather, inPieces } from "../backup/backups.ts";
import { expectToGoOn } from "../store-suite/archives.ts";
import { countRows, findWrong, type MakeDatabase, type OpenedStore, openStore } from "../store-suite/database.ts";
import { archiveOf, openFilledProvider } from "../store-suite/filled-provider.ts";
import { by } from "../support/by.ts";
import { run } from "../support/desk.ts";
import { partnersOf } from "../support/partners.ts";
import { makePostgresDatabase } from "../support/postgres-database.ts";
import { makeSqliteDatabase } from "../support/sqlite-database.ts";

const WAYS: readonly (readonly [from: string, to: string, makeFrom: MakeDatabase, makeTo: MakeDatabase])[] = [
  ["SQLite", "PostgreSQL", makeSqliteDatabase, makePostgresDatabase],
  ["PostgreSQL", "SQLite", makePostgresDatabase, makeSqliteDatabase],
];

async function backUp(store: Store, now = 0) {
  let backup: Uint8Array = new Uint8Array();
  const write = async (bytes: Parameters<typeof gather>[0]) => {
    backup = await gather(bytes);
    return backup.length;
  };
  const { signal } = new AbortController();
  const request = { version: "0.1.0", kind: "any", write, signal };
  const done = await backUpStore({ store, clock: () => now }, request);
  return { ...done, backup, open: () => inPieces(backup) };
}

const ACTOR = { name: "tester" };

function portsOf({ store, now }: Pick<OpenedStore, "store" | "now">) {
  return { store, clock: () => now };
}

async function openTarget(makeDatabase: MakeDatabase, now: number) {
  const target = await openStore(() => makeDatabase(), { seed: 2 });
  target.now = now;
  return target;
}

describe.each(WAYS)("a backup of %s, restored into %s,", (_from, _to, makeFrom, makeTo) => {
  test("restores the same data, with all targets paused", async () => {
    const opened = await openFilledProvider(() => makeFrom());
    const { totals, open, bytes, backup } = await backUp(opened.store, opened.now);
    const target = await openTarget(makeTo, opened.now);
    const header = { topupd: "0.1.0", takenAt: opened.now, store: "any", timeZone: "UTC", currencyExponent: 2 };
    expect(await readHeader(open())).toEqual(header);
    expect((await countChunks(readChunks(open()))).totals).toEqual(totals);
    expect(await restoreStore(open(), portsOf(target), ACTOR)).toEqual({ totals, paused: ["tv"] });
    await run({ ...opened.desk(), actor: ACTOR }, pauseTarget, { name: "tv", paused: true });
    expect(await archiveOf(target.store)).toEqual(await archiveOf(opened.store));
    expect(await findWrong(target.store)).toEqual([]);
    await expectToGoOn(target.store, opened);
    expect(bytes).toBe(backup.length);
  });

  test("is refused if it was damaged after the first look, and leaves nothing", async () => {
    const { store, now } = await openFilledProvider(() => makeFrom());
    const { backup } = await backUp(store, now);
    const target = await openTarget(makeTo, now);
    const before = await archiveOf(target.store);
    for (const bad of [backup.subarray(0, -1), backup.with(backup.length - 100, 0), backup.with(60, 0)]) {
      const restored = restoreStore(inPieces(bad), portsOf(target), ACTOR);
      await expect(restored).rejects.toBeInstanceOf(BackupRefused);
      expect(await archiveOf(target.store)).toEqual(before);
    }
  });

  test("is refused by a database that is not empty, and if the backed-up data was inconsistent", async () => {
    const { store, now, database } = await openFilledProvider(() => makeFrom());
    const { open } = await backUp(store, now);
    const filled = await openTarget(makeTo, now);
    await partnersOf(filled.store).add("other", by(now));
    await expect(restoreStore(open(), portsOf(filled), ACTOR)).rejects.toThrow("nothing was copied");
    expect(await countRows(filled, "partner")).toBe(1);
    await database.tamper("UPDATE subscription SET end_time = '2030-01-01 00:00:00' WHERE cuid = '2000002'");
    const { open: openBad } = await backUp(store, now);
    await countChunks(readChunks(openBad()));
    const target = await openTarget(makeTo, now);
    await expect(restoreStore(openBad(), portsOf(target), ACTOR)).rejects.toThrow(
      "the last entry is not what is stored",
    );
    expect(await countRows(target, "customer")).toBe(0);
  });
});
