import { describe, expect, test } from "vitest";
import { BackupRefused } from "../../src/backup/errors.ts";
import { backUpStore } from "../../src/operations/back-up-store.ts";
import type { CopyProgress } from "../../src/operations/copy-store.ts";
import { openBackup, restoreStore, verifyBackup } from "../../src/operations/restore-store.ts";
import type { ArchiveProgress } from "../../src/operations/watch-archive.ts";
import { StoreRefused } from "../../src/store/errors.ts";
import type { Store } from "../../src/store/store.ts";
import { gather, inPieces } from "../backup/backups.ts";
import { expectToGoOn } from "../store-suite/archives.ts";
import { countRows, findWrong, type MakeDatabase, openStore } from "../store-suite/database.ts";
import { archiveOf, openFilledProvider } from "../store-suite/filled-provider.ts";
import { by } from "../support/by.ts";
import { makePostgresDatabase } from "../support/postgres-database.ts";
import { makeSqliteDatabase } from "../support/sqlite-database.ts";

const WAYS: readonly (readonly [from: string, to: string, makeFrom: MakeDatabase, makeTo: MakeDatabase])[] = [
  ["SQLite", "PostgreSQL", makeSqliteDatabase, makePostgresDatabase],
  ["PostgreSQL", "SQLite", makePostgresDatabase, makeSqliteDatabase],
  ["SQLite", "SQLite", makeSqliteDatabase, makeSqliteDatabase],
  ["PostgreSQL", "PostgreSQL", makePostgresDatabase, makePostgresDatabase],
];

const unwatched = () => {};

async function backUp(store: Store, now = 0, onProgress: (progress: ArchiveProgress) => void = unwatched) {
  let backup: Uint8Array = new Uint8Array();
  const done = await backUpStore(
    { store, clock: () => now },
    {
      version: "0.1.0",
      kind: "any",
      write: async (bytes) => {
        backup = await gather(bytes);
        return backup.length;
      },
      onProgress,
      signal: new AbortController().signal,
    },
  );
  return { ...done, backup, open: () => inPieces(backup) };
}

async function openTarget(makeDatabase: MakeDatabase, now: number) {
  const target = await openStore(() => makeDatabase(), { seed: 2 });
  target.now = now;
  return target;
}

describe.each(WAYS)("a backup of %s, restored into %s,", (_from, _to, makeFrom, makeTo) => {
  test("gives what there was", async () => {
    const opened = await openFilledProvider(() => makeFrom());
    const { totals, open, bytes, backup } = await backUp(opened.store, opened.now);
    const target = await openTarget(makeTo, opened.now);
    expect(await openBackup(open)).toEqual({
      ...{ topupd: "0.1.0", takenAt: opened.now, store: "any", timeZone: "UTC", currencyExponent: 2 },
    });
    expect((await verifyBackup(open, unwatched)).totals).toEqual(totals);
    expect(await restoreStore(open, target.store, unwatched)).toEqual(totals);
    expect(await archiveOf(target.store)).toEqual(await archiveOf(opened.store));
    expect(await findWrong(target.store)).toEqual([]);
    await expectToGoOn(target.store, opened);
    expect(bytes).toBe(backup.length);
  });

  test("tells how far it is, to the end", async () => {
    const { store, now } = await openFilledProvider(() => makeFrom());
    const [written, filled]: [ArchiveProgress[], CopyProgress[]] = [[], []];
    const { totals, open } = await backUp(store, now, (progress) => written.push(progress));
    await restoreStore(open, (await openTarget(makeTo, now)).store, (progress) => filled.push(progress));
    const all = Object.values(totals.rows).reduce((sum, count) => sum + count, 0);
    expect(written.at(-1)).toMatchObject({ rows: all, of: all });
    expect(filled.at(-2)).toMatchObject({ step: "copying", rows: all, of: all });
    expect(filled.at(-1)).toEqual({ step: "verifying" });
  });

  test("is refused where it was damaged since it was looked at, and leaves nothing", async () => {
    const { store, now } = await openFilledProvider(() => makeFrom());
    const { backup } = await backUp(store, now);
    const target = await openTarget(makeTo, now);
    const before = await archiveOf(target.store);
    for (const bad of [backup.subarray(0, -1), backup.with(backup.length - 100, 0), backup.with(60, 0)]) {
      const restored = restoreStore(() => inPieces(bad), target.store, unwatched);
      await expect(restored).rejects.toBeInstanceOf(BackupRefused);
      expect(await archiveOf(target.store)).toEqual(before);
    }
  });

  test("is refused by a database that is not empty", async () => {
    const { store, now } = await openFilledProvider(() => makeFrom());
    const { open } = await backUp(store, now);
    const target = await openTarget(makeTo, now);
    await target.store.addPartner("other", by(now));
    const restored = restoreStore(open, target.store, unwatched);
    await expect(restored).rejects.toThrow("not empty");
    await expect(restored).rejects.toBeInstanceOf(StoreRefused);
    expect(await countRows(target, "partner")).toBe(1);
  });

  test("is refused where what was backed up was not in order", async () => {
    const { store, now, database } = await openFilledProvider(() => makeFrom());
    await database.tamper("UPDATE subscription SET end_at = end_at + 1000 WHERE cuid = '2000002'");
    const { open } = await backUp(store, now);
    await verifyBackup(open, unwatched);
    const target = await openTarget(makeTo, now);
    await expect(restoreStore(open, target.store, unwatched)).rejects.toThrow(/is not the fold/);
    expect(await countRows(target, "customer")).toBe(0);
  });

  test("has all rows where there are many", async () => {
    const { store, now } = await openFilledProvider(() => makeFrom());
    for (let index = 0; index < 1_100; index += 1) await store.addPartner(`partner ${index}`, by(now));
    const { open } = await backUp(store, now);
    const target = await openTarget(makeTo, now);
    await restoreStore(open, target.store, unwatched);
    expect(await archiveOf(target.store)).toEqual(await archiveOf(store));
  });
});
