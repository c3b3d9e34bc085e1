import { expect, inject, onTestFinished, test } from "vitest";
import { RECORDING_DEADLINE_MS } from "../../../src/domain/top-up.ts";
import { StoreUnavailable } from "../../../src/store/errors.ts";
import { Database } from "../../../src/store/postgres/database.ts";
import { LIMITS } from "../../../src/store/postgres/session.ts";
import { countRows, findWrong } from "../../store-suite/database.ts";
import { SITA_NET } from "../../store-suite/provider.ts";
import { withClient } from "../../support/postgres-database.ts";
import { openFaultyProvider, sleep, timed, untilWell } from "./faulty-provider.ts";

/** Statements after a decision, including the commit; the session may be idle before each. */
const STATEMENTS_AFTER_DECISION = 5;

const SETTINGS = {
  name: "settings",
  text: `SELECT name, setting::int FROM pg_settings
    WHERE name IN ('statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout') OR name ~ '^tcp_keep'`,
};

function openDatabase(): Database {
  const database = new Database({ url: inject("postgresUrl"), connections: 1, purpose: "serving" });
  onTestFinished(() => database.close());
  return database;
}

test("PostgreSQL itself ends what takes longer than the deadline of recording", async () => {
  const rows = await openDatabase().ask<{ name: string; setting: number }>(SETTINGS);
  const limits = Object.fromEntries(rows.map(({ name, setting }) => [name, setting]));
  const {
    statement_timeout: statement = 0,
    lock_timeout: lock = 0,
    idle_in_transaction_session_timeout: idle = 0,
  } = limits;
  for (const limit of [statement, lock, idle]) expect(limit).toBeGreaterThan(0);
  expect(lock).toBeLessThan(statement);
  expect(STATEMENTS_AFTER_DECISION * (statement + idle)).toBeLessThan(RECORDING_DEADLINE_MS);
  const { tcp_keepalives_idle = 0, tcp_keepalives_interval = 0, tcp_keepalives_count = 0 } = limits;
  expect(tcp_keepalives_idle + tcp_keepalives_interval * tcp_keepalives_count).toBe(11);
});

test("a serving session plans a statement once, for all parameters", async () => {
  const numbered = { name: "numbered", text: "SELECT n FROM generate_series(1, $1::bigint) AS n WHERE n > $2::bigint" };
  const plans = {
    name: "plans",
    text: "SELECT generic_plans, custom_plans FROM pg_prepared_statements WHERE name = $1",
  };
  const counted = await openDatabase().withSession(async (session) => {
    for (const values of [
      [9, 1],
      [9_000, 8_000],
    ])
      await session.run({ ...numbered, values });
    return session.run({ ...plans, values: ["numbered"] });
  });
  expect(counted).toEqual([{ generic_plans: 2, custom_plans: 0 }]);
});

test("a session that was ended before it was to commit leaves nothing, and says that it is not known", async () => {
  const pid = { name: "pid", text: "SELECT pg_backend_pid() AS pid" };
  const { result } = await timed(() =>
    openDatabase().transact([pid], async (rows, session) => {
      const [[row]] = rows as [[{ pid: number }]];
      await withClient(inject("postgresUrl"), (client) => client.query("SELECT pg_terminate_backend($1)", [row.pid]));
      await sleep(200);
      await session.commit([pid]);
    }),
  );
  expect(String(result)).toMatch(/^StoreUnavailable: .*look before you do it again$/);
});

test("a transaction with an ignored error does not count as committed", async () => {
  const committing = openDatabase().transact([], async (_, session) => {
    await session.run({ name: "fails", text: "SELECT 1 / 0" }).catch(() => {});
    await session.commit();
  });
  await expect(committing).rejects.toThrow("PostgreSQL rolled back the transaction");
});

test("a process that stands still between reading and writing finds its transaction ended by PostgreSQL", async () => {
  const opened = await openFaultyProvider({ onTestFinished });
  const { store, now } = opened;
  const command = opened.command(SITA_NET, "NET-1M");
  let stillMs = LIMITS.serving.idleInTransaction + 1_000;
  // The clock is first read at the decision, after all reads and locks.
  Object.defineProperty(opened, "now", {
    get: () => {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, stillMs);
      stillMs = 0;
      return now;
    },
  });
  await expect(store.settleTopUp(command)).rejects.toThrow(StoreUnavailable);
  expect(stillMs).toBe(0);
  expect(await countRows(opened, "top_up")).toBe(0);
  await untilWell(() => store.ping());
  expect(await store.settleTopUp(command)).toMatchObject({ kind: "recorded" });
  expect(await countRows(opened, "top_up")).toBe(1);
  expect(await findWrong(store)).toEqual([]);
});
