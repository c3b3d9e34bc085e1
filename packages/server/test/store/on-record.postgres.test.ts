import { expect, test } from "vitest";
import { openProvider, SITA_NET } from "../store-suite/provider.ts";
import { moveHorizon } from "../support/history.ts";
import { makePostgresDatabase, withClient } from "../support/postgres-database.ts";

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
