import { expect, test } from "vitest";
import { lastCheckAt } from "../../src/office/maintenance/backups.ts";
import { checkDatabase } from "../../src/office/maintenance/operations.ts";
import { deskOf, run } from "../support/desk.ts";
import { findWrong, type MakeDatabase, openStore } from "./database.ts";
import { openFilledProvider } from "./filled-provider.ts";
import { openProvider, RAM_NET, SITA_NET } from "./provider.ts";

const NET = "customer 2000001 (production), internet sita: Fiber 100 Mbps";
const OF_NET = "cuid = '2000001' AND service = 'internet'";

const FIRST = `SELECT txn_id FROM top_up WHERE ${OF_NET} AND status = 'success'`;

/** Changes to Sita's internet, which has an import, a top-up, a reversed top-up and its reversal. */
const DAMAGE: readonly (readonly [what: string, sql: string, wrong: readonly unknown[]])[] = [
  [
    "an end that was moved",
    `UPDATE subscription SET end_time = '2030-01-01 00:00:00' WHERE ${OF_NET}`,
    [`${NET}: the last entry differs from the stored subscription`],
  ],
  [
    "an entry whose state was changed",
    `UPDATE ledger_entry SET after_end = '2027-01-11 09:00:00', after_days = 1 WHERE ${OF_NET} AND seq = 2`,
    [`${NET}: entry 2 does not follow from those before it`],
  ],
  [
    "an entry that was changed as a whole",
    `UPDATE ledger_entry SET months = 3 WHERE ${OF_NET} AND seq = 2`,
    [`${NET}: entry 2 does not follow from those before it`],
  ],
  [
    "an end that is not counted from its anchor",
    `UPDATE ledger_entry SET after_end = '2027-01-11 09:00:00' WHERE ${OF_NET} AND seq = 2`,
    [`${NET}: entry 2 does not follow from those before it`],
  ],
  [
    "a top-up that is gone",
    `DELETE FROM top_up WHERE ${OF_NET} AND status = 'success'`,
    [`${NET}: the top-up # is not on record`, "there are 1 top-ups, and subscriptions lead to 2"],
  ],
  [
    "a top-up that no ledger knows",
    `INSERT INTO top_up SELECT 'other', 'OTHER', partner_id, environment, cuid, service, req_id, bouquet_code, amount, commission,
       at, txn_date, status, udf1, udf2 FROM top_up WHERE ${OF_NET} AND status = 'success'`,
    ["there are 3 top-ups, and subscriptions lead to 2"],
  ],
  [
    "a top-up of another time",
    `UPDATE top_up SET at = at + 1 WHERE ${OF_NET} AND status = 'success'`,
    [`${NET}: the top-up # is on record otherwise: at`],
  ],
  [
    "a txnId of another time",
    `UPDATE ledger_entry SET txn_id = '00' || substr(txn_id, 3) WHERE txn_id = (${FIRST});
     UPDATE top_up SET txn_id = '00' || substr(txn_id, 3) WHERE txn_id = (${FIRST})`,
    [`${NET}: the top-up # does not begin with its time`],
  ],
  [
    "a top-up that is dated another day",
    `UPDATE ledger_entry SET wall = '2026-11-22 09:00:00' WHERE txn_id = (${FIRST});
     UPDATE top_up SET txn_date = '2026-11-22 09:00:00' WHERE txn_id = (${FIRST})`,
    [`${NET}: the top-up # is not in the settlement of its day`],
  ],
  [
    "a top-up that was moved by 40 days",
    `UPDATE ledger_entry SET at = at + 3456000000 WHERE txn_id = (${FIRST});
     UPDATE top_up SET at = at + 3456000000 WHERE txn_id = (${FIRST})`,
    [`${NET}: the top-up # does not begin with its time`],
  ],
  [
    "a top-up of another customer",
    `UPDATE top_up SET cuid = '2000002' WHERE ${OF_NET} AND status = 'success'`,
    [`${NET}: the top-up # is on record otherwise: cuid`],
  ],
  [
    "a top-up that says it was reversed",
    `UPDATE top_up SET status = 'reversed' WHERE ${OF_NET} AND status = 'success'`,
    [`${NET}: the top-up # is on record otherwise: status`],
  ],
  [
    "a reversal that is gone",
    "DELETE FROM reversal",
    [
      `${NET}: the top-up # is on record otherwise: reversed_at, reversed_wall`,
      "there are 0 reversals, and subscriptions lead to 1",
    ],
  ],
  [
    "a reversal of another day",
    "UPDATE reversal SET wall = '2026-11-21 09:00:00'",
    [`${NET}: the top-up # is on record otherwise: reversed_wall`],
  ],
  [
    "a reversal of nothing",
    "INSERT INTO reversal SELECT 'OTHER', partner_id, environment, at, wall, author, reason FROM reversal",
    ["there are 2 reversals, and subscriptions lead to 1"],
  ],
  [
    "a search term that leads to another customer",
    "UPDATE customer_term SET cuid = '2000002' WHERE term = 'nSITA'",
    [expect.stringMatching(/^the (\d+) search terms are not the \1 of the customers$/)],
  ],
];

export function testCheck(makeDatabase: MakeDatabase): void {
  test("a new store is in order, and so is one with a past", async () => {
    expect(await findWrong((await openStore(makeDatabase)).store)).toEqual([]);
    const { store } = await openFilledProvider(makeDatabase);
    const counts: Record<string, number> = {};
    for await (const event of store.check()) {
      expect(event.kind).toBe("checked");
      if (event.kind === "checked") counts[event.what] = event.count;
    }
    expect(counts).toMatchObject({
      "top-ups are all found by their subscriptions": 5,
      "reversals are all found by their subscriptions": 1,
    });
  });

  test.each(DAMAGE)("%s is found", async (_, sql, wrong) => {
    const { store, database, topUp, reverse } = await openProvider(makeDatabase);
    await topUp(SITA_NET, "NET-1M");
    const { checkoutId } = await topUp(SITA_NET, "NET-1M");
    await reverse(checkoutId);
    expect(await findWrong(store)).toEqual([]);
    await database.tamper(sql);
    const found = (await findWrong(store)).map((what) => what.replace(/[0-9A-Z]{26}/, "#"));
    // The sums of days are held against the same rows.
    expect(found.filter((what) => !what.includes("the sums of "))).toEqual(wrong);
  });

  test("a check that finds nothing wrong is noted, and no other", async () => {
    const { store, database, topUp } = await openProvider(makeDatabase);
    await topUp(SITA_NET, "NET-1M");
    const noted = () => lastCheckAt(store.engine.db);
    const check = (at: number) => run(deskOf({ store, clock: () => at }), checkDatabase, {});
    expect([await noted(), (await check(5)).ok, await noted()]).toEqual([undefined, true, 5]);
    const { database: bytes, log = 0 } = await store.space();
    expect(bytes + log).toBeGreaterThan(10_000);
    await database.tamper(`UPDATE subscription SET end_time = '2030-01-01 00:00:00' WHERE ${OF_NET}`);
    expect([(await check(9)).ok, await noted()]).toEqual([false, 5]);
  });

  test("a check goes on beside top-ups, and sees one moment", async () => {
    const opened = await openProvider(makeDatabase);
    const other = await opened.another();
    for await (const event of other.check()) {
      expect(event.kind).toBe("checked");
      await opened.topUp(RAM_NET, "NET-1M");
    }
    expect(await findWrong(other)).toEqual([]);
  });
}
