import { expect, test } from "vitest";
import { findWrong } from "../store-suite/database.ts";
import { openFilledProvider } from "../store-suite/filled-provider.ts";
import { makePostgresDatabase } from "../support/postgres-database.ts";

const TABLES = [
  "customer",
  "connection",
  "subscription",
  "subscription_grant",
  "top_up",
  "reversal",
  "retired_checkout",
];

test("rows that lie where another customer's would are found, in every table", async () => {
  const database = makePostgresDatabase();
  const { store } = await openFilledProvider(() => database);
  expect(await findWrong(store)).toEqual([]);
  for (const table of TABLES)
    await database.tamper(`UPDATE ${table} SET customer_digest = customer_digest + 1
      WHERE ctid = (SELECT min(ctid) FROM ${table})`);
  const found = TABLES.map((table) => `1 rows of ${table} under a digest that is not their customer's`);
  expect(await findWrong(store)).toEqual(expect.arrayContaining(found));
});
