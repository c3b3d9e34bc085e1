import { expect, inject, onTestFinished, test } from "vitest";
import { RECORDING_DEADLINE_MS } from "../../../src/domain/top-up.ts";
import { Database } from "../../../src/store/postgres/session/database.ts";
import { withClient } from "../../support/postgres-database.ts";
import { sleep, timed } from "./faulty-provider.ts";

/** Those that may follow a decision, the commit among them; before each, the session may be idle. */
const STATEMENTS_AFTER_DECISION = 5;

const LIMITS = {
  name: "limits",
  text: `SELECT name, setting::int FROM pg_settings
    WHERE name IN ('statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout')`,
};

function openDatabase(): Database {
  const database = new Database({ url: inject("postgresUrl"), connections: 1, purpose: "serving" });
  onTestFinished(() => database.close());
  return database;
}

test("PostgreSQL itself ends what takes longer than the deadline of recording", async () => {
  const rows = await openDatabase().ask<{ name: string; setting: number }>([LIMITS]);
  const limits = Object.fromEntries(rows.map(({ name, setting }) => [name, setting]));
  const {
    statement_timeout: statement = 0,
    lock_timeout: lock = 0,
    idle_in_transaction_session_timeout: idle = 0,
  } = limits;
  for (const limit of [statement, lock, idle]) expect(limit).toBeGreaterThan(0);
  expect(lock).toBeLessThan(statement);
  expect(STATEMENTS_AFTER_DECISION * (statement + idle)).toBeLessThan(RECORDING_DEADLINE_MS);
});

test("a session that was ended before it was to commit leaves nothing, and says that it is not known", async () => {
  const pid = { name: "pid", text: "SELECT pg_backend_pid() AS pid" };
  const { result } = await timed(() =>
    openDatabase().transact([[pid]], async (rows, session) => {
      const [[row]] = rows as [[{ pid: number }]];
      await withClient(inject("postgresUrl"), (client) => client.query("SELECT pg_terminate_backend($1)", [row.pid]));
      await sleep(200);
      await session.commit([[pid]]);
    }),
  );
  expect(String(result)).toMatch(/^StoreUnavailable: .*look before you do it again$/);
});

test("a transaction in which something has failed is not taken for committed, though nobody minded", async () => {
  const committing = openDatabase().transact([], async (_, session) => {
    await session.run([{ name: "fails", text: "SELECT 1 / 0" }]).catch(() => {});
    await session.commit();
  });
  await expect(committing).rejects.toThrow("PostgreSQL rolled back what was to be committed");
});
