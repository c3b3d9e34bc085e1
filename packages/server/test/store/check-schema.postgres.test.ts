import { expect, test } from "vitest";
import { findWrong, openStore } from "../store-suite/database.ts";
import { makePostgresDatabase } from "../support/postgres-database.ts";

/** As a dump writes them, and a restore reads them. */
const WRITTEN_OUT = `
  SELECT format('DROP TRIGGER %I ON %s', tgname, tgrelid::regclass) AS away, pg_get_triggerdef(oid) AS back
    FROM pg_trigger WHERE NOT tgisinternal UNION ALL
  SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', conrelid::regclass, conname),
      format('ALTER TABLE %s ADD %s', conrelid::regclass, pg_get_constraintdef(oid))
    FROM pg_constraint WHERE connamespace = 'public'::regnamespace AND contype = 'c'`;

test("tables and triggers that were dumped and restored are in order", async () => {
  const database = makePostgresDatabase();
  const { store } = await openStore(() => database);
  const parts = await database.read(WRITTEN_OUT);
  expect(parts.length).toBeGreaterThan(50);
  for (const { away, back } of parts) await database.read(`${String(away)}; ${String(back)}`);
  expect(await findWrong(store)).toEqual([]);
});

test("a trigger of the same name with another condition is found", async () => {
  const database = makePostgresDatabase();
  const { store } = await openStore(() => database);
  await database.read(`DROP TRIGGER retired_checkout_stays ON retired_checkout;
    CREATE TRIGGER retired_checkout_stays BEFORE UPDATE ON retired_checkout FOR EACH ROW WHEN (NEW.at < OLD.at)
      EXECUTE FUNCTION refuse_change('a checkout is retired for good')`);
  expect(await findWrong(store)).toEqual([expect.stringContaining("missing: CREATE TRIGGER retired_checkout_stays")]);
});
