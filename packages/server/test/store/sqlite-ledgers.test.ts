import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { findWrong } from "../store-suite/database.ts";
import { expectRecorded, openProvider, RAM_NET, SITA_NET } from "../store-suite/provider.ts";
import { temporaryFolder } from "../support/service.ts";
import { makeSqliteDatabase, rawConnection, tamper } from "../support/sqlite-database.ts";

/*
 * A ledger is found from its last grant, and goes from each to the one before it. What is tested here is that way: what
 * is granted, and what it comes to, is tested for every store alike.
 */

async function openWithTopUps() {
  const path = join(temporaryFolder(), "topupd.db");
  const { store, command } = await openProvider(() => makeSqliteDatabase(path));
  for (const key of [SITA_NET, RAM_NET, SITA_NET, RAM_NET, SITA_NET])
    expectRecorded(await store.settleTopUp(command(key, "NET-1M")));
  return { path, store, command };
}

const LED = "SELECT seq, at FROM ledger_grant WHERE cuid = ? ORDER BY plan, seq";

test("grants that come in any order stand in their own", async () => {
  const { path } = await openWithTopUps();
  const raw = rawConnection(path);
  const insert = raw.prepare(
    `INSERT INTO subscription_grant (cuid, environment, service, req_id, plan, seq, kind, at)
     VALUES (?, 'trial', 'tv', 'r', 'p', ?, 'withdrawal', ?)`,
  );
  const steps = fc.uniqueArray(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 12 });
  let customer = 0;
  fc.assert(
    fc.property(steps, (seqs) => {
      customer += 1;
      const cuid = `any-order-${customer}`;
      for (const seq of seqs) insert.run(cuid, seq, seq * 10);
      const inOrder = [...seqs].sort((a, b) => a - b);
      expect(raw.prepare(LED).all(cuid)).toEqual(inOrder.map((seq) => ({ seq, at: seq * 10 })));
      const [{ last_seq: last }] = raw
        .prepare("SELECT last_seq FROM customer_row WHERE cuid = ?")
        .all(cuid) as unknown as [{ last_seq: number }];
      expect(last).toBe(Math.max(...seqs));
    }),
  );
});

test.each([
  [
    "passes over a grant",
    "UPDATE grant_row SET before = (SELECT before FROM grant_row AS b WHERE b.id = grant_row.before) WHERE id = OF",
  ],
  ["ends too early", "UPDATE grant_row SET before = NULL WHERE id = OF"],
  ["leads back to itself", "UPDATE grant_row SET before = id WHERE id = OF"],
  [
    "leads into another's",
    `UPDATE grant_row SET before = (SELECT max(id) FROM grant_row WHERE cuid = '${RAM_NET.cuid}') WHERE id = OF`,
  ],
  [
    "begins at one before the last",
    `UPDATE customer_row SET last_grant = (SELECT before FROM grant_row WHERE id = last_grant) WHERE last_grant = OF`,
  ],
])("a check finds a ledger that %s, and comes to its end", async (_, damage) => {
  const { path, store } = await openWithTopUps();
  expect(await findWrong(store)).toEqual([]);
  tamper(path, damage.replaceAll("OF", `(SELECT max(id) FROM grant_row WHERE cuid = '${SITA_NET.cuid}')`));
  expect(await findWrong(store)).toContainEqual(expect.stringMatching(/grants to which their ledger does not lead/));
});

test("no id is given twice, though all but the last of every ledger are let go", async () => {
  const { path, store, command } = await openWithTopUps();
  const ids = () => rawConnection(path).prepare("SELECT id, cuid FROM grant_row ORDER BY id").all();
  const highest = ids().at(-1)?.["id"] as number;
  tamper(
    path,
    "DELETE FROM grant_row WHERE id NOT IN (SELECT last_grant FROM customer_row WHERE last_grant IS NOT NULL)",
  );
  expectRecorded(await store.settleTopUp(command(RAM_NET, "NET-1M")));
  expect(ids().at(-1)).toEqual({ id: highest + 1, cuid: RAM_NET.cuid });
});
