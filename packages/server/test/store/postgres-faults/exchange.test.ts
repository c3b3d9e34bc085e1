import { describe, expect, inject, onTestFinished, test } from "vitest";
import { addTarget } from "../../../src/office/targets/operations.ts";
import { StoreUnavailable } from "../../../src/store/errors.ts";
import { Database } from "../../../src/store/postgres/database.ts";
import { countRows, findWrong } from "../../store-suite/database.ts";
import { RAM_NET, SITA_NET, SITA_TV } from "../../store-suite/provider.ts";
import { run } from "../../support/desk.ts";
import { again, type FaultyOptions, openFaultyProvider, sleep, timed } from "./faulty-provider.ts";

/** A provider with a target, so that a batch writes events too. */
async function openWithTarget(options: FaultyOptions) {
  const opened = await openFaultyProvider(options);
  await run(opened.desk(), addTarget, { name: "billing" });
  const { store, command } = opened;
  const batch = () => [command(SITA_NET, "NET-1M"), command(RAM_NET, "NET-1M"), command(SITA_NET, "NET-3M")];
  const settle = (commands: ReturnType<typeof batch>) =>
    Promise.allSettled(commands.map((each) => store.settleTopUp(each)));
  return { ...opened, batch, settle };
}

describe.concurrent("of a batch's messages", () => {
  test.for(["client", "server"] as const)(
    "all of the batch is recorded or nothing, if the connection breaks at any of the %s",
    async (from, { onTestFinished }) => {
      const opened = await openWithTarget({ onTestFinished });
      const { store, proxy, batch, settle } = opened;
      let at = 0;
      let recorded = 0;
      for (; ; at += 1) {
        const commands = batch();
        proxy.transactionFault = { from, at, what: "cut" };
        const settled = await settle(commands);
        if (proxy.transactionFault !== undefined) break;
        const messages = settled.map((each) => {
          if (each.status === "fulfilled") throw new Error(`message ${at} was acknowledged`);
          expect(each.reason).toBeInstanceOf(StoreUnavailable);
          return String(each.reason);
        });
        // The answer waits for a commit that may still be running.
        const kinds = (await settle(commands.map(again))).map((each) => each.status === "fulfilled" && each.value.kind);
        expect(new Set(kinds).size, String(at)).toBe(1);
        expect(["recorded", "replayed"]).toContain(kinds[0]);
        if (kinds[0] === "replayed") expect(messages.join()).toContain("it may have been done");
        if (kinds[0] === "recorded") recorded += 1;
      }
      expect(recorded).toBeGreaterThan(20);
      if (from === "server") expect(recorded).toBeLessThan(at);
      expect(await countRows(opened, "top_up")).toBe(3 * (at + 1));
      expect(await countRows(opened, "event WHERE kind = 'topup.recorded'")).toBe(3 * (at + 1));
      expect(await findWrong(store)).toEqual([]);
    },
  );

  test.for([2, 10, 22])("the %sth and all behind it that come late record nothing", async (at, { onTestFinished }) => {
    const opened = await openWithTarget({ onTestFinished });
    const { store, proxy, batch, settle } = opened;
    const commands = batch();
    proxy.transactionFault = { from: "client", at, what: "held" };
    const { ms, result } = await timed(() => settle(commands));
    expect(ms).toBeLessThan(8_000);
    for (const each of result as PromiseSettledResult<unknown>[])
      expect(each).toMatchObject({ status: "rejected", reason: expect.any(StoreUnavailable) });
    proxy.pass();
    await sleep(500);
    expect(await countRows(opened, "top_up")).toBe(0);
    const kinds = (await settle(commands)).map((each) => each.status === "fulfilled" && each.value.kind);
    expect(kinds).toEqual(["recorded", "recorded", "recorded"]);
    expect(await findWrong(store)).toEqual([]);
  });

  test("those behind a statement that fails are not run, and the next batch is", async ({ onTestFinished }) => {
    const { store, command, database } = await openWithTarget({ onTestFinished });
    await database.tamper("ALTER TABLE event ADD CONSTRAINT no_sita CHECK (cuid <> '2000001')");
    const commands = [command(SITA_NET, "NET-1M"), command(RAM_NET, "NET-1M"), command(SITA_TV, "TV-1M")];
    const settled = await Promise.allSettled(commands.map((each) => store.settleTopUp(each)));
    expect(settled.map(({ status }) => status)).toEqual(["rejected", "fulfilled", "rejected"]);
    for (const each of settled)
      if (each.status === "rejected") expect(String(each.reason)).toMatch(/23514 \(event, no_sita\)/);
    const found = await Promise.all(commands.map(({ checkoutId }) => store.findTransaction(checkoutId)));
    expect(found.map((each) => each !== undefined)).toEqual([false, true, false]);
    await database.tamper("ALTER TABLE event DROP CONSTRAINT no_sita");
    expect(await store.settleTopUp(again(commands[0] as (typeof commands)[0]))).toMatchObject({ kind: "recorded" });
    expect(await findWrong(store)).toEqual([]);
  });
});

test("a top-up whose subscription's row is gone before it is changed is not recorded", async () => {
  const opened = await openFaultyProvider({ onTestFinished });
  const { store, command, database } = opened;
  await database.tamper(`CREATE FUNCTION skip() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
    CREATE TRIGGER gone BEFORE UPDATE ON subscription FOR EACH ROW WHEN (old.req_id = 'sita') EXECUTE FUNCTION skip()`);
  const settled = await Promise.allSettled(
    [SITA_NET, RAM_NET].map((connection) => store.settleTopUp(command(connection, "NET-1M"))),
  );
  expect(settled.map(({ status }) => status)).toEqual(["rejected", "fulfilled"]);
  expect(await countRows(opened, "top_up")).toBe(1);
  expect(await findWrong(store)).toEqual([]);
});

describe("an exchange", () => {
  const open = () => {
    const database = new Database({ url: inject("postgresUrl"), connections: 1, purpose: "serving" });
    onTestFinished(() => database.close());
    return database;
  };

  test("gives the rows that the driver gives, also of a statement that was asked before", async () => {
    const text = `SELECT n AS "n", n::int AS small, 'Añö' AS text, NULL AS nothing, n > 1 AS flag, '\\x00ff'::bytea AS bytes,
      9007199254740991::bigint AS large FROM generate_series(1, $1::bigint) AS n`;
    const query = { name: "all_kinds", text, values: [2] };
    const nothing = { name: "nothing", text: "SET LOCAL work_mem = '4MB'" };
    await open().withSession(async (session) => {
      const { rows } = await session.ask(text, [2]);
      expect(rows).toHaveLength(2);
      expect(await session.runAll([query, nothing, { ...query, values: [0] }])).toEqual([rows, [], []]);
      expect(await session.runAll([nothing, query])).toEqual([[], rows]);
      expect(await session.runAll([])).toEqual([]);
    });
  });

  test("runs nothing behind a statement that fails, and its session can go on", async () => {
    // Such a lock outlasts a transaction that fails.
    const lock = { name: "lock", text: "SELECT pg_advisory_lock($1::bigint)", values: [7_461_999] };
    const fails = { name: "fails", text: "SELECT 1 / $1::bigint", values: [0] };
    const held = { name: "held", text: "SELECT pg_advisory_unlock(7461999) AS was_held" };
    await open().withSession(async (session) => {
      await expect(session.runAll([fails, lock, held])).rejects.toThrow("PostgreSQL refused a statement with 22012");
      expect(await session.run(held)).toEqual([{ was_held: false }]);
      expect(await session.runAll([lock, held])).toEqual([expect.anything(), [{ was_held: true }]]);
    });
  });
});
