import pg from "pg";
import { expect, inject, onTestFinished, test } from "vitest";
import { StoreUnavailable } from "../../../src/store/errors.ts";
import { Database } from "../../../src/store/postgres/session/database.ts";
import { setUp } from "../../../src/store/postgres/session/session.ts";
import { StatementFailed, translate } from "../../../src/store/postgres/session/trouble.ts";
import { withClient } from "../../support/postgres-database.ts";
import { sleep, timed } from "./faulty-provider.ts";

const PID = { name: "pid", text: "SELECT pg_backend_pid() AS pid" };

test("a session that PostgreSQL does not let be set up speaks of the setting that is too short", async () => {
  const error = Object.assign(new pg.DatabaseError("canceling statement due to statement timeout", 0, "error"), {
    code: "57014",
  });
  const client = { query: () => Promise.reject(error) } as unknown as pg.Client;
  await expect(setUp(client, "serving")).rejects.toThrow(StoreUnavailable);
  await expect(setUp(client, "serving")).rejects.toThrow(/statement_timeout of the role.*ALTER ROLE/);
});

test("a session that was ended before it was to commit says so, and not that it may have been done", async () => {
  const url = inject("postgresUrl");
  const database = new Database({ url, connections: 1 });
  onTestFinished(() => database.close());
  const { result } = await timed(() =>
    database.transact([[PID]], async (rows, session) => {
      const [[{ pid }]] = rows as [[{ pid: number }]];
      await withClient(url, (client) => client.query("SELECT pg_terminate_backend($1)", [pid]));
      await sleep(200);
      await session.commit([[PID]]);
    }),
  );
  expect(result).toBeInstanceOf(StoreUnavailable);
  expect(String(result)).toMatch(/was lost before this was asked of it$/);
});

test("a server without transaction numbers is unavailable until it is vacuumed, and no defect", () => {
  const refused = (routine: string) =>
    translate(Object.assign(new pg.DatabaseError("refused", 0, "error"), { code: "54000", routine }));
  for (const routine of ["GetNewTransactionId", "GetNewMultiXactId"]) {
    expect(refused(routine)).toBeInstanceOf(StoreUnavailable);
    expect(String(refused(routine))).toContain("run out of transaction numbers");
  }
  expect(refused("index_form_tuple")).toBeInstanceOf(StatementFailed);
});

test("a transaction in which something has failed is not taken for committed, though nobody minded", async () => {
  const database = new Database({ url: inject("postgresUrl"), connections: 1 });
  onTestFinished(() => database.close());
  const committing = database.transact([], async (_, session) => {
    await session.run({ name: "fails", text: "SELECT 1 / 0" }).catch(() => {});
    await session.commit([]);
  });
  await expect(committing).rejects.toThrow("PostgreSQL rolled back what was to be committed");
});
