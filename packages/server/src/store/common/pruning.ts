import type { Service } from "../../domain/bouquet.ts";
import type { Calendar, Instant } from "../../domain/calendar.ts";
import type { ConnectionKey, Environment } from "../../domain/customer.ts";
import { countPrunable, isCheckoutFromBefore } from "../../domain/pruning.ts";
import type { TransactionStatus } from "../../domain/top-up.ts";
import type { ImportedCursor, PruneCursor, Pruned, PrunedPortion, PrunedTopUps } from "../retention.ts";
import { GRANT_COLUMNS, type GrantRow, qualified, toGrant } from "./rows.ts";

/** Customers whose ledgers are looked at together: some milliseconds of work, after which others have their turn. */
export const CUSTOMERS_AT_ONCE = 100;
export const RETIRED_AT_ONCE = 1_000;
export const IMPORTED_AT_ONCE = 1_000;

/**
 * A txnId begins with its time, and audit entries are written one after the other: the last of each is the newest,
 * unless a clock was set back since.
 */
export const NEWEST_RECORD = `SELECT max(at) AS at FROM (
    SELECT (SELECT at FROM top_up ORDER BY txn_id DESC LIMIT 1) AS at
    UNION ALL SELECT max(at) FROM reversal
    UNION ALL SELECT (SELECT at FROM audit_entry ORDER BY seq DESC LIMIT 1)
  ) AS newest`;

export interface NewestRow {
  readonly at: Instant | null;
}

/** A grant beside its top-up, which is null for the other kinds. */
export type PrunableRow = GrantRow & {
  readonly cuid: string;
  readonly environment: Environment;
  readonly service: Service;
  readonly req_id: string;
  readonly plan: string;
  readonly seq: number;
} & (
    | { readonly partner_id: null }
    | { readonly partner_id: number; readonly amount: number; readonly status: TransactionStatus }
  );

/**
 * Whole ledgers, those of one plan together and in order.
 * @param condition on the grants, as `g`.
 * @param join of top_up as `t` beside the checkoutId.
 */
export function prunableQuery(condition: string, { grants = "subscription_grant", join = "" } = {}): string {
  return `SELECT g.cuid, g.environment, g.service, g.req_id, g.plan, g.seq, ${qualified("g", GRANT_COLUMNS)},
      t.partner_id, t.amount, t.status
    FROM ${grants} AS g
    LEFT JOIN top_up AS t ON g.kind = 'top_up' AND t.checkout_id = g.checkout_id ${join}
    WHERE ${condition} ORDER BY g.environment, g.cuid, g.service, g.req_id, g.plan, g.seq`;
}

/** The rows that may go: see {@link countPrunable}. @param rows as {@link prunableQuery} gives them. */
export function findPrunable(rows: readonly PrunableRow[], before: Instant, calendar: Calendar): PrunableRow[] {
  const ledgers = new Map<string, PrunableRow[]>();
  for (const row of rows) {
    const name = nameOfLedger(row);
    const ledger = ledgers.get(name);
    if (ledger === undefined) ledgers.set(name, [row]);
    else ledger.push(row);
  }
  return [...ledgers.values()].flatMap((ledger) => {
    const { plan } = ledger[0] as PrunableRow;
    return ledger.slice(0, countPrunable(plan, ledger.map(toGrant), before, calendar));
  });
}

/** The last row of each ledger. @param rows those of a ledger in order. */
export function lastOfLedgers(rows: readonly PrunableRow[]): PrunableRow[] {
  return [...new Map(rows.map((row) => [nameOfLedger(row), row])).values()];
}

function nameOfLedger({ environment, cuid, service, req_id, plan }: PrunableRow): string {
  return JSON.stringify([environment, cuid, service, req_id, plan]);
}

export function keyOf({ environment, cuid, service, req_id: reqId }: PrunableRow): ConnectionKey {
  return { environment, cuid, service, reqId };
}

