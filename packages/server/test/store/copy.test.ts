import { describe, expect, test } from "vitest";
import { type CopyProgress, copyStore } from "../../src/operations/copy-store.ts";
import { StoreRefused } from "../../src/store/errors.ts";
import type { Store } from "../../src/store/store.ts";
import { expectToGoOn } from "../store-suite/archives.ts";
import { countRows, findWrong, type MakeDatabase, openStore } from "../store-suite/database.ts";
import { archiveOf, openFilledProvider } from "../store-suite/filled-provider.ts";
import { by } from "../support/by.ts";
import { makePostgresDatabase } from "../support/postgres-database.ts";
import { makeSqliteDatabase } from "../support/sqlite-database.ts";

const WAYS: readonly (readonly [from: string, to: string, makeFrom: MakeDatabase, makeTo: MakeDatabase])[] = [
  ["SQLite", "PostgreSQL", makeSqliteDatabase, makePostgresDatabase],
  ["PostgreSQL", "SQLite", makePostgresDatabase, makeSqliteDatabase],
];

const unwatched = () => {};

async function openTarget(makeDatabase: MakeDatabase, now: number) {
  const target = await openStore(() => makeDatabase(), { seed: 2 });
  target.now = now;
  return target;
}

describe.each(WAYS)("copying from %s to %s", (_from, _to, makeFrom, makeTo) => {
  test("and back gives what there was", async () => {
    const { store, now } = await openFilledProvider(() => makeFrom());
    const there = await openTarget(makeTo, now);
    const back = await openTarget(makeFrom, now);
    const totals = await copyStore(store, there.store, unwatched);
    expect(await copyStore(there.store, back.store, unwatched)).toEqual(totals);
    expect(await archiveOf(there.store)).toEqual(await archiveOf(store));
    expect(await archiveOf(back.store)).toEqual(await archiveOf(store));
    expect(await findWrong(there.store)).toEqual([]);
    expect(await findWrong(back.store)).toEqual([]);
  });

  test("leaves tokens and checkouts good, and finds every transaction", async () => {
    const opened = await openFilledProvider(() => makeFrom());
    const target = await openTarget(makeTo, opened.now);
    await copyStore(opened.store, target.store, unwatched);
    await expectToGoOn(target.store, opened);
    for (const { checkoutId } of Object.values(opened.checkouts).slice(0, 3))
      expect(await target.store.findTransaction(checkoutId)).toEqual(await opened.store.findTransaction(checkoutId));
    expect(await findWrong(target.store)).toEqual([]);
  });

  test("tells how far it is, to the end", async () => {
    const { store, now } = await openFilledProvider(() => makeFrom());
    const seen: CopyProgress[] = [];
    const { rows } = await copyStore(store, (await openTarget(makeTo, now)).store, (step) => seen.push(step));
    const all = Object.values(rows).reduce((sum, count) => sum + count, 0);
    expect(seen.at(-2)).toEqual({ step: "copying", table: "retired_checkout", rows: all, of: all });
    expect(seen.at(-1)).toEqual({ step: "verifying" });
  });

  test.each([
    [
      "an end that was moved",
      "UPDATE subscription SET end_at = end_at + 1000 WHERE cuid = '2000002'",
      /is not the fold/,
    ],
    ["a top-up that was deleted", "DELETE FROM top_up WHERE status = 'reversed'", /1 grants of a top-up/],
    [
      "a price that was changed",
      "UPDATE top_up SET amount = 7 WHERE status = 'reversed'",
      /1 top-ups at another price/,
    ],
  ])("of %s copies nothing", async (_, damage, said) => {
    const { store, now, database } = await openFilledProvider(() => makeFrom());
    await database.tamper(damage);
    const target = await openTarget(makeTo, now);
    const before = await archiveOf(target.store);
    const copied = copyStore(store, target.store, unwatched);
    await expect(copied).rejects.toThrow(said);
    await expect(copied).rejects.toBeInstanceOf(StoreRefused);
    expect(await archiveOf(target.store)).toEqual(before);
  });

  test("is done before anything more is acknowledged by the database that was copied", async () => {
    const { store, now, another, command } = await openFilledProvider(() => makeFrom());
    const target = await openTarget(makeTo, now);
    const other = await another();
    const late = command({ environment: "production", cuid: "2000001", service: "internet", reqId: "sita" }, "NET-1M");
    let settled: Promise<boolean> | undefined;
    await copyStore(store, target.store, ({ step }) => {
      if (step === "verifying") settled = isThereAfter(other.settleTopUp(late), target.store);
    });
    expect(await settled).toBe(true);
    expect(await target.store.findTransaction(late.checkoutId)).toBeUndefined();
  });

  test("a database of more than one page of rows copies all of them", async () => {
    const { store, now } = await openFilledProvider(() => makeFrom());
    for (let index = 0; index < 2_345; index += 1) await store.addPartner(`partner ${index}`, by(now));
    const target = await openTarget(makeTo, now);
    await copyStore(store, target.store, unwatched);
    expect(await countRows(target, "partner")).toBe(2_347);
    expect(await archiveOf(target.store)).toEqual(await archiveOf(store));
  });
});

/** Whether the copy was to be seen by the time that the work was done. */
async function isThereAfter(work: Promise<unknown>, copy: Store): Promise<boolean> {
  await work.catch(() => {});
  return (await copy.listPartners()).length > 0;
}
