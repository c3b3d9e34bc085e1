import { join } from "node:path";
import { expect, test } from "vitest";
import { copyStore } from "../../src/operations/copy-store.ts";
import { findWrong, openStore } from "../store-suite/database.ts";
import { archiveOf, openFilledProvider } from "../store-suite/filled-provider.ts";
import { customersOf } from "../support/customers-of.ts";
import { makePostgresDatabase } from "../support/postgres-database.ts";
import { temporaryFolder } from "../support/service.ts";
import { makeSqliteDatabase, rawConnection } from "../support/sqlite-database.ts";

/** Beyond a page of SQLite, and beyond what PostgreSQL keeps in a row. */
const LONG = "ü€😀".repeat(20_000);

const WITHDRAWN = `'withdrawal', 1${", NULL".repeat(12)}`;
const ODD = [
  // One cuid in both environments, names that are empty and very long, a segment that is empty and one that is not there.
  `INSERT INTO customer VALUES ('both', 'trial', '', '', NULL, 'active', NULL),
     ('both', 'production', '${LONG}', '${LONG}', '', 'inactive', NULL)`,
  `INSERT INTO customer_code VALUES ('both', 'trial', 'both'), ('same', 'trial', 'both'),
     ('both', 'production', 'both'), ('same', 'production', 'both'), ('', 'production', 'both')`,
  `INSERT INTO connection VALUES ('both', 'trial', 'tv', 'same', 0, 'active', 0, NULL, 0),
     ('both', 'production', 'tv', 'same', 0, 'active', 0, '', 1),
     ('both', 'production', 'internet', 'same', 1, 'active', 0, '${LONG}', 1),
     ('both', 'production', 'iptv', '', 2, 'active', 0, NULL, 1)`,
  // Plans without a name, and ledgers of whom and what is gone.
  `INSERT INTO subscription_grant VALUES ('both', 'trial', 'tv', 'same', '', 1, ${WITHDRAWN}),
     ('both', 'production', 'tv', 'same', '', 1, 'statement', 1, '', '', 0, 1, 1, 0, 0, 0, 0, NULL, NULL, NULL),
     ('both', 'production', 'tv', 'same', 'p', 1, 'statement', 1, '', '${LONG}', 1, 1, 1, 0, 0, 0, 0, NULL, NULL, NULL),
     ('both', 'production', 'tv', 'gone', 'p', 7, ${WITHDRAWN}), ('gone', 'production', 'tv', 'r', 'p', 1, ${WITHDRAWN}),
     ('', 'trial', '', '', '', 3, ${WITHDRAWN})`,
  `INSERT INTO subscription SELECT cuid, environment, service, req_id, plan, code, name, add_on, 1, 2678400001,
     1, 0, 0, 0, 0, 0, NULL FROM subscription_grant WHERE cuid = 'both' AND kind = 'statement'`,
];

test("whatever rows a table can hold come to PostgreSQL and back as they are", async () => {
  const path = join(temporaryFolder(), "topupd.db");
  const { store, now } = await openFilledProvider(() => makeSqliteDatabase(path));
  const raw = rawConnection(path);
  for (const insert of ODD) raw.exec(insert);
  const there = await openStore(() => makePostgresDatabase(), { seed: 2 });
  const back = await openStore(() => makeSqliteDatabase(), { seed: 3 });
  there.now = now;
  back.now = now;
  await copyStore(store, there.store, () => {});
  await copyStore(there.store, back.store, () => {});
  expect(await archiveOf(back.store)).toEqual(await archiveOf(store));
  expect(await findWrong(back.store)).toEqual([]);
  const [trial, production] = [
    await customersOf(back.store, "trial", "both"),
    await customersOf(back.store, "production", "both"),
  ];
  expect(trial.map(({ connections }) => connections.length)).toEqual([1]);
  expect(production.map(({ firstName, connections }) => [firstName, connections.length])).toEqual([[LONG, 3]]);
});
