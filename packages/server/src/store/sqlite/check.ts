import { isDeepStrictEqual } from "node:util";
import type { Service } from "../../domain/bouquet.ts";
import type { Calendar } from "../../domain/calendar.ts";
import type { ConnectionKey, Environment } from "../../domain/customer.ts";
import { foldGrants, type Grant } from "../../domain/subscription.ts";
import { StoreUnavailable } from "../errors.ts";
import type { CheckEvent } from "../store.ts";
import type { Database } from "./database.ts";
import { isSchemaExpected } from "./migrate.ts";
import { type GrantRow, SubscriptionTables, toGrant } from "./subscriptions.ts";
import { translate } from "./trouble.ts";

interface LedgerRow extends GrantRow {
  cuid: string;
  environment: Environment;
  service: Service;
  req_id: string;
  plan: string;
}

/** Each counts rows that must not be there. */
const CONTRADICTIONS: readonly (readonly [what: string, query: string])[] = [
  [
    "subscriptions without a grant",
    `SELECT count(*) AS count FROM subscription WHERE NOT EXISTS (SELECT 1 FROM subscription_grant AS g
       WHERE (g.cuid, g.environment, g.service, g.req_id, g.plan)
         = (subscription.cuid, subscription.environment, subscription.service, subscription.req_id, subscription.plan))`,
  ],
  [
    "grants of a top-up that is not on record",
    `SELECT count(*) AS count FROM subscription_grant AS g WHERE g.kind = 'top_up' AND NOT EXISTS
       (SELECT 1 FROM top_up AS t WHERE t.checkout_id = g.checkout_id AND t.at = g.at AND t.bouquet_code = g.code
          AND (t.cuid, t.environment, t.service, t.req_id) = (g.cuid, g.environment, g.service, g.req_id))`,
  ],
  [
    "top-ups without a grant",
    `SELECT count(*) AS count FROM (SELECT checkout_id FROM top_up
       EXCEPT SELECT checkout_id FROM subscription_grant WHERE kind = 'top_up')`,
  ],
  [
    "top-ups with more than one grant",
    `SELECT count(*) AS count FROM (SELECT 1 FROM subscription_grant WHERE kind = 'top_up'
       GROUP BY checkout_id HAVING count(*) > 1)`,
  ],
  [
    "top-ups at a price that no catalogue had",
    `SELECT count(*) AS count FROM top_up WHERE (environment, service, bouquet_code, amount) NOT IN
       (SELECT environment, service, code, price FROM bouquet JOIN catalogue_revision USING (revision))`,
  ],
  [
    "top-ups that a partner was told could never be made",
    "SELECT count(*) AS count FROM retired_checkout JOIN top_up USING (checkout_id)",
  ],
  [
    "connections without a customer",
    `SELECT count(*) AS count FROM connection AS c WHERE NOT EXISTS
       (SELECT 1 FROM customer WHERE customer.cuid = c.cuid AND customer.environment = c.environment)`,
  ],
  [
    "connections that cannot be looked up",
    `SELECT count(*) AS count FROM connection AS c WHERE NOT EXISTS (SELECT 1 FROM customer_code AS k
       WHERE k.code = c.req_id AND k.environment = c.environment AND k.cuid = c.cuid)`,
  ],
  [
    "customers that cannot be looked up",
    `SELECT count(*) AS count FROM customer AS c WHERE NOT EXISTS (SELECT 1 FROM customer_code AS k
       WHERE k.code = c.cuid AND k.environment = c.environment AND k.cuid = c.cuid)`,
  ],
  [
    "mobile numbers that cannot be looked up",
    `SELECT count(*) AS count FROM customer AS c WHERE mobile IS NOT NULL AND NOT EXISTS (SELECT 1 FROM customer_code AS k
       WHERE k.code = c.mobile AND k.environment = c.environment AND k.cuid = c.cuid)`,
  ],
  [
    "codes that are not those of their customer",
    `SELECT count(*) AS count FROM customer_code AS k
     WHERE NOT EXISTS (SELECT 1 FROM customer AS c
         WHERE c.cuid = k.cuid AND c.environment = k.environment AND (c.cuid = k.code OR c.mobile = k.code))
       AND NOT EXISTS (SELECT 1 FROM connection AS c
         WHERE c.cuid = k.cuid AND c.environment = k.environment AND c.req_id = k.code)`,
  ],
];

