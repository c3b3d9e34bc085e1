import { join } from "node:path";
import { expect, test } from "vitest";
import { withOwnSession } from "../../src/store/postgres/session/database.ts";
import { IN_ORDER } from "../../src/store/postgres/session/in-order.ts";
import type { Session } from "../../src/store/postgres/session/session.ts";
import { KNOWN, KNOWN_AMONG, OF_FEW } from "../../src/store/postgres/tables/catalogues.ts";
import { NEWEST, NEXT_CODE, OF_FEW as OF_FEW_IN_SQLITE } from "../../src/store/sqlite/tables/catalogues.ts";
import { openStore } from "../store-suite/database.ts";
import { makePostgresDatabase } from "../support/postgres-database.ts";
import { temporaryFolder } from "../support/service.ts";
import { makeSqliteDatabase, rawConnection, tamper } from "../support/sqlite-database.ts";

/*
 * Revisions are never deleted: what it costs to know the codes must not grow with how many there are. Not by the clock,
 * which would tell of the machine, but by the plan, and by the rows that were looked at.
 */

const REVISIONS = 300;
const CODES = 20;
const REVISION_COLUMNS = "catalogue_revision (revision, environment, created_at)";
const COLUMNS = "bouquet (revision, position, service, code, name, price, segments, plan, add_on, months, days)";

test("in SQLite, codes and their newest definitions are found along the index, whatever the number of revisions", async () => {
  const path = join(temporaryFolder(), "topupd.db");
  await openStore(() => makeSqliteDatabase(path));
  const numbers = (last: number) =>
    `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${last})`;
  tamper(
    path,
    `${numbers(REVISIONS)} INSERT INTO ${REVISION_COLUMNS} SELECT n, 'production', 0 FROM numbers;
     ${numbers(CODES)} INSERT INTO ${COLUMNS}
       SELECT revision, n, 'tv', 'c' || n, 'N', 1, '[]', 'p', 0, 1, 0 FROM catalogue_revision, numbers;
     INSERT INTO ${REVISION_COLUMNS} VALUES (${REVISIONS + 1}, 'trial', 0);
     INSERT INTO ${COLUMNS} VALUES (${REVISIONS + 1}, 1, 'tv', 't', 'N', 1, '[]', 'p', 0, 1, 0)`,
  );
  const raw = rawConnection(path);
  const planOf = (sql: string) =>
    (raw.prepare(`EXPLAIN QUERY PLAN ${sql}`).all() as { detail: string }[]).map(({ detail }) => detail);
  // With and without what ANALYZE may have told SQLite of the tables.
  for (const prepare of ["SELECT 1", "ANALYZE"]) {
    raw.exec(prepare);
    expect(planOf(NEXT_CODE)).toEqual([
      "SEARCH bouquet USING COVERING INDEX sqlite_autoindex_bouquet_2 (service=? AND code>?)",
    ]);
    expect(planOf(NEWEST)).toEqual([
      "SEARCH bouquet USING INDEX sqlite_autoindex_bouquet_2 (service=? AND code=?)",
      expect.stringMatching(/^SEARCH catalogue_revision .*rowid=\?/),
    ]);
    expect(planOf(OF_FEW_IN_SQLITE).slice(0, 2)).toEqual([
      "SEARCH catalogue_revision USING COVERING INDEX catalogue_revision_by_environment (environment=?)",
      "SEARCH bouquet USING PRIMARY KEY (revision=?)",
    ]);
  }
});

test("in PostgreSQL, as many rows are looked at as there are codes, whatever the number of revisions", async () => {
  const database = makePostgresDatabase();
  await openStore(() => database);
  await database.tamper(
    `INSERT INTO ${REVISION_COLUMNS} SELECT n, 'production', 0 FROM generate_series(1, ${REVISIONS}) AS n;
     INSERT INTO ${COLUMNS} SELECT revision, n, 'tv', 'c' || n, 'N', 1, '[]', 'p', false, 1, 0
       FROM catalogue_revision, generate_series(1, ${CODES}) AS n;
     INSERT INTO ${REVISION_COLUMNS} VALUES (${REVISIONS + 1}, 'trial', 0);
     INSERT INTO ${COLUMNS} VALUES (${REVISIONS + 1}, 1, 'tv', 't', 'N', 1, '[]', 'p', false, 1, 0)`,
  );
  // As the sessions are that serve requests.
  await withOwnSession(database.url, "serving", async (session) => {
    // Before PostgreSQL knows how large the table has become, and when it knows.
    for (const prepare of ["SELECT 1", "ANALYZE bouquet, catalogue_revision"]) {
      await session.execute(prepare);
      for (const mode of ["force_custom_plan", "force_generic_plan"]) {
        await session.execute(`BEGIN; SET LOCAL plan_cache_mode = ${mode}`);
        await session.execute(IN_ORDER.text);
        // Each code once to come to it, and once for its newest definition, which the trial's has not; PostgreSQL rounds up.
        expect(await lookedAt(session, KNOWN.text, ["'production'"])).toBeLessThanOrEqual(2 * CODES + 3);
        const wanted = ["'production'", "'{tv,tv}'", "'{c7,unknown}'"];
        expect(await lookedAt(session, KNOWN_AMONG.text, wanted)).toBeLessThanOrEqual(2);
        expect(await lookedAt(session, OF_FEW.text, ["'trial'"])).toBe(1);
        await session.rollBack();
      }
    }
  });
});

interface PlanNode {
  readonly "Relation Name"?: string;
  readonly "Actual Rows": number;
  readonly "Actual Loops": number;
  readonly "Rows Removed by Filter"?: number;
  readonly Plans?: readonly PlanNode[];
}

/** The bouquets that a question has looked at. */
async function lookedAt(session: Session, text: string, values: readonly string[]): Promise<number> {
  await session.execute(`DEALLOCATE ALL; PREPARE asked AS ${text}`);
  const [row] = await session.ask<{ "QUERY PLAN": readonly [{ readonly Plan: PlanNode }] }>(
    `EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE asked(${values.join(", ")})`,
  );
  const looked = (node: PlanNode): number => {
    const rows = node["Actual Rows"] + (node["Rows Removed by Filter"] ?? 0);
    const own = node["Relation Name"] === "bouquet" ? rows * node["Actual Loops"] : 0;
    return (node.Plans ?? []).reduce((sum, plan) => sum + looked(plan), own);
  };
  return row === undefined ? 0 : Math.round(looked(row["QUERY PLAN"][0].Plan));
}
