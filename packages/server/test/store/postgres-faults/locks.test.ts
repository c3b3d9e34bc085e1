import { describe, expect, test } from "vitest";
import { StoreContended, StoreUnavailable } from "../../../src/store/errors.ts";
import { countRows, findWrong } from "../../store-suite/database.ts";
import { expectRecorded, RAM_NET, RAM_TV, SITA_NET, SITA_TV } from "../../store-suite/provider.ts";
import { openFaultyProvider, sleep, timed } from "./faulty-provider.ts";

describe.concurrent("what another session holds for long", () => {
  test("is a customer's row: the top-up of that customer fails in time, and its neighbours are recorded", async ({
    onTestFinished,
  }) => {
    const { store, command, otherSession } = await openFaultyProvider({ onTestFinished });
    const other = await otherSession();
    await other.query("BEGIN; SELECT 1 FROM customer WHERE cuid = '2000001' FOR UPDATE");
    const held = command(SITA_NET, "NET-1M");
    const [first, ...others] = await Promise.all(
      [held, command(RAM_NET, "NET-1M"), command(RAM_TV, "TV-1M")].map((each) => timed(() => store.settleTopUp(each))),
    );
    expect(first?.result).toBeInstanceOf(StoreContended);
    for (const { result } of others) expect(result).toMatchObject({ kind: "recorded" });
    for (const each of [first, ...others]) expect(each?.ms).toBeLessThan(6_500);
    expect(await store.findTransaction(held.checkoutId)).toBeUndefined();
    await other.query("ROLLBACK");
    expect(await store.settleTopUp(held)).toMatchObject({ kind: "recorded" });
    expect(await findWrong(store)).toEqual([]);
  });

  test.for([
    { what: "all of the top-ups", lock: "LOCK TABLE top_up IN ACCESS EXCLUSIVE MODE" },
    { what: "what is written after the decision", lock: "LOCK TABLE ledger_entry IN SHARE MODE" },
  ])("is $what: all fail in time, and nothing is recorded when it lets go", async ({ lock }, { onTestFinished }) => {
    const opened = await openFaultyProvider({ onTestFinished });
    const { store, otherSession } = opened;
    const other = await otherSession();
    await other.query(`BEGIN; ${lock}`);
    const commands = Array.from({ length: 20 }, () => opened.command(RAM_NET, "NET-1M"));
    const results = commands.map((command) => timed(() => store.settleTopUp(command)));
    await sleep(100);
    // Items behind a blocked batch are rejected with it, and do not wait as long again.
    const late = opened.command(SITA_NET, "NET-1M");
    for (const { ms, result } of await Promise.all([...results, timed(() => store.settleTopUp(late))])) {
      expect(result).toBeInstanceOf(StoreUnavailable);
      expect(ms).toBeLessThan(8_500);
    }
    await other.query("ROLLBACK");
    await sleep(500);
    expect(await countRows(opened, "top_up")).toBe(0);
    const again = await Promise.all([...commands, late].map((command) => store.settleTopUp(command)));
    expect(again.map(({ kind }) => kind)).toEqual(again.map(() => "recorded"));
    expect(await countRows(opened, "top_up")).toBe(21);
    expect(await findWrong(store)).toEqual([]);
  });

  test("is all of the pool: further requests fail in time, and later ones go on", async ({ onTestFinished }) => {
    const { store, otherSession } = await openFaultyProvider({ onTestFinished, connections: 1 });
    const other = await otherSession();
    await other.query("BEGIN; LOCK TABLE connection IN ACCESS EXCLUSIVE MODE");
    // Hanging batches may wait before the others too.
    const hanging = Array.from({ length: 4 }, () => timed(() => store.findConnection(SITA_TV)));
    const others = [() => store.ping(), () => store.findTransaction("nobody's")].map(timed);
    for (const { ms, result } of await Promise.all([...hanging, ...others])) {
      expect(result).toBeInstanceOf(StoreUnavailable);
      expect(ms).toBeLessThan(4_500);
    }
    await store.ping();
    await other.query("ROLLBACK");
    expect(await store.findConnection(SITA_TV)).toBeDefined();
  });
});

describe.concurrent("a batch that PostgreSQL breaks off", () => {
  test.for([
    { what: "because of a deadlock", code: "40P01" },
    { what: "because it cannot be put in a row with others", code: "40001" },
  ])("$what is settled item by item, and recorded once", async ({ code }, { onTestFinished }) => {
    const opened = await openFaultyProvider({ onTestFinished });
    await opened.database.tamper(`CREATE SEQUENCE broken_off;
      CREATE FUNCTION break_off() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF nextval('broken_off') = 1 THEN RAISE EXCEPTION 'broken off' USING ERRCODE = '${code}'; END IF;
        RETURN NULL;
      END $$;
      CREATE TRIGGER break_off AFTER INSERT ON top_up FOR EACH STATEMENT EXECUTE FUNCTION break_off()`);
    const commands = [SITA_NET, RAM_NET, SITA_NET].map((connection) => opened.command(connection, "NET-1M"));
    const outcomes = await Promise.all(commands.map((command) => opened.store.settleTopUp(command)));
    expect(outcomes.map(({ kind }) => kind)).toEqual(["recorded", "recorded", "recorded"]);
    expect(await countRows(opened, "top_up")).toBe(3);
    expect(await countRows(opened, "ledger_entry WHERE txn_id IS NOT NULL")).toBe(3);
    expect(await opened.database.read("SELECT last_value::int FROM broken_off")).toEqual([{ last_value: 4 }]);
  });
});

test("a table that gains a column meanwhile fails no request", async ({ onTestFinished }) => {
  const { store, command, database } = await openFaultyProvider({ onTestFinished, connections: 3 });
  const recorded = command(SITA_NET, "NET-1M");
  const { txnId } = expectRecorded(await store.settleTopUp(recorded));
  // Every session prepares the statement first.
  const findThrice = () => Promise.all([1, 2, 3].map(() => store.findTransaction(recorded.checkoutId)));
  await findThrice();
  for (const table of ["top_up", "connection", "subscription", "ledger_entry", "customer"])
    await database.tamper(`ALTER TABLE ${table} ADD COLUMN note text`);
  expect(await findThrice()).toMatchObject([{ txnId }, { txnId }, { txnId }]);
  expect(await store.settleTopUp(command(SITA_NET, "NET-1M"))).toMatchObject({ kind: "recorded" });
});