/** Holds the stored rows against each other and against the rules, on one consistent view. */
export function* checkDatabase(database: Database, calendar: Calendar): Generator<CheckEvent> {
  database.exec("BEGIN");
  try {
    yield* checkIntegrity(database);
    database.verifyDurability();
    yield { kind: "checked", what: "durability: write-ahead log, synchronous=FULL", count: 1 };
    yield isSchemaExpected(database)
      ? { kind: "checked", what: "tables and triggers are those of this topupd", count: 1 }
      : { kind: "wrong", what: "tables or triggers are not those of this topupd" };
    yield* checkFolds(database, calendar);
    for (const [what, query] of CONTRADICTIONS) {
      const { count } = database.prepare(query).get() as { count: number };
      yield count === 0
        ? { kind: "checked", what: `no ${what}`, count: 1 }
        : { kind: "wrong", what: `${count} ${what}` };
    }
  } catch (error) {
    const translated = translate(error);
    if (!(translated instanceof StoreUnavailable)) throw error;
    yield { kind: "wrong", what: `integrity: ${translated.message}` };
  } finally {
    database.rollBack();
  }
}

function* checkIntegrity(database: Database): Generator<CheckEvent> {
  const faults = database.prepare("PRAGMA integrity_check").all() as { integrity_check: string }[];
  const broken = faults.filter((fault) => fault.integrity_check !== "ok");
  for (const fault of broken) yield { kind: "wrong", what: `integrity: ${fault.integrity_check}` };
  const dangling = database.prepare("PRAGMA foreign_key_check").all() as { table: string }[];
  for (const { table } of dangling) yield { kind: "wrong", what: `integrity: a row of ${table} refers to nothing` };
  if (broken.length + dangling.length === 0) yield { kind: "checked", what: "integrity of the file", count: 1 };
}

function* checkFolds(database: Database, calendar: Calendar): Generator<CheckEvent> {
  const subscriptions = new SubscriptionTables(database);
  const byKey = database.prepare(
    "SELECT * FROM subscription_grant ORDER BY cuid, environment, service, req_id, plan, seq",
  );
  let [count, wrong] = [0, 0];
  for (const { key, plan, grants } of groupByPlan(byKey.iterate() as Iterable<LedgerRow>)) {
    const stored = subscriptions.list(key).find((subscription) => subscription.plan === plan);
    count += 1;
    if (isDeepStrictEqual(stored, foldGrants(plan, grants, calendar))) continue;
    wrong += 1;
    yield {
      kind: "wrong",
      what: `customer ${key.cuid} (${key.environment}), ${key.service}: ${plan} is not the fold of its grants`,
    };
  }
  if (wrong === 0) yield { kind: "checked", what: "subscriptions equal the fold of their grants", count };
}

function* groupByPlan(rows: Iterable<LedgerRow>): Generator<{ key: ConnectionKey; plan: string; grants: Grant[] }> {
  let group: { key: ConnectionKey; plan: string; grants: Grant[] } | undefined;
  for (const row of rows) {
    const key = { environment: row.environment, cuid: row.cuid, service: row.service, reqId: row.req_id };
    if (group === undefined || group.plan !== row.plan || !isDeepStrictEqual(group.key, key)) {
      if (group !== undefined) yield group;
      group = { key, plan: row.plan, grants: [] };
    }
    group.grants.push(toGrant(row));
  }
  if (group !== undefined) yield group;
}
