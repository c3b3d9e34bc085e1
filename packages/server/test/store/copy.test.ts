import { describe, expect, test } from "vitest";
import { copyStore } from "../../src/office/maintenance/backups.ts";
import { StoreRefused } from "../../src/store/errors.ts";
import type { Store } from "../../src/store/store.ts";
import { expectToGoOn } from "../store-suite/archives.ts";
import { countRows, findWrong, type MakeDatabase, openStore } from "../store-suite/database.ts";
import { archiveOf, openFilledProvider } from "../store-suite/filled-provider.ts";
import { SITA_NET } from "../store-suite/provider.ts";
import { by } from "../support/by.ts";
import { partnersOf } from "../support/partners.ts";
import { makePostgresDatabase } from "../support/postgres-database.ts";
import { makeSqliteDatabase } from "../support/sqlite-database.ts";

const WAYS: readonly (readonly [from: string, to: string, makeFrom: MakeDatabase, makeTo: MakeDatabase])[] = [
  ["SQLite", "PostgreSQL", makeSqliteDatabase, makePostgresDatabase],
  ["PostgreSQL", "SQLite", makePostgresDatabase, makeSqliteDatabase],
];

async function openTarget(makeDatabase: MakeDatabase, now: number) {
  const target = await openStore(() => makeDatabase(), { seed: 2 });
  target.now = now;
  return target;
}

describe.each(WAYS)("copying from %s to %s", (_from, _to, makeFrom, makeTo) => {
  test("and back gives the same data, also with long rows and many rows", async () => {
    const opened = await openFilledProvider(() => makeFrom());
    const { store } = opened;
    for (let index = 0; index < 1_100; index += 1) await partnersOf(store).add(`partner ${index}`, by(opened.now));
    // The name is longer than a page of SQLite and a row of PostgreSQL.
    await partnersOf(store).add("ü€😀".repeat(20_000), by(opened.now));
    const there = await openTarget(makeTo, opened.now);
    const back = await openTarget(makeFrom, opened.now);
    const totals = await copyStore(store, there.store);
    expect(await copyStore(there.store, back.store)).toEqual(totals);
    expect(await archiveOf(there.store)).toEqual(await archiveOf(store));
    expect(await archiveOf(back.store)).toEqual(await archiveOf(store));
    expect(await findWrong(there.store)).toEqual([]);
    await expectToGoOn(there.store, opened);
    expect(await findWrong(there.store)).toEqual([]);
  });

  test.each([
    ["an end that was moved", "UPDATE subscription SET end_time = '2030-01-01 00:00:00' WHERE cuid = '2000002'"],
    ["a top-up that was deleted", "DELETE FROM top_up WHERE status = 'reversed'"],
  ])("of %s copies nothing", async (_, damage) => {
    const { store, now, database } = await openFilledProvider(() => makeFrom());
    await database.tamper(damage);
    const target = await openTarget(makeTo, now);
    const before = await archiveOf(target.store);
    await expect(copyStore(store, target.store)).rejects.toBeInstanceOf(StoreRefused);
    expect(await archiveOf(target.store)).toEqual(before);
    expect(await countRows(target, "customer")).toBe(0);
  });

  test("is done before anything more is acknowledged by the database that was copied", async () => {
    const { store, now, another, command } = await openFilledProvider(() => makeFrom());
    const target = await openTarget(makeTo, now);
    const other = await another();
    const late = command(SITA_NET, "NET-1M");
    let settled: Promise<boolean> | undefined;
    await copyStore(store, {
      importArchive: (chunks) =>
        target.store.importArchive(
          atEndOf(chunks, () => {
            settled = isThereAfter(other.settleTopUp(late), target.store);
          }),
        ),
    });
    expect(await settled).toBe(true);
    expect(await target.store.findTransaction(late.checkoutId)).toBeUndefined();
  });
});

async function* atEndOf<Piece>(pieces: AsyncIterable<Piece>, then: () => void): AsyncGenerator<Piece> {
  yield* pieces;
  then();
}

/** Waits for the work. @returns whether the copy could be seen then. */
async function isThereAfter(work: Promise<unknown>, copy: Store): Promise<boolean> {
  await work.catch(() => {});
  return (await partnersOf(copy).list()).length > 0;
}
