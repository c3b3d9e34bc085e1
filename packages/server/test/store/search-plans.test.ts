import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { customerDigest } from "../../src/domain/checkout.ts";
import { withinValues } from "../../src/store/common/settlement-sums.ts";
import { FILTER_VALUES, filterValues, STEP_ROWS } from "../../src/store/common/transaction-search.ts";
import { withOwnSession } from "../../src/store/postgres/session/database.ts";
import { IN_ORDER } from "../../src/store/postgres/session/in-order.ts";
import type { Session } from "../../src/store/postgres/session/session.ts";
import * as postgres from "../../src/store/postgres/tables/search.ts";
import { FIND as CUSTOMERS, MARK_TOPPED_UP } from "../../src/store/sqlite/tables/customers.ts";
import { FIND as HISTORY } from "../../src/store/sqlite/tables/history.ts";
import { DELETE_GRANTS, IMPORTED, LEAD_TO_NONE, LEDGERS as PRUNABLE } from "../../src/store/sqlite/tables/retention.ts";
import * as sqlite from "../../src/store/sqlite/tables/search.ts";
import { WRITE as LEDGER } from "../../src/store/sqlite/tables/subscriptions.ts";
import { openProvider, SITA } from "../store-suite/provider.ts";
import { makePostgresDatabase } from "../support/postgres-database.ts";
import { temporaryFolder } from "../support/service.ts";
import { makeSqliteDatabase, rawConnection, tamper } from "../support/sqlite-database.ts";

/*
 * What a search costs in a table that has grown. Not by the clock, which would tell of the machine, but by the
 * plan, and by the rows that were looked at.
 */

const ROWS = 200_000;
const WORDS = "partner_id, environment, cuid, service, req_id, bouquet_code, amount, at, status";
const VALUES = "1, 'production', 'c' || (n % 50000), 'tv', 'r' || (n % 50000), 'TV-1M', 45000, n, 'success'";

/** A filter that lets nothing through: the most that a step can cost. */
const NOTHING = filterValues({ environment: "production", udf1: "nothing has it", partnerId: 1 });
const ALL = ["", "~"] as const;

const escaped = (text: string) => text.replace(/[()?]/g, "\\$&");

