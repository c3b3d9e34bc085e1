import type { AuditAction, AuditedChange } from "./audit.ts";
import {
  type BlockOutcome,
  type Correcting,
  decideBlock,
  type GoodwillCommand,
  type GoodwillOutcome,
  grantGoodwill,
} from "./correction.ts";
import type { Connection, ConnectionKey, Environment } from "./customer.ts";
import { grantsOfRun, type Ledger } from "./ledger.ts";
import { DAY_MS, type Instant } from "./wall-time.ts";

/*
 * One correction of many connections. Each is decided as it would be by itself; the audit trail names them all in one
 * entry, which is written before the first of them is corrected.
 */

export type BulkOrder =
  | ({ readonly action: "goodwill" } & Pick<GoodwillCommand, "days" | "plan">)
  | { readonly action: "block" | "unblock" };

export type BulkOutcome = GoodwillOutcome | BlockOutcome;

/** @param ledgers those of the connection. */
export function decideBulk(
  order: BulkOrder,
  key: ConnectionKey,
  connection: Connection | undefined,
  ledgers: readonly Ledger[],
  by: Correcting,
): BulkOutcome {
  if (order.action !== "goodwill") return decideBlock(connection, key, order.action === "block");
  return grantGoodwill(connection, ledgers, { ...key, days: order.days, plan: order.plan }, by);
}

/** Whether staff gave any of the ledgers goodwill in the last day that is not reversed. */
export function hadGoodwillLately(ledgers: readonly Ledger[], now: Instant): boolean {
  const isLate = (ledger: Ledger) =>
    grantsOfRun(ledger, 0).some(({ kind, at }) => kind === "goodwill" && at.instant > now - DAY_MS);
  return ledgers.some(isLate);
}

/** What the audit trail keeps: of each customer the connections, and what was ordered for them. */
export function bulkAnnounced(
  order: BulkOrder,
  environment: Environment,
  connections: readonly ConnectionKey[],
): AuditedChange {
  const { action: what, ...rest } = order;
  const ordered = what === "goodwill" ? rest : { blocked: what === "block" };
  const action = `bulk.${what}` as const satisfies AuditAction;
  const customers = new Map<string, Record<string, object>>();
  for (const { cuid, service, reqId } of connections)
    customers.set(cuid, { ...customers.get(cuid), [`${service} ${reqId}`]: ordered });
  return { action, subject: environment, before: undefined, after: Object.fromEntries(customers) };
}
