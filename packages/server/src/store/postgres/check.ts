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
import { makeTables } from "./migrate.ts";
import { describeSchema } from "./schema.ts";
import { withOwnSession } from "./session/database.ts";
import { readPages } from "./session/pages.ts";
import type { Session } from "./session/session.ts";
import { isDamage, isReadOnly, lacksPrivilege, StatementFailed, translateAtConnecting } from "./session/trouble.ts";
import { listSecrets } from "./tables/checkout-secrets.ts";
import { PRUNED_BEFORE } from "./tables/top-ups.ts";

const LEDGER = ledgerQuery("customer_digest, environment, cuid, service, req_id, plan");

const DIGEST_OF_CUSTOMER =
  "('x' || substr(encode(sha256(convert_to(environment || ':' || cuid, 'UTF8')), 'hex'), 1, 8))::bit(32)::bigint";

/** Its bytes 10 to 13: in base64url, the 13th to 20th character are the bytes 9 to 14. */
const DIGEST_IN_CHECKOUT = `CASE WHEN checkout_id ~ '^[A-Za-z0-9_-]{64}$' THEN
  ('x' || substr(encode(decode(translate(substr(checkout_id, 13, 8), '-_', '+/'), 'base64'), 'hex'), 3, 8))::bit(32)::bigint
  ELSE -1 END`;

/** Rows that no statement would find: they lie where another customer's would. */
const MISPLACED = [
  ...["customer", "connection", "subscription", "subscription_grant", "top_up"].map((table) => [
    table,
    DIGEST_OF_CUSTOMER,
  ]),
  ...["reversal", "retired_checkout"].map((table) => [table, DIGEST_IN_CHECKOUT]),
].map(
  ([table, digest]) =>
    [
      `rows of ${table} under a digest that is not their customer's`,
      `SELECT count(*) AS count FROM ${table} WHERE customer_digest <> ${digest}`,
    ] as const,
);

/** What is asked of whole tables. */
export const QUESTIONS = [...CONTRADICTIONS, ...MISPLACED];

/**
 * Holds the stored rows against each other and against the rules, on one consistent view.
 * @throws StoreUnavailable where it does not come to its end: that says nothing of what is stored, unless it is damage.
 */
export async function* checkDatabase(
  url: string,
  session: Session,
  provider: ProviderSettings,
  now: Instant,
): AsyncGenerator<CheckEvent> {
  await session.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
  try {
    yield* checkServer(session);
    yield await checkSchema(url, session);
    yield* checkRows(session, provider.calendar);
    yield* checkRecordedCheckouts(rowsOf(session, RECORDED_CHECKOUTS), await listSecrets(session));
    const [retention] = await session.run<{ pruned_before: Instant }>(PRUNED_BEFORE);
    const [moved] = await session.ask(HORIZON_MOVED);
    yield checkHorizon(retention, moved, { now, calendar: provider.calendar });
    yield* checkMobileForms(rowsOf(session, MOBILE_NUMBERS), provider);
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    if (!isDamage(error)) throw unfinished(error);
    yield { kind: "wrong", what: `integrity: ${error.message}` };
  } finally {
    await session.rollBack().catch(() => {});
  }
}

/** Every subscription against its grants, and the tables against each other. To be called inside a transaction. */
export async function* checkRows(session: Session, calendar: Calendar): AsyncGenerator<CheckEvent> {
  yield* checkFolds(rowsOf(session, LEDGER), calendar);
  yield* checkAuditTrail(rowsOf(session, AUDIT_TRAIL));
  for (const [what, query] of QUESTIONS) {
    const [{ count }] = (await session.ask<{ count: number }>(query)) as [{ count: number }];
    yield found(count, what);
  }
  yield* checkRecordedSales(rowsOf(session, RECORDED_SALES), rowsOf(session, QUOTED_PRICES));
}

async function* checkServer(session: Session): AsyncGenerator<CheckEvent> {
  const [{ commit, pages }] = (await session.ask(
    "SELECT current_setting('synchronous_commit') AS commit, current_setting('full_page_writes') AS pages",
  )) as [{ commit: string; pages: string }];
  yield { kind: "checked", what: `durability: fsync=on, synchronous_commit=${commit}`, count: 1 };
  if (pages !== "on")
    yield { kind: "wrong", what: "durability: full_page_writes=off, which only a few file systems make up for" };
}

/** Makes the tables beside those of the database, to compare them, and takes that back. */
async function checkSchema(url: string, session: Session): Promise<CheckEvent> {
  const expected = await describeExpected(url);
  if (typeof expected === "string")
    return { kind: "unchecked", what: `tables and triggers were NOT compared: ${expected}`, count: 1 };
  const found = await describeSchema(session);
  const missing = partNotIn(found, expected);
  const added = partNotIn(expected, found);
  if (missing === undefined && added === undefined)
    return { kind: "checked", what: "tables and triggers are those of this topupd", count: 1 };
  const example = missing === undefined ? `not known: ${added}` : `missing: ${missing}`;
  return { kind: "wrong", what: `tables or triggers are not those of this topupd (${example.split("\n")[0]})` };
}

/** What a dump has written out, PostgreSQL reads with other brackets: of conditions, not of functions. */
function partNotIn(others: readonly string[], parts: readonly string[]): string | undefined {
  const meaning = (part: string) => (part.startsWith("function ") ? part : part.replaceAll(/[()]/g, ""));
  const known = new Set(others.map(meaning));
  return parts.find((part) => !known.has(meaning(part)));
}

/** @returns in words why they cannot be made. */
async function describeExpected(url: string): Promise<string[] | string> {
  try {
    return await withOwnSession(url, "working", async (session) => {
      await session.execute("BEGIN; CREATE SCHEMA topupd_expected; SET LOCAL search_path = topupd_expected");
      await makeTables(session);
      return describeSchema(session);
    });
  } catch (error) {
    if (lacksPrivilege(error)) return "this user may not create a schema for it";
    if (isReadOnly(error)) return "the database takes no writes";
    throw error instanceof StatementFailed ? error : translateAtConnecting(error);
  }
}

async function* rowsOf(session: Session, query: string): AsyncGenerator<unknown> {
  for await (const page of readPages(session, query)) yield* page;
}