/** By their checkoutIds, the top-ups and the reversals that go with such rows. */
export function checkoutsOf(rows: readonly PrunableRow[], kind: "top_up" | "reversal"): string[] {
  return rows.flatMap((row) => (row.kind === kind ? [row.checkout_id] : []));
}

/** Those of a page that may go: their checkouts themselves are from before. */
export function prunableRetired(
  page: readonly { readonly checkout_id: string; readonly at: Instant }[],
  before: Instant,
): string[] {
  return page.flatMap(({ checkout_id: checkoutId, at }) =>
    at < before && isCheckoutFromBefore(checkoutId, before) ? [checkoutId] : [],
  );
}

/** A top-up that was recorded at another topupd. */
export interface ImportedTopUpRow {
  readonly cuid: string;
  readonly environment: Environment;
  readonly checkout_id: string;
  readonly at: Instant;
  readonly partner_id: number;
  readonly amount: number;
  readonly status: TransactionStatus;
  /** Null where it was not taken back. */
  readonly reversed_at: Instant | null;
}

/** @param condition on top_up as `t`. @param join of reversal as `r` beside the checkoutId. */
export function importedQuery(condition: string, order: string, join = ""): string {
  return `SELECT t.cuid, t.environment, t.checkout_id, t.at, t.partner_id, t.amount, t.status, r.at AS reversed_at
    FROM top_up AS t LEFT JOIN reversal AS r ON r.checkout_id = t.checkout_id ${join}
    WHERE ${condition} ORDER BY ${order} LIMIT ${IMPORTED_AT_ONCE}`;
}

/** Those of a page that may go: with their checkouts, and with their reversals. */
export function prunableImported(page: readonly ImportedTopUpRow[], before: Instant): ImportedTopUpRow[] {
  return page.filter(
    ({ at, checkout_id: checkoutId, reversed_at: reversedAt }) =>
      at < before && isCheckoutFromBefore(checkoutId, before) && (reversedAt === null || reversedAt < before),
  );
}

/** @param page that was looked at. */
export function prunedImported(
  rows: readonly ImportedTopUpRow[],
  page: readonly ImportedTopUpRow[],
  calendar: Calendar,
): PrunedPortion<ImportedCursor> {
  const last = page.length < IMPORTED_AT_ONCE ? undefined : page.at(-1);
  const topUps = rows.map((row) => prunedTopUp(row, calendar));
  const next = last && { environment: last.environment, cuid: last.cuid, checkoutId: last.checkout_id };
  return { pruned: { grants: 0, retiredCheckouts: 0, topUps }, next };
}

function prunedTopUp(
  {
    environment,
    partner_id: partnerId,
    status,
    amount,
    at,
  }: Omit<ImportedTopUpRow, "cuid" | "checkout_id" | "reversed_at">,
  calendar: Calendar,
): PrunedTopUps {
  const year = calendar.format(at).slice(0, 4);
  return { environment, partnerId, year, status, topUps: 1, amount: BigInt(amount) };
}

/** @param customers that were looked at. */
export function prunedLedgers(
  rows: readonly PrunableRow[],
  customers: readonly PruneCursor[],
  calendar: Calendar,
): PrunedPortion<PruneCursor> {
  const topUps = rows.flatMap((row) => (row.partner_id === null ? [] : [prunedTopUp(row, calendar)]));
  const next = customers.length < CUSTOMERS_AT_ONCE ? undefined : customers.at(-1);
  return { pruned: { grants: rows.length, retiredCheckouts: 0, topUps }, next };
}

/** @param page that was looked at. */
export function prunedRetired(
  checkoutIds: readonly string[],
  page: readonly { readonly checkout_id: string }[],
): PrunedPortion<string> {
  const pruned: Pruned = { grants: 0, retiredCheckouts: checkoutIds.length, topUps: [] };
  return { pruned, next: page.length < RETIRED_AT_ONCE ? undefined : page.at(-1)?.checkout_id };
}
