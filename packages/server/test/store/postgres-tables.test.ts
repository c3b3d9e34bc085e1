import fc from "fast-check";
import type pg from "pg";
import { expect, test } from "vitest";
import { asked, withRows } from "../../src/store/postgres/columns.ts";
import { endClient, openClient } from "../../src/store/postgres/database.ts";
import { number, text } from "../../src/store/table.ts";
import { plain } from "../store-suite/customers.ts";
import { expectRecorded, openProvider, SITA_NET } from "../store-suite/provider.ts";
import { moveHorizon } from "../support/history.ts";
import { makeEmptyDatabase, makePostgresDatabase, withClient } from "../support/postgres-database.ts";

const RUNNING = { code: "NET-1M", startdate: "2026-11-10 09:00:00", enddate: "2026-12-10 09:00:00" };

test("a subscription stays in its page when it is topped up, though others fill the pages around it", async () => {
  const { restate, topUp, database } = await openProvider(() => makePostgresDatabase());
  const customers = Array.from({ length: 200 }, (_, index) =>
    plain(`30${index}`, {
      connections: { internet: [{ username: `u${index}`, status: "active", subscriptions: [RUNNING] }] },
    }),
  );
  await restate(...customers);
  const pages = () => database.read("SELECT req_id, (ctid::text::point)[0] AS page FROM subscription ORDER BY req_id");
  const before = await pages();
  expect(Math.max(...before.map(({ page }) => page as number))).toBeGreaterThan(2);
  for (const reqId of ["u0", "u20", "u40", "u60"])
    await topUp({ ...SITA_NET, cuid: `3${reqId.replace("u", "0")}`, reqId }, "NET-1M");
  expect(await pages()).toEqual(before);
});

test("each session adds sales to rows of its own, and a lane that is free again is used again", async () => {
  const { url, made } = makeEmptyDatabase();
  await made;
  const laneOf = async ({ client }: { readonly client: pg.Client }) =>
    Number((await client.query("SELECT current_setting('topupd.lane') AS lane")).rows[0].lane);
  const open = async () => ({ client: await openClient(url, "serving") });
  const sessions = await Promise.all([open(), open(), open()]);
  const lanes = await Promise.all(sessions.map(laneOf));
  expect(new Set(lanes)).toEqual(new Set([0, 1, 2]));
  await endClient((sessions[1] as (typeof sessions)[0]).client);
  await expect
    .poll(async () => {
      const next = await open();
      const lane = await laneOf(next);
      await endClient(next.client);
      return lane;
    })
    .toBe(lanes[1]);
  for (const index of [0, 2]) await endClient((sessions[index] as (typeof sessions)[0]).client);
});

test("a batch that was planned while there was no top-up does not read all of them once there are many", async () => {
  const database = makePostgresDatabase();
  const { store, command } = await openProvider(() => database);
  await withClient(database.url, async (client) => {
    await client.query("VACUUM ANALYZE");
    // The database may have served another test before.
    await client.query("SELECT pg_stat_reset()");
  });
  for (let batch = 0; batch < 3; batch += 1) {
    const commands = Array.from({ length: 200 }, () => command(SITA_NET, "NET-1M"));
    for (const outcome of await Promise.all(commands.map((each) => store.settleTopUp(each)))) expectRecorded(outcome);
  }
  await store.close();
  const read = async () =>
    (
      await database.read(`SELECT n_tup_ins::int AS written, (seq_tup_read + idx_tup_fetch)::int AS read
        FROM pg_stat_user_tables WHERE relname = 'top_up'`)
    )[0];
  await expect.poll(read).toEqual({ written: 600, read: 0 });
});

const COLUMNS = { name: text(), months: number(), amount: number() };

/** PostgreSQL's text cannot contain NUL, and readers refuse lone surrogates. */
const words = fc.string({ unit: "binary" }).filter((each) => !each.includes("\u0000") && each.isWellFormed());
const row = fc.record({
  name: fc.option(fc.oneof(words, fc.constantFrom("NULL", "null", "", " ", "{}", ",", '"', "\\", '\\"', "{a,b}"))),
  months: fc.option(fc.integer()),
  amount: fc.option(fc.maxSafeInteger()),
});

test("rows of parameters arrive unchanged, with any content", async () => {
  const { url, made } = makeEmptyDatabase();
  await made;
  const ask = withRows({ name: "rows", text: `SELECT * FROM ${asked(COLUMNS)}` }, COLUMNS);
  await withClient(url, async (client) => {
    await fc.assert(
      fc.asyncProperty(fc.array(row, { maxLength: 20 }), async (rows) => {
        const { values = [], ...statement } = ask(rows);
        const { rows: got } = await client.query({ ...statement, values: [...values] });
        const numberOf = (value: string | null) => (value === null ? null : Number(value));
        const numbered = got.map(({ name, months, amount }) => ({
          name,
          months: numberOf(months),
          amount: numberOf(amount),
        }));
        expect(numbered).toEqual(rows);
      }),
    );
  });
});

test("records are never changed, and deleted only if they are from before the horizon", async () => {
  const database = makePostgresDatabase();
  const opened = await openProvider(() => database);
  const { store, topUp, reverse, now } = opened;
  const { checkoutId } = await topUp(SITA_NET, "NET-1M");
  await reverse(checkoutId);
  const run = (sql: string) => withClient(database.url, (client) => client.query(sql));
  const refused = /never (deleted|changed)/;
  for (const table of ["top_up", "ledger_entry", "audit_entry"]) {
    await expect(run(`UPDATE ${table} SET at = 0`), table).rejects.toThrow(refused);
    await expect(run(`DELETE FROM ${table}`), table).rejects.toThrow(refused);
  }
  await expect(run("UPDATE top_up SET status = 'success'")).rejects.toThrow(refused);
  await moveHorizon({ store, now }, now);
  await expect(run("DELETE FROM top_up")).rejects.toThrow(refused);
  await moveHorizon({ store, now }, now + 1);
  expect((await run("DELETE FROM top_up")).rowCount).toBe(1);
});
