import { join } from "node:path";
import { Readable } from "node:stream";
import fc from "fast-check";
import { expect, test } from "vitest";
import { DAY_MS } from "../../src/domain/calendar.ts";
import type { ArchiveChunk, Store } from "../../src/store/store.ts";
import { findWrong, type OpenedStore, openStore } from "../store-suite/database.ts";
import { collect } from "../store-suite/filled-provider.ts";
import { expectRecorded, openProvider, RAM_NET, SITA, SITA_NET, statedCustomer } from "../store-suite/provider.ts";
import { seededRandom } from "../support/random.ts";
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

test.each([
  ["another than its last grant", "last_grant = (SELECT before FROM grant_row WHERE id = last_grant)"],
  ["one that is not there", "last_grant = last_grant + 1000"],
  ["another number than that one has", "last_seq = last_seq + 5"],
])("a check finds a ledger that knows %s", async (_, damage) => {
  const { path, store } = await openWithTopUps();
  tamper(path, `UPDATE customer_row SET ${damage} WHERE last_grant = (SELECT max(id) FROM grant_row)`);
  expect(await findWrong(store)).toContainEqual("1 ledgers that do not know their last grant");
});

test("a ledger leads to no stranger's grant, though the id of one that was let go is given again", async () => {
  const { path, store, command } = await openWithTopUps();
  const raw = rawConnection(path);
  const insert = raw.prepare(
    `INSERT INTO subscription_grant (cuid, environment, service, req_id, plan, seq, kind, at)
     VALUES ('odd', 'trial', 'tv', 'r', 'p', ?, 'withdrawal', ?)`,
  );
  raw.exec(`INSERT INTO customer VALUES ('odd', 'trial', 'O', 'D', NULL, 'active', NULL);
    INSERT INTO customer_code VALUES ('odd', 'trial', 'odd')`);
  // The one in the middle has the greatest id.
  for (const seq of [1, 3, 2]) insert.run(seq, seq);
  await store.retention.moveHorizon(3, { author: "tester", at: 3 });
  const pruned = await store.retention.pruneLedgers({ before: 3, dryRun: false }, undefined);
  expect(pruned.pruned.grants).toBe(2);
  expect(raw.prepare("SELECT before FROM grant_row WHERE cuid = 'odd'").all()).toEqual([{ before: null }]);
  expectRecorded(await store.settleTopUp(command(RAM_NET, "NET-1M")));
  expect(raw.prepare(LED).all("odd")).toEqual([{ seq: 3, at: 3 }]);
  expect(await findWrong(store)).toEqual([]);

  // Nor where a damaged file leads to one.
  tamper(
    path,
    `UPDATE grant_row SET before = (SELECT max(id) FROM grant_row WHERE cuid = '${RAM_NET.cuid}') WHERE cuid = 'odd'`,
  );
  expect(raw.prepare(LED).all("odd")).toEqual([{ seq: 3, at: 3 }]);
  expect(await findWrong(store)).toEqual(["1 grants that lead to none of their ledger's before them"]);
});

test("a customer who comes to a ledger that was there before goes on with it", async () => {
  const { path, store } = await openWithTopUps();
  const raw = rawConnection(path);
  raw.exec(`INSERT INTO subscription_grant (cuid, environment, service, req_id, plan, seq, kind, at) VALUES
    ('gone', 'production', 'internet', 'gone1', 'Fiber 100 Mbps', 1, 'withdrawal', 1),
    ('gone', 'production', 'internet', 'gone1', 'Fiber 100 Mbps', 2, 'withdrawal', 2)`);
  const subscription = { code: "NET-1M", startdate: "2026-11-01 09:00:00", enddate: "2026-12-01 09:00:00" };
  const internet = [{ username: "gone1", status: "active", subscriptions: [subscription] }];
  const customer = statedCustomer({ ...SITA, cuid: "gone", mobile: "9800000199", connections: { internet } });
  await store.importCustomers("production", [customer], { author: "tester", at: 3 }, "unsaid");
  expect(raw.prepare("SELECT seq FROM ledger_grant WHERE cuid = 'gone' ORDER BY seq").all()).toEqual([
    { seq: 1 },
    { seq: 2 },
    { seq: 3 },
  ]);
  expect(await findWrong(store)).toEqual([]);
});

/** Restores what a store holds into a new one, its grants in whatever order. */
async function restore(store: Store, seed: number): Promise<OpenedStore> {
  const target = await openStore(() => makeSqliteDatabase(), { seed: 2 });
  const random = seededRandom(seed);
  const shuffle = (chunk: ArchiveChunk): ArchiveChunk => {
    if (chunk.kind !== "rows" || chunk.table !== "subscription_grant") return chunk;
    const placed = chunk.rows.map((row) => ({ row, place: Buffer.from(random(4)).readUInt32BE() }));
    return { ...chunk, rows: placed.sort((a, b) => a.place - b.place).map(({ row }) => row) };
  };
  const chunks = (await collect(store)).map(shuffle);
  await target.store.importArchive(Readable.from(chunks) as AsyncIterable<ArchiveChunk>);
  return target;
}

const step = fc.record({
  what: fc.constantFrom("top_up", "top_up", "goodwill", "prune", "restore"),
  who: fc.constantFrom(SITA_NET, RAM_NET),
  days: fc.constantFrom(0, 1, 40, 200),
  seed: fc.nat(1_000),
});

test("whatever is granted, let go and restored in any order, ledgers lead to their own grants", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 6, maxLength: 20 }), async (steps) => {
      const opened = await openProvider(() => makeSqliteDatabase());
      let current: OpenedStore = opened;
      for (const { what, who, days, seed } of steps) {
        const { store } = current;
        opened.now += days * DAY_MS;
        current.now = opened.now;
        const by = { author: "tester", at: opened.now };
        if (what === "top_up") await store.settleTopUp(opened.command(who, "NET-1M"));
        if (what === "goodwill")
          await store.corrections.grantGoodwill({ ...who, plan: undefined, days: 2 }, { ...by, reason: "r" });
        if (what === "restore") current = await restore(store, seed);
        current.now = opened.now;
        if (what === "prune") {
          const before = opened.now - 31 * DAY_MS;
          await store.retention.moveHorizon(before, by);
          await store.retention.pruneLedgers({ before, dryRun: false }, undefined);
        }
        expect(await findWrong(current.store)).toEqual([]);
      }
    }),
    { numRuns: 15 },
  );
}, 60_000);
