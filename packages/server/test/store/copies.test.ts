import { describe, expect, test } from "vitest";
import { BackupRefused, countChunks, readChunks, readHeader } from "../../src/backup/backup-file.ts";
import { pauseBulk } from "../../src/office/bulk/operations.ts";
import { backUpStore, copyStore, restoreStore } from "../../src/office/maintenance/backups.ts";
import { pauseTarget } from "../../src/office/targets/operations.ts";
import { StoreRefused } from "../../src/store/errors.ts";
import type { Store } from "../../src/store/store.ts";
import { gather, inPieces } from "../backup/backups.ts";
import { expectToGoOn } from "../store-suite/archives.ts";
import { countRows, findWrong, type MakeDatabase, openStore } from "../store-suite/database.ts";
import { archiveOf, openFilledProvider } from "../store-suite/filled-provider.ts";
import { SITA_NET } from "../store-suite/provider.ts";
import { by } from "../support/by.ts";
import { run } from "../support/desk.ts";
import { partnersOf } from "../support/partners.ts";
import { makePostgresDatabase } from "../support/postgres-database.ts";
import { makeSqliteDatabase } from "../support/sqlite-database.ts";

const ACTOR = { name: "tester" };

const WAYS: readonly (readonly [from: string, to: string, makeFrom: MakeDatabase, makeTo: MakeDatabase])[] = [
  ["SQLite", "PostgreSQL", makeSqliteDatabase, makePostgresDatabase],
  ["PostgreSQL", "SQLite", makePostgresDatabase, makeSqliteDatabase],
];

async function backUp(store: Store, now: number) {
  let backup: Uint8Array = new Uint8Array();
  const write = async (bytes: Parameters<typeof gather>[0]) => {
    backup = await gather(bytes);
    return backup.length;
  };
  const request = { version: "0.1.0", kind: "any", write, signal: new AbortController().signal };
  const done = await backUpStore({ store, clock: () => now }, request);
  return { ...done, backup, open: () => inPieces(backup) };
}

describe.each(WAYS)("from %s to %s", (_from, _to, makeFrom, makeTo) => {
  async function openTarget(makeDatabase: MakeDatabase, now: number) {
    const target = await openStore(() => makeDatabase(), { seed: 2 });
    target.now = now;
    return { ...target, ports: { store: target.store, clock: () => now } };
  }

  test("a backup restores the same data, with all targets and bulk changes paused", async () => {
    const opened = await openFilledProvider(() => makeFrom());
    const { db } = opened.store.engine;
    await db.updateTable("bulkRun").set({ state: "running", startedAt: opened.now }).execute();
    const { totals, open, bytes, backup } = await backUp(opened.store, opened.now);
    const target = await openTarget(makeTo, opened.now);
    const header = { topupd: "0.1.0", takenAt: opened.now, store: "any", timeZone: "UTC", currencyExponent: 2 };
    expect(await readHeader(open(), "0.1.0")).toEqual(header);
    expect((await countChunks(readChunks(open()))).totals).toEqual(totals);
    expect(await restoreStore(open(), target.ports, ACTOR)).toEqual({ totals, paused: ["tv"], pausedBulk: [1] });
    await run({ ...opened.desk(), actor: ACTOR }, pauseBulk, { id: 1 });
    await run({ ...opened.desk(), actor: ACTOR }, pauseTarget, { name: "tv", paused: true });
    expect(await archiveOf(target.store)).toEqual(await archiveOf(opened.store));
    expect(await findWrong(target.store)).toEqual([]);
    await expectToGoOn(target.store, opened);
    expect(bytes).toBe(backup.length);
  });

  test("a backup that was damaged after the first look is refused, and leaves nothing", async () => {
    const { store, now } = await openFilledProvider(() => makeFrom());
    const { backup } = await backUp(store, now);
    const target = await openTarget(makeTo, now);
    const before = await archiveOf(target.store);
    for (const bad of [backup.subarray(0, -1), backup.with(backup.length - 100, 0), backup.with(60, 0)]) {
      await expect(restoreStore(inPieces(bad), target.ports, ACTOR)).rejects.toBeInstanceOf(BackupRefused);
      expect(await archiveOf(target.store)).toEqual(before);
    }
  });

  test("inconsistent data is neither restored nor copied, and a database that is not empty is not filled", async () => {
    const { store, now, database } = await openFilledProvider(() => makeFrom());
    const { open: openGood } = await backUp(store, now);
    await database.tamper("UPDATE subscription SET end_time = '2030-01-01 00:00:00' WHERE cuid = '2000002'");
    const { open } = await backUp(store, now);
    await countChunks(readChunks(open()));
    const target = await openTarget(makeTo, now);
    const before = await archiveOf(target.store);
    const wrong = "the last entry differs from the stored subscription";
    await expect(restoreStore(open(), target.ports, ACTOR)).rejects.toThrow(wrong);
    await expect(copyStore(store, target.store)).rejects.toThrow(wrong);
    const other = await openFilledProvider(() => makeFrom());
    await other.database.tamper("DELETE FROM top_up WHERE status = 'reversed'");
    await expect(copyStore(other.store, target.store)).rejects.toBeInstanceOf(StoreRefused);
    expect(await archiveOf(target.store)).toEqual(before);
    await partnersOf(target.store).add("other", by(now));
    await expect(restoreStore(openGood(), target.ports, ACTOR)).rejects.toThrow("nothing was copied");
    expect(await countRows(target, "partner")).toBe(1);
  });

  test("a copy, and a copy of that, has the same data, also with long rows", async () => {
    const opened = await openFilledProvider(() => makeFrom());
    const { store } = opened;
    // The name is longer than a page of SQLite and a row of PostgreSQL.
    await partnersOf(store).add("ü€😀".repeat(20_000), by(opened.now));
    const there = await openTarget(makeTo, opened.now);
    const back = await openTarget(makeFrom, opened.now);
    const totals = await copyStore(store, there.store);
    expect(await copyStore(there.store, back.store)).toEqual(totals);
    const original = await archiveOf(store);
    for (const copy of [there, back]) expect(await archiveOf(copy.store)).toEqual(original);
    expect(await findWrong(there.store)).toEqual([]);
    await expectToGoOn(there.store, opened);
    expect(await findWrong(there.store)).toEqual([]);
  });

  test("a copy is complete before the copied database acknowledges anything more", async () => {
    const { store, now, another, command } = await openFilledProvider(() => makeFrom());
    const target = await openTarget(makeTo, now);
    const other = await another();
    const late = command(SITA_NET, "NET-1M");
    let isComplete: Promise<boolean> | undefined;
    await copyStore(store, {
      importArchive: (chunks) =>
        target.store.importArchive(
          atEndOf(chunks, () => {
            const settled = other.settleTopUp(late).catch(() => {});
            isComplete = settled.then(async () => (await partnersOf(target.store).list()).length > 0);
          }),
        ),
    });
    expect(await isComplete).toBe(true);
    expect(await target.store.findTransaction(late.checkoutId)).toBeUndefined();
  });
});

async function* atEndOf<Piece>(pieces: AsyncIterable<Piece>, then: () => void): AsyncGenerator<Piece> {
  yield* pieces;
  then();
}
