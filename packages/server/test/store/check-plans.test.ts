import { join } from "node:path";
import { expect, test } from "vitest";
import * as postgres from "../../src/store/postgres/check.ts";
import { withOwnSession } from "../../src/store/postgres/session/database.ts";
import type { Session } from "../../src/store/postgres/session/session.ts";
import * as sqlite from "../../src/store/sqlite/check.ts";
import { findWrong } from "../store-suite/database.ts";
import { BOUQUETS, openProvider } from "../store-suite/provider.ts";
import { makePostgresDatabase } from "../support/postgres-database.ts";
import { temporaryFolder } from "../support/service.ts";
import { makeSqliteDatabase, rawConnection } from "../support/sqlite-database.ts";

/*
 * What a check costs where the catalogue has changed often and much was sold. Not by the clock, which would tell of the
 * machine, but by the plan, and by the rows that were passed on.
 */

const REVISIONS = 1_000;
const TOP_UPS = 2_000;
const ROWS = REVISIONS * BOUQUETS.length + TOP_UPS;

/** Each revision has its own prices, and all is sold at those of the last. */
function filling(count: (name: string, to: number) => string, digest: readonly [column: string, value: string]) {
  const [column, value] = digest;
  return `
    INSERT INTO catalogue_revision SELECT r, 'production', 1 FROM (${count("r", REVISIONS)}) AS more WHERE r > 1;
    INSERT INTO bouquet SELECT r, position, service, code, name, price + r, segments, plan, add_on, months, days
      FROM bouquet, (${count("r", REVISIONS)}) AS more WHERE revision = 1 AND r > 1;
    INSERT INTO top_up (${column}checkout_id, txn_id, partner_id, environment, cuid, service, req_id, bouquet_code, amount,
        at, status)
      SELECT ${value}'checkout' || n, 'txn' || n, 1, 'production', 'c' || n, service, 'r', code, price, 1, 'success'
      FROM bouquet, (${count("n", TOP_UPS)}) AS more WHERE revision = ${REVISIONS} AND position = n % ${BOUQUETS.length};
    INSERT INTO subscription_grant (${column}cuid, environment, service, req_id, plan, seq, kind, at, checkout_id)
      SELECT ${value}cuid, environment, service, req_id, 'p', 1, 'top_up', at, checkout_id FROM top_up`;
}

test("in PostgreSQL, no question reads a table for every row of another, however little memory there is", async () => {
  const database = makePostgresDatabase();
  const series = (name: string, to: number) => `SELECT ${name} FROM generate_series(1, ${to}) AS ${name}`;
  const { store } = await openProvider(() => database);
  await database.tamper(filling(series, ["customer_digest, ", "1, "]));
  const answers = await withOwnSession(database.url, "working", async (session) => {
    await session.execute("ANALYZE; SET work_mem = '64kB'; SET statement_timeout = '30s'");
    const costs: [string, number][] = [];
    for (const [what, query] of postgres.QUESTIONS) costs.push([what, await rowsPassedOn(session, query)]);
    return costs;
  });
  expect(answers.filter(([, rows]) => rows > 5 * ROWS)).toEqual([]);
  expect((await findWrong(store)).join()).not.toContain("price");
});

test("in SQLite, no question reads a table for every row of another", async () => {
  const path = join(temporaryFolder(), "topupd.db");
  const database = makeSqliteDatabase(path);
  const { store } = await openProvider(() => database);
  const count = (name: string, to: number) =>
    `WITH RECURSIVE numbers (${name}) AS (SELECT 1 UNION ALL SELECT ${name} + 1 FROM numbers WHERE ${name} < ${to})
     SELECT ${name} FROM numbers`;
  await database.tamper(filling(count, ["", ""]));
  const raw = rawConnection(path);
  // With and without what ANALYZE may have told SQLite of the tables.
  for (const prepare of ["SELECT 1", "ANALYZE"]) {
    raw.exec(prepare);
    for (const [what, query] of sqlite.QUESTIONS) {
      const plan = raw.prepare(`EXPLAIN QUERY PLAN ${query}`).all() as unknown as PlanStep[];
      expect(nestedScans(plan), what).toEqual([]);
    }
  }
  expect((await findWrong(store)).join()).not.toContain("price");
});

interface PlanNode {
  readonly "Actual Rows": number;
  readonly "Actual Loops": number;
  readonly "Rows Removed by Filter"?: number;
  readonly "Rows Removed by Join Filter"?: number;
  readonly Plans?: readonly PlanNode[];
}

/** By the part of a plan that passes on the most, as PostgreSQL tells after it was run. */
async function rowsPassedOn(session: Session, query: string): Promise<number> {
  const [row] = await session.ask<{ "QUERY PLAN": readonly [{ readonly Plan: PlanNode }] }>(
    `EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) ${query}`,
  );
  const most = (node: PlanNode): number => {
    const rows =
      node["Actual Rows"] + (node["Rows Removed by Filter"] ?? 0) + (node["Rows Removed by Join Filter"] ?? 0);
    return Math.max(rows * node["Actual Loops"], ...(node.Plans ?? []).map(most));
  };
  return row === undefined ? 0 : most(row["QUERY PLAN"][0].Plan);
}

interface PlanStep {
  readonly id: number;
  readonly parent: number;
  readonly detail: string;
}

/** Scans below the first step of a loop, and all in what is asked for every row. */
function nestedScans(plan: readonly PlanStep[]): string[] {
  const isAsked = ({ parent }: PlanStep): boolean => {
    const above = plan.find(({ id }) => id === parent);
    return above !== undefined && (above.detail.startsWith("CORRELATED") || isAsked(above));
  };
  const isLater = (step: PlanStep): boolean => {
    const loop = plan.filter(({ parent, detail }) => parent === step.parent && /^(SCAN|SEARCH) /.test(detail));
    return loop.indexOf(step) > 0;
  };
  // But those of what a recursion has found.
  const scans = plan.filter(({ detail }) => /^SCAN (?!ledger$|CONSTANT ROW$)/.test(detail));
  return scans.filter((step) => isAsked(step) || isLater(step)).map(({ detail }) => detail);
}
