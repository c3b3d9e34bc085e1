import { type BulkOrder, type BulkOutcome, type BulkTarget, decideBulk, lastGoodwill } from "../../domain/bulk.ts";
import type { Correcting } from "../../domain/correction.ts";
import type { BareConnection, Connection, Environment } from "../../domain/customer.ts";
import { headOf, type Ledger } from "../../domain/ledger.ts";
import { plainWords } from "../../domain/refused.ts";
import { isRunning } from "../../domain/subscription.ts";
import { DAY_MS, type Instant } from "../../domain/wall-time.ts";
import { GONE } from "../../store/customer-files.ts";
import { type Db, withRawNames } from "../../store/engine.ts";
import { toBareConnection } from "../../store/rows.ts";
import type { Store } from "../../store/store.ts";
import type { BulkLineRow, BulkRunRow } from "../../store/tables.ts";
import { notCorrected } from "../corrections/words.ts";

/** Connections that one transaction corrects. Top-ups wait for at most a tenth of a second. */
export const PORTION = 200;

/** A decision on one connection. */
export interface BulkEffect {
  readonly key: BulkTarget;
  readonly outcome: BulkOutcome;
  readonly before: Pick<Connection, "status" | "blocked" | "ledgers">;
  /** Time of the last goodwill that is not reversed. */
  readonly goodwillAt: Instant | undefined;
  /** Whether that was in the last day. */
  readonly repeated: boolean;
  /** Whether a plan that has ended runs again. */
  readonly startsAgain: boolean;
}

/** Decides on some connections of one environment, in their order. */
export async function decidePortion(
  { engine, provider }: Pick<Store, "engine" | "provider">,
  tx: Db,
  order: BulkOrder,
  keys: readonly BulkTarget[],
  by: Correcting,
): Promise<BulkEffect[]> {
  const [first] = keys;
  if (first === undefined) return [];
  const cuids = [...new Set(keys.map(({ cuid }) => cuid))];
  const ledgers = new Map<string, Ledger[]>();
  for (const ledger of await engine.readLedgers(tx, first.environment, cuids))
    ledgers.set(nameOf(ledger), [...(ledgers.get(nameOf(ledger)) ?? []), ledger]);
  const connections = new Map(
    (await readConnections(tx, first.environment, cuids)).map((each) => [nameOf(each), each]),
  );
  return keys.map((key) => {
    const its = ledgers.get(nameOf(key)) ?? [];
    const connection = connections.get(nameOf(key));
    const heads = { ledgers: its.map(headOf) };
    const outcome = decideBulk(order, key, connection && { ...connection, ...heads }, its, by, provider.basePlans);
    const goodwillAt = lastGoodwill(its);
    const repeated = goodwillAt !== undefined && goodwillAt > by.at.instant - DAY_MS;
    const startsAgain = outcome.kind === "granted" && !isRunning(outcome.correction.before, by.at.wall);
    return { key, outcome, before: { ...(connection ?? GONE), ...heads }, goodwillAt, repeated, startsAgain };
  });
}

/** Why a connection is not corrected; undefined if it is. */
export function problemOf(order: BulkOrder, { key, outcome }: BulkEffect): string | undefined {
  if ("correction" in outcome) return undefined;
  if (outcome.kind !== "done")
    return plainWords(notCorrected(outcome, { ...key, ...(order.action === "goodwill" && order) }));
  if (outcome.audited !== undefined) return undefined;
  return order.action === "block" ? "is blocked already" : "is not blocked";
}

/** The connection of a line that has no problem. */
export function keyOf({ environment }: Pick<BulkRunRow, "environment">, line: BulkLineRow): BulkTarget {
  const { cuid, service, reqId, plan, entry } = line;
  if (cuid === null || service === null || reqId === null) throw new Error("a line without a connection has a problem");
  const goodwill = plan === null || entry === null ? undefined : { plan, seq: entry };
  return { environment, cuid, service, reqId, goodwill };
}

/** The key of a connection in a map. Identifiers may contain blanks. */
export function nameOf({ cuid, service, reqId }: Pick<BulkLineRow, "cuid" | "service" | "reqId">): string {
  return JSON.stringify([cuid, service, reqId]);
}

/** All connections of some customers. */
async function readConnections(
  db: Db,
  environment: Environment,
  cuids: readonly string[],
): Promise<(BareConnection & { readonly cuid: string })[]> {
  const query = withRawNames(db).selectFrom("connection").selectAll().where("environment", "=", environment);
  const rows = await query.where("cuid", "in", cuids).execute();
  return rows.map((row) => ({ ...toBareConnection(row), cuid: row.cuid }));
}
