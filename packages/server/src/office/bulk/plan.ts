import {
  type BulkOrder,
  type BulkOutcome,
  type Correcting,
  decideBulk,
  lastGoodwill,
} from "../../domain/correction.ts";
import type { BareConnection, Connection, ConnectionKey, Environment } from "../../domain/customer.ts";
import { headOf, type Ledger } from "../../domain/ledger.ts";
import { plainWords } from "../../domain/refused.ts";
import { DAY_MS, type Instant } from "../../domain/wall-time.ts";
import { type Db, type Engine, withRawNames } from "../../store/engine.ts";
import { toBareConnection } from "../../store/rows.ts";
import type { BulkLineRow } from "../../store/tables.ts";
import { notCorrected } from "../corrections/words.ts";

/** Connections that one transaction corrects. Top-ups wait for at most a tenth of a second. */
export const PORTION = 200;

/** A decision on one connection. */
export interface BulkEffect {
  readonly key: ConnectionKey;
  readonly outcome: BulkOutcome;
  /** Undefined if there is no such connection. */
  readonly before: Connection | undefined;
  /** Time of the last goodwill that is not reversed. */
  readonly goodwillAt: Instant | undefined;
  /** Whether that was in the last day. */
  readonly repeated: boolean;
}

/** Decides on some connections of one environment, in their order. */
export async function decidePortion(
  engine: Engine,
  tx: Db,
  order: BulkOrder,
  keys: readonly ConnectionKey[],
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
    const before = connection && { ...connection, ledgers: its.map(headOf) };
    const outcome = decideBulk(order, key, before, its, by);
    const goodwillAt = lastGoodwill(its);
    const repeated = goodwillAt !== undefined && goodwillAt > by.at.instant - DAY_MS;
    return { key, outcome, before, goodwillAt, repeated };
  });
}

/** Why a connection is not corrected; undefined if it is. */
export function problemOf(order: BulkOrder, { key, outcome }: BulkEffect): string | undefined {
  if (outcome.kind === "granted") return undefined;
  if (outcome.kind !== "done") {
    const { plan } = order.action === "goodwill" ? order : {};
    return plainWords(notCorrected(outcome, { ...key, plan }));
  }
  if (outcome.audited !== undefined) return undefined;
  return order.action === "block" ? "is blocked already" : "is not blocked";
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
