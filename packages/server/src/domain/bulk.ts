import type { AuditAction, AuditedChange } from "./audit.ts";
import type { BasePlans } from "./catalogue.ts";
import {
  type BlockOutcome,
  type Correcting,
  decideBlock,
  type GoodwillCommand,
  type GoodwillOutcome,
  type GoodwillReversalOutcome,
  grantGoodwill,
  reverseGoodwill,
} from "./correction.ts";
import type { Connection, ConnectionKey, Environment } from "./customer.ts";
import { grantsOfRun, type Ledger } from "./ledger.ts";
import { type Instant, readWallSpan } from "./wall-time.ts";

/* Bulk changes. Each connection is decided like a single correction. An audit entry names the connections of a portion. */

export type BulkOrder =
  | (Pick<GoodwillCommand, "days" | "plan"> & {
      readonly action: "goodwill";
      /** Time or day at which the plans must have run; undefined for those that run now. */
      readonly runningAt: string | undefined;
    })
  | { readonly action: "block" | "unblock" }
  /** Reverses the goodwill of another bulk change. */
  | { readonly action: "reverse_goodwill"; readonly reverses: number };

interface StoredOrder {
  readonly action: BulkOrder["action"];
  readonly days: number | null;
  readonly plan: string | null;
  readonly runningAt: string | null;
  readonly reverses: number | null;
}

export function orderOf({ action, days, plan, runningAt, reverses }: StoredOrder): BulkOrder {
  if (action === "reverse_goodwill") return { action, reverses: reverses ?? 0 };
  if (action !== "goodwill") return { action };
  return { action, days: days ?? 0, plan: plan ?? undefined, runningAt: runningAt ?? undefined };
}

/** A connection of a bulk change, and the goodwill entry that a reversal means. */
export interface BulkTarget extends ConnectionKey {
  readonly goodwill?: { readonly plan: string; readonly seq: number } | undefined;
}

export type BulkOutcome = GoodwillOutcome | GoodwillReversalOutcome | BlockOutcome;

/** @param ledgers all ledgers of the connection. */
export function decideBulk(
  order: BulkOrder,
  { goodwill, ...key }: BulkTarget,
  connection: Connection | undefined,
  ledgers: readonly Ledger[],
  by: Correcting,
  basePlans: BasePlans,
): BulkOutcome {
  if (order.action === "reverse_goodwill")
    return goodwill === undefined ? { kind: "no_goodwill" } : reverseGoodwill(ledgers, { ...key, ...goodwill }, by);
  if (order.action !== "goodwill") return decideBlock(connection, key, order.action === "block");
  const { days, plan, runningAt } = order;
  const { wall } = by.at;
  const ran = runningAt === undefined ? ([wall, wall] as const) : readWallSpan(runningAt);
  return grantGoodwill(connection, ledgers, { ...key, days, plan, ran }, by, basePlans);
}

/** Time of the last goodwill that is not reversed; undefined if there is none. */
export function lastGoodwill(ledgers: readonly Ledger[]): Instant | undefined {
  const grants = ledgers.flatMap((ledger) => grantsOfRun(ledger, 0)).filter(({ kind }) => kind === "goodwill");
  return grants.length === 0 ? undefined : Math.max(...grants.map(({ at }) => at.instant));
}

/** The audit entry of a portion: the connections of each customer, and the change. */
export function bulkCorrected(
  order: BulkOrder,
  environment: Environment,
  connections: readonly ConnectionKey[],
): AuditedChange {
  const { action: what, ...rest } = order;
  const ordered = what === "block" || what === "unblock" ? { blocked: what === "block" } : rest;
  const action = `bulk.${what}` as const satisfies AuditAction;
  const customers = new Map<string, Record<string, object>>();
  for (const { cuid, service, reqId } of connections)
    customers.set(cuid, { ...customers.get(cuid), [`${service} ${reqId}`]: ordered });
  return { action, subject: environment, before: undefined, after: Object.fromEntries(customers) };
}

/** The audit entry of a step of a whole bulk change. */
export function bulkSteered(
  step: "start" | "pause" | "continue" | "cancel",
  { id, environment, count, done }: BulkExtent,
  order: BulkOrder,
  requestedBy?: string,
): AuditedChange {
  const after = { environment, ...order, connections: count, done, requestedBy };
  return { action: `bulk.${step}`, subject: String(id), before: undefined, after };
}

interface BulkExtent {
  readonly id: number;
  readonly environment: Environment;
  /** Connections to correct, and those that were corrected or left out. */
  readonly count: number;
  readonly done: number;
}
