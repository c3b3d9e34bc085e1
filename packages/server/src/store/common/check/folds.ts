import { isDeepStrictEqual } from "node:util";
import type { Service } from "../../../domain/bouquet.ts";
import type { Calendar } from "../../../domain/calendar.ts";
import type { Environment } from "../../../domain/customer.ts";
import { foldGrants } from "../../../domain/fold.ts";
import { isCountedByOtherRules } from "../../../domain/other-rules.ts";
import type { Grant } from "../../../domain/subscription.ts";
import type { CheckEvent } from "../../store.ts";
import { type GrantRow, type SubscriptionRow, toGrant, toSubscription } from "../rows.ts";

/** A grant, beside the subscription that its plan is stored to amount to. */
interface CheckedGrantRow extends Omit<GrantRow, "granted_end_at" | "goodwill_days"> {
  /** Of the grant, where the subscription has them by the columns' own names. */
  carried_end_at: number | null;
  carried_goodwill_days: number | null;
  cuid: string;
  environment: Environment;
  service: Service;
  req_id: string;
  plan: string;
  /** Null where no subscription is stored. */
  s_plan: string | null;
  s_code: string;
  s_name: string;
  s_add_on: SubscriptionRow["add_on"];
  s_start_at: number;
  s_end_at: number;
  s_months: number;
  s_days: number;
  s_seconds: number;
  topped_up_months: number;
  topped_up_days: number;
  goodwill_days: number;
  granted_end_at: number | null;
}

/**
 * All grants, those of one plan together and in order.
 * @param order the columns before `seq` of the table's key, as its index has them.
 * @param grants where they are read: a store may have another way to them than through the table.
 */
export function ledgerQuery(order: string, grants = "subscription_grant"): string {
  const key = order.split(", ");
  return `SELECT g.cuid, g.environment, g.service, g.req_id, g.plan,
      g.kind, g.at, g.code, g.name, g.add_on, g.start_at, g.months, g.days, g.seconds, g.on_top_months, g.on_top_days,
      g.checkout_id, g.granted_end_at AS carried_end_at, g.goodwill_days AS carried_goodwill_days,
      s.plan AS s_plan, s.code AS s_code, s.name AS s_name, s.add_on AS s_add_on, s.start_at AS s_start_at,
      s.end_at AS s_end_at, s.months AS s_months, s.days AS s_days, s.seconds AS s_seconds,
      s.topped_up_months, s.topped_up_days, s.goodwill_days, s.granted_end_at
    FROM ${grants} AS g LEFT JOIN subscription AS s ON ${key.map((column) => `s.${column} = g.${column}`).join(" AND ")}
    ORDER BY ${[...key, "seq"].map((column) => `g.${column}`).join(", ")}`;
}

/** What {@link ledgerQuery} finds. */
type Rows = AsyncIterable<unknown> | Iterable<unknown>;

/** Folds every plan's grants anew, and holds the outcome against what is stored. */
export async function* checkFolds(rows: Rows, calendar: Calendar): AsyncGenerator<CheckEvent> {
  let [count, wrong, byOthers] = [0, 0, 0];
  for await (const ledger of groupByPlan(rows as AsyncIterable<CheckedGrantRow> | Iterable<CheckedGrantRow>)) {
    const [first] = ledger as [CheckedGrantRow];
    count += 1;
    const [stored, counted] = [storedSubscription(first), foldGrants(first.plan, ledger.map(grantOf), calendar)];
    if (isDeepStrictEqual(stored, counted)) continue;
    if (isCountedByOtherRules(stored, counted, calendar)) {
      byOthers += 1;
      continue;
    }
    wrong += 1;
    yield {
      kind: "wrong",
      what: `customer ${first.cuid} (${first.environment}), ${first.service}: ${first.plan} is not the fold of its grants`,
    };
  }
  if (wrong === 0) yield { kind: "checked", what: "subscriptions equal the fold of their grants", count };
  yield* tellRules(calendar, byOthers);
}

/** What was counted by former rules of the zone is no fault; but it surprises whoever counts along. */
function* tellRules({ record, timeZone }: Calendar, byOthers: number): Generator<CheckEvent> {
  const last = record.at(-1);
  if (last === undefined) return;
  const since = new Date(last.since).toISOString();
  const what = `rules of ${timeZone} have changed, last known since ${since}: what was granted before counts as it did`;
  yield { kind: "checked", what, count: record.length };
  if (byOthers > 0)
    yield {
      kind: "checked",
      what: "ends are where another Node.js had other rules of the zone put them",
      count: byOthers,
    };
}

function grantOf(row: CheckedGrantRow): Grant {
  return toGrant({ ...row, granted_end_at: row.carried_end_at, goodwill_days: row.carried_goodwill_days });
}

async function* groupByPlan(
  rows: AsyncIterable<CheckedGrantRow> | Iterable<CheckedGrantRow>,
): AsyncGenerator<CheckedGrantRow[]> {
  let group: CheckedGrantRow[] = [];
  for await (const row of rows) {
    if (group[0] !== undefined && !isSamePlan(group[0], row)) {
      yield group;
      group = [];
    }
    group.push(row);
  }
  if (group.length > 0) yield group;
}

function isSamePlan(a: CheckedGrantRow, b: CheckedGrantRow): boolean {
  return (
    a.cuid === b.cuid &&
    a.environment === b.environment &&
    a.service === b.service &&
    a.req_id === b.req_id &&
    a.plan === b.plan
  );
}

function storedSubscription(row: CheckedGrantRow) {
  if (row.s_plan === null) return undefined;
  return toSubscription({
    plan: row.s_plan,
    code: row.s_code,
    name: row.s_name,
    add_on: row.s_add_on,
    start_at: row.s_start_at,
    end_at: row.s_end_at,
    months: row.s_months,
    days: row.s_days,
    seconds: row.s_seconds,
    topped_up_months: row.topped_up_months,
    topped_up_days: row.topped_up_days,
    goodwill_days: row.goodwill_days,
    granted_end_at: row.granted_end_at,
  });
}
