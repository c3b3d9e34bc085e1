import { expect, test } from "vitest";
import { ARCHIVE_TABLES } from "../../src/store/common/archive.ts";
import { collect } from "../store-suite/filled-provider.ts";
import { expectRecorded, openProvider, SITA_NET } from "../store-suite/provider.ts";
import { makePostgresDatabase } from "../support/postgres-database.ts";

test("grants come out of PostgreSQL in the order of their ledgers, however its table has them", async () => {
  const { store, command, database } = await openProvider(() => makePostgresDatabase());
  for (const code of ["NET-1M", "NET-3M", "NET-1M"]) expectRecorded(await store.settleTopUp(command(SITA_NET, code)));
  await database.tamper(`CREATE TEMP TABLE kept AS SELECT * FROM subscription_grant;
    DELETE FROM subscription_grant;
    INSERT INTO subscription_grant SELECT * FROM kept ORDER BY seq DESC`);
  const [stored] = await database.read("SELECT seq FROM subscription_grant LIMIT 1");
  expect(Number(stored?.["seq"])).toBeGreaterThan(1);

  const columns = ARCHIVE_TABLES.find(({ name }) => name === "subscription_grant")?.columns ?? [];
  const place = columns.findIndex(([column]) => column === "seq");
  const seqs = (await collect(store)).flatMap((chunk) =>
    chunk.kind === "rows" && chunk.table === "subscription_grant" ? chunk.rows.map((row) => Number(row[place])) : [],
  );
  expect(seqs).toEqual([...seqs].sort((a, b) => a - b));
  expect(seqs.at(-1)).toBe(4);
});
