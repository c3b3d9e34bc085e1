import { expect, inject, onTestFinished, test } from "vitest";
import { RECORDING_DEADLINE_MS } from "../../../src/domain/top-up.ts";
import { Database } from "../../../src/store/postgres/session/database.ts";
import { embeddedPackage, findPostgres } from "../../support/postgres-programs.ts";
import { startPostgres } from "../../support/postgres-server.ts";

/** Those that may follow a decision, the commit among them; before each, the session may be idle. */
const STATEMENTS_AFTER_DECISION = 6;

const LIMITS = {
  name: "limits",
  text: `SELECT name, setting::int FROM pg_settings WHERE name IN
    ('statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout', 'transaction_timeout')`,
};

test("PostgreSQL itself ends what takes longer than the deadline of recording", () =>
  expectLimits(inject("postgresUrl")));

test.skipIf(embeddedPackage() === undefined)("the newest PostgreSQL limits the whole transaction too", async () => {
  const server = await startPostgres({}, await findPostgres("embedded"));
  onTestFinished(() => server.close());
  const limits = await expectLimits(server.url);
  expect(limits["transaction_timeout"]).toBeGreaterThan(0);
  expect(limits["transaction_timeout"]).toBeLessThan(RECORDING_DEADLINE_MS);
});

async function expectLimits(url: string): Promise<Record<string, number>> {
  const database = new Database({ url, connections: 1 });
  onTestFinished(() => database.close());
  const rows = await database.ask<{ name: string; setting: number }>(LIMITS);
  const limits = Object.fromEntries(rows.map(({ name, setting }) => [name, setting]));
  const {
    statement_timeout: statement = 0,
    lock_timeout: lock = 0,
    idle_in_transaction_session_timeout: idle = 0,
  } = limits;
  for (const limit of [statement, lock, idle]) expect(limit).toBeGreaterThan(0);
  expect(lock).toBeLessThan(statement);
  expect(STATEMENTS_AFTER_DECISION * (statement + idle)).toBeLessThan(RECORDING_DEADLINE_MS);
  return limits;
}
