import { expect, test } from "vitest";
import { expectRecorded, openProvider, SITA_NET } from "../store-suite/provider.ts";
import { makePostgresDatabase, withClient } from "../support/postgres-database.ts";

const TABLES = ["top_up", "subscription_grant", "reversal", "retired_checkout"];

async function openAndTopUp() {
  const database = makePostgresDatabase();
  const { store, command } = await openProvider(() => database);
  const { checkoutId, at } = expectRecorded(await store.settleTopUp(command(SITA_NET, "NET-1M")));
  await store.corrections.reverse(checkoutId, { author: "tester", at, reason: "paid twice" });
  await store.concludeCheckout(command(SITA_NET, "NET-1M").checkoutId);
  const run = (sql: string) => withClient(database.url, (client) => client.query(sql));
  return { run, store, at };
}

test("nothing that is on record is deleted, whoever asks, but what is from before the horizon", async () => {
  const { run, store, at } = await openAndTopUp();
  const refused = /never (deleted|changed)|retired for good/;
  for (const table of TABLES) await expect(run(`DELETE FROM ${table}`), table).rejects.toThrow(refused);
  await store.retention.moveHorizon(at, { author: "tester", at });
  for (const table of TABLES) await expect(run(`DELETE FROM ${table}`), table).rejects.toThrow(refused);
  await store.retention.moveHorizon(at + 1, { author: "tester", at });
  for (const table of TABLES) {
    await expect(run(`UPDATE ${table} SET at = 0`), table).rejects.toThrow(refused);
    await expect(run(`TRUNCATE ${table}`), table).rejects.toThrow(refused);
    await run(`DELETE FROM ${table}`);
    expect((await run(`SELECT 1 FROM ${table}`)).rowCount, table).toBe(0);
  }
});

test("the horizon is neither moved back nor taken away, whoever asks", async () => {
  const { run, store, at } = await openAndTopUp();
  await store.retention.moveHorizon(at, { author: "tester", at });
  for (const sql of ["UPDATE retention SET pruned_before = 0", "DELETE FROM retention", "TRUNCATE retention"])
    await expect(run(sql), sql).rejects.toThrow("what was let go does not come back");
  expect(await store.retention.prunedBefore()).toBe(at);
});
