import type { Calendar, Instant } from "../../domain/calendar.ts";
import { AUDIT_TRAIL, checkAuditTrail } from "../common/audit-rows.ts";
import { CONTRADICTIONS } from "../common/check/contradictions.ts";
import { checkFolds, ledgerQuery } from "../common/check/folds.ts";
import { found } from "../common/check/found.ts";
import { checkHorizon, HORIZON_MOVED } from "../common/check/horizon.ts";
import { checkMobileForms, MOBILE_NUMBERS } from "../common/check/mobile-forms.ts";
import { QUOTED_PRICES } from "../common/check/quoted-prices.ts";
import { checkRecordedCheckouts, RECORDED_CHECKOUTS } from "../common/check/recorded-checkouts.ts";
import { checkRecordedSales, RECORDED_SALES } from "../common/check/recorded-sales.ts";
import { unfinished } from "../common/check/unfinished.ts";
import { StoreUnavailable } from "../errors.ts";
import type { CheckEvent, ProviderSettings } from "../store.ts";
import type { Database } from "./database.ts";
import { isSchemaExpected } from "./migrate.ts";
import { CheckoutSecretTable } from "./tables/checkout-secrets.ts";
import { LEVEL } from "./tables/levels.ts";
import { PRUNED_BEFORE } from "./tables/retention.ts";
import { isDamage, translate } from "./trouble.ts";

const LEDGER_KEY = ["cuid", "environment", "service", "req_id", "plan"];
// By the ledgers, as a service reads them.
const LEDGER = ledgerQuery(LEDGER_KEY.join(", "), "ledger_grant");
const keyOf = (row: string) => `(${LEDGER_KEY.map((column) => `${row}.${column}`).join(", ")})`;
const isOf = (grant: string, row: string) => `${keyOf(grant)} = ${keyOf(row)}`;

/** What can be wrong with the tables of SQLite alone. */
const OF_SQLITE = [
  [
    "grants to which their ledger does not lead",
    `SELECT count(*) AS count FROM (SELECT id, cuid, environment, service, req_id, plan, seq FROM grant_row
       EXCEPT SELECT id, cuid, environment, service, req_id, plan, seq FROM ledger_grant) AS lost`,
  ],
  [
    "grants that lead to none of their ledger's before them",
    `SELECT count(*) AS count FROM grant_row AS g WHERE g.before IS NOT NULL AND NOT EXISTS
       (SELECT 1 FROM grant_row AS b WHERE b.id = g.before AND b.seq < g.seq AND ${isOf("b", "g")})`,
  ],
  [
    "ledgers that do not know their last grant",
    `SELECT count(*) AS count FROM customer_row AS r WHERE r.level = ${LEVEL.ledger} AND r.last_grant IS NOT NULL AND NOT EXISTS
       (SELECT 1 FROM grant_row AS g WHERE g.id = r.last_grant AND g.seq = r.last_seq AND ${isOf("g", "r")})`,
  ],
] as const;

/** What is asked of whole tables. */
export const QUESTIONS = [...CONTRADICTIONS, ...OF_SQLITE];

/**
 * Holds the stored rows against each other and against the rules, on one consistent view.
 * @throws StoreUnavailable where it does not come to its end: that says nothing of what is stored, unless it is damage.
 */
export async function* checkDatabase(
  database: Database,
  provider: ProviderSettings,
  now: Instant,
): AsyncGenerator<CheckEvent> {
  database.exec("BEGIN");
  try {
    yield* checkIntegrity(database);
    database.verifyDurability();
    yield { kind: "checked", what: "durability: write-ahead log, synchronous=FULL", count: 1 };
    yield isSchemaExpected(database)
      ? { kind: "checked", what: "tables and triggers are those of this topupd", count: 1 }
      : { kind: "wrong", what: "tables or triggers are not those of this topupd" };
    yield* checkRows(database, provider.calendar);
    yield* checkRecordedCheckouts(database.iterate(RECORDED_CHECKOUTS), new CheckoutSecretTable(database).list());
    const retention = database.prepare(PRUNED_BEFORE).get() as { pruned_before: Instant } | undefined;
    yield checkHorizon(retention, database.prepare(HORIZON_MOVED).get(), { now, calendar: provider.calendar });
    yield* checkMobileForms(database.iterate(MOBILE_NUMBERS), provider);
  } catch (error) {
    const translated = translate(error);
    if (!(translated instanceof StoreUnavailable)) throw error;
    if (!isDamage(error)) throw unfinished(translated);
    yield { kind: "wrong", what: `integrity: ${translated.message}` };
  } finally {
    database.rollBack();
  }
}

/** Every subscription against its grants, and the tables against each other. To be called inside a transaction. */
export async function* checkRows(database: Database, calendar: Calendar): AsyncGenerator<CheckEvent> {
  yield* checkFolds(database.iterate(LEDGER), calendar);
  yield* checkAuditTrail(database.iterate(AUDIT_TRAIL));
  for (const [what, query] of QUESTIONS) {
    const { count } = database.prepare(query).get() as { count: number };
    yield found(count, what);
  }
  yield* checkRecordedSales(database.iterate(RECORDED_SALES), database.iterate(QUOTED_PRICES));
}

function* checkIntegrity(database: Database): Generator<CheckEvent> {
  const faults = database.prepare("PRAGMA integrity_check").all() as { integrity_check: string }[];
  const broken = faults.filter((fault) => fault.integrity_check !== "ok");
  for (const fault of broken) yield { kind: "wrong", what: `integrity: ${fault.integrity_check}` };
  const dangling = database.prepare("PRAGMA foreign_key_check").all() as { table: string }[];
  for (const { table } of dangling) yield { kind: "wrong", what: `integrity: a row of ${table} refers to nothing` };
  if (broken.length + dangling.length === 0) yield { kind: "checked", what: "integrity of the file", count: 1 };
}