describe("in SQLite", () => {
  test("a list goes along the index of the txnId, and a customer's own by the customer's grants", async () => {
    const path = join(temporaryFolder(), "topupd.db");
    await openProvider(() => makeSqliteDatabase(path));
    const numbers = `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${ROWS})`;
    tamper(
      path,
      `${numbers} INSERT INTO top_up (checkout_id, txn_id, ${WORDS})
         SELECT 'checkout' || n, 'txn' || printf('%023d', n), ${VALUES} FROM numbers;
       ${numbers} INSERT INTO subscription_grant (cuid, environment, service, req_id, plan, seq, kind, at)
         SELECT 'c' || n, 'production', 'tv', 'r' || n, 'p', 1, 'withdrawal', n FROM numbers LIMIT 50000`,
    );
    const raw = rawConnection(path);
    const planOf = (sql: string): string[] => {
      const rows = raw.prepare(`EXPLAIN QUERY PLAN ${sql}`).all() as { detail: string }[];
      return rows.map(({ detail }) => detail);
    };
    // With and without what ANALYZE may have told SQLite of the tables.
    for (const prepare of ["SELECT 1", "ANALYZE"]) {
      raw.exec(prepare);
      expect(planOf(sqlite.BOUNDARY)).toEqual([
        "SEARCH top_up USING COVERING INDEX top_up_by_txn_id (txn_id>? AND txn_id<?)",
      ]);
      expect(planOf(sqlite.MATCHES)).toEqual(["SEARCH t USING INDEX top_up_by_txn_id (txn_id>? AND txn_id<?)"]);
      expect(planOf(sqlite.SUMS)[0]).toBe("SEARCH top_up USING INDEX top_up_by_txn_id (txn_id>? AND txn_id<?)");
      expect(planOf(sqlite.REVERSAL_SUMS)[0]).toBe("SEARCH reversal USING INDEX reversal_by_time (at>? AND at<?)");
      const ofCustomer = planOf(sqlite.MATCHES_OF_CUSTOMER).join("\n");
      expect(ofCustomer).toContain("SEARCH t USING PRIMARY KEY (checkout_id=?)");
      expect(ofCustomer).toContain("SEARCH r USING PRIMARY KEY (cuid=? AND environment=? AND level=?)");
      expect(ofCustomer).toContain("SEARCH g USING INTEGER PRIMARY KEY (rowid=?)");
      expect(ofCustomer).toContain("SEARCH top_up USING COVERING INDEX top_up_imported (cuid=? AND environment=?)");
      expect(scansOfTables(planOf(sqlite.MATCHES_OF_CUSTOMER))).toEqual([]);
      for (const [name, query] of Object.entries(HISTORY)) {
        const key = name === "txnIds" ? "INDEX top_up_by_txn_id (txn_id=?)" : "PRIMARY KEY (checkout_id=?)";
        expect(planOf(query).join("\n")).toMatch(new RegExp(`SEARCH t USING (?:COVERING )?${escaped(key)}`));
      }
      expect(planOf(IMPORTED)[0]).toMatch(/^SEARCH t USING INDEX top_up_imported \(/);
      expect(planOf(IMPORTED).join("\n")).not.toContain("B-TREE");
      const page = planOf(sqlite.PAGE).join("\n");
      for (const search of ["customer_row", "r"].map((name) => `SEARCH ${name} USING PRIMARY KEY (cuid>?)`))
        expect(page).toContain(search);
      expect(searches(planOf(sqlite.PAGE))).toEqual(["cuid>?", OF_CUSTOMER, OF_CUSTOMER, OF_CONNECTION]);
      expect(page).not.toContain("B-TREE");
    }
  });

  test("a look-up, a listing and a top-up read no grant, and whoever reads grants goes along a ledger", async () => {
    const path = join(temporaryFolder(), "topupd.db");
    await openProvider(() => makeSqliteDatabase(path));
    tamper(
      path,
      `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 20000)
       INSERT INTO subscription_grant (cuid, environment, service, req_id, plan, seq, kind, at)
       SELECT cuid, environment, service, req_id, plan, seq + n, 'withdrawal', n FROM subscription_grant, numbers
       WHERE seq = 1 AND service = 'internet'`,
    );
    const raw = rawConnection(path);
    const planOf = (sql: string): string[] => {
      const rows = raw.prepare(`EXPLAIN QUERY PLAN ${sql}`).all() as { detail: string }[];
      return rows.map(({ detail }) => detail);
    };
    for (const prepare of ["SELECT 1", "ANALYZE"]) {
      raw.exec(prepare);
      for (const [name, query] of Object.entries(CUSTOMERS)) {
        const ofConnections = name === "connection" ? OF_CONNECTION : OF_CUSTOMER;
        expect(searches(planOf(query)), name).toEqual([OF_CUSTOMER, ofConnections, OF_CONNECTION]);
        const plan = planOf(query).join("\n");
        expect(plan, name).not.toMatch(/SCAN (?!k$)|B-TREE FOR (?!DISTINCT)/m);
        expect(plan.includes("SEARCH customer_code USING PRIMARY KEY (code=? AND environment=?)"), name).toBe(
          name !== "byCuid" && name !== "connection",
        );
        expect(plan, name).not.toContain("grant_row");
      }
      expect(planOf(MARK_TOPPED_UP)).toEqual([searchBy(OF_CONNECTION)]);
      expect(planOf(LEDGER.append)).toEqual([searchBy(OF_PLAN)]);
      expect(planOf(LEDGER.update)).toEqual([searchBy(OF_PLAN)]);
      expect(planOf(LEDGER.restore)).toEqual([searchBy(OF_PLAN)]);
      expect(planOf(LEDGER.insert)).toEqual([]);
      for (const [query, key] of [
        [sqlite.LEDGERS, OF_CONNECTION],
        [PRUNABLE, OF_CUSTOMER],
        [DELETE_GRANTS, OF_PLAN],
        [LEAD_TO_NONE, OF_PLAN],
      ] as const) {
        expect(planOf(query)).toContain(`SEARCH r USING PRIMARY KEY (${key})`);
        expect(planOf(query)).toContain("SEARCH g USING INTEGER PRIMARY KEY (rowid=?)");
        expect(scansOfTables(planOf(query))).toEqual([]);
      }
    }
  });
});

/** But those of what a recursion has found. */
function scansOfTables(plan: readonly string[]): string[] {
  return plan.filter((detail) => /^SCAN (?!ledger$|CONSTANT ROW$)/.test(detail));
}

/** By how much of its key the table of all that belongs to a customer is searched. */
const OF_CUSTOMER = "cuid=? AND environment=? AND level=?";
const OF_CONNECTION = `${OF_CUSTOMER} AND service=? AND req_id=?`;
const OF_PLAN = `${OF_CONNECTION} AND plan=?`;

const searchBy = (key: string) => `SEARCH customer_row USING PRIMARY KEY (${key})`;

function searches(plan: readonly string[]): string[] {
  return plan.flatMap((detail) => /customer_row USING PRIMARY KEY \((.*)\)/.exec(detail)?.[1] ?? []);
}

interface PlanNode {
  readonly "Node Type": string;
  readonly "Index Name"?: string;
  readonly "Actual Rows": number;
  readonly "Rows Removed by Filter"?: number;
  readonly Plans?: readonly PlanNode[];
}

describe("in PostgreSQL", () => {
  test("a list goes along the index of the txnId, a step at a time, and a customer's own by the key", async () => {
    const database = makePostgresDatabase();
    await openProvider(() => database);
    await database.tamper(`INSERT INTO top_up (customer_digest, checkout_id, txn_id, ${WORDS})
      SELECT n % 50000, 'checkout' || n, 'txn' || lpad(n::text, 23, '0'), ${VALUES} FROM generate_series(1, ${ROWS}) AS n`);
    // As the sessions are that serve requests.
    await withOwnSession(database.url, "serving", async (session) => {
      // Before PostgreSQL knows how large the table has become, and when it knows.
      for (const prepare of ["SELECT 1", "ANALYZE top_up"]) {
        await session.execute(prepare);
        for (const mode of ["force_custom_plan", "force_generic_plan"]) {
          await session.execute(`BEGIN; SET LOCAL plan_cache_mode = ${mode}`);
          await session.execute(IN_ORDER.text);
          await expectSteps(session);
          await session.rollBack();
        }
      }
    });
    expect(NOTHING).toHaveLength(FILTER_VALUES);
  });
});

test("in PostgreSQL, a page of customers is read by their key, and no more than the page", async () => {
  const database = makePostgresDatabase();
  await openProvider(() => database);
  await database.tamper(`INSERT INTO customer (customer_digest, environment, cuid, first_name, last_name, status)
    SELECT n, 'production', 'c' || n, 'A', 'B', 'active' FROM generate_series(1, 50000) AS n`);
  await withOwnSession(database.url, "serving", async (session) => {
    for (const prepare of ["SELECT 1", "ANALYZE customer"]) {
      await session.execute(prepare);
      await session.execute("BEGIN; SET LOCAL plan_cache_mode = force_generic_plan");
      await session.execute(IN_ORDER.text);
      const scans = await scansOf(session, postgres.PAGE.text, [25_000, "c25000", "production", 500]);
      expect(scans.find(([index]) => index === "customer_pkey")).toEqual(["customer_pkey", 500]);
      expect(scans.filter(([index]) => index === undefined)).toEqual([]);
      await session.rollBack();
    }
  });
});

async function expectSteps(session: Session): Promise<void> {
  expect(await scansOf(session, postgres.BOUNDARY.text, ALL)).toEqual([["top_up_by_txn_id", STEP_ROWS]]);

  const step = [...NOTHING, "txn", `txn${String(STEP_ROWS).padStart(23, "0")}`, 50];
  expect(await scansOf(session, postgres.MATCHES.text, step)).toEqual([["top_up_by_txn_id", STEP_ROWS - 1]]);

  const sums = [...withinValues({ environment: "production", partnerId: undefined, from: 0, until: ROWS })];
  expect(
    await scansOf(session, postgres.SUMS.text, [...sums, ...step.slice(FILTER_VALUES, FILTER_VALUES + 2)]),
  ).toEqual([["top_up_by_txn_id", STEP_ROWS - 1]]);

  const [scan] = await scansOf(session, postgres.REVERSAL_SUMS.text, sums);
  expect(scan).toEqual(["reversal_by_time", 0]);

  const own = filterValues({ environment: "production", cuid: SITA.cuid });
  const digest = customerDigest({ environment: "production", cuid: SITA.cuid });
  const ofCustomer = await scansOf(session, postgres.MATCHES_OF_CUSTOMER.text, [...own, ...ALL, 50, digest]);
  expect(ofCustomer).toEqual([["top_up_pkey", 0]]);
}

type Scan = readonly [index: string | undefined, looked: number];

/** The scans of a plan, as PostgreSQL tells after it was run, with the rows that each has looked at. */
async function scansOf(session: Session, text: string, values: readonly unknown[]): Promise<Scan[]> {
  const literals = values.map((value) => (typeof value === "string" ? `'${value}'` : String(value)));
  await session.execute(`DEALLOCATE ALL; PREPARE searched AS ${text}`);
  const [row] = await session.ask<{ "QUERY PLAN": readonly [{ readonly Plan: PlanNode }] }>(
    `EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE searched(${literals.join(", ")})`,
  );
  return row === undefined ? [] : scans(row["QUERY PLAN"][0].Plan);
}

function scans(node: PlanNode): Scan[] {
  const looked = node["Actual Rows"] + (node["Rows Removed by Filter"] ?? 0);
  const own: Scan[] =
    /Scan$/.test(node["Node Type"]) && node["Node Type"] !== "CTE Scan" ? [[node["Index Name"], looked]] : [];
  return [...own, ...(node.Plans ?? []).flatMap(scans)];
}
