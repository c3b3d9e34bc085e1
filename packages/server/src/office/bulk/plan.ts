import { sql } from "kysely";
import type { Static } from "typebox";
import { SERVICES } from "../../domain/bouquet.ts";
import {
  type BulkOrder,
  type BulkOutcome,
  type Correcting,
  decideBulk,
  hadGoodwillLately,
} from "../../domain/correction.ts";
import type { BareConnection, Connection, ConnectionKey, Environment } from "../../domain/customer.ts";
import { headOf, type Ledger } from "../../domain/ledger.ts";
import { portionsOf } from "../../domain/portions.ts";
import { CONNECTION_KEY } from "../../store/customers.ts";
import type { Engine } from "../../store/engine.ts";
import { CONNECTION_STATE, toConnectionState } from "../../store/rows.ts";
import { environmentOf } from "../common.ts";
import { noConnection } from "../corrections/sql.ts";
import { notCorrected } from "../corrections/words.ts";
import { correctingBy, type Db, type Office } from "../office.ts";
import { type Naming, Refused } from "../refused.ts";
import { type BulkRequestSchema, MOST_CONNECTIONS } from "./schemas.ts";

type Request = Static<typeof BulkRequestSchema>;

/** Connections that one transaction corrects. Top-ups wait for at most a tenth of a second. */
export const PORTION = 200;

export interface BulkProblem {
  readonly line: string;
  readonly problem: string;
}

/** A decision on one connection. */
export interface BulkEffect {
  readonly key: ConnectionKey;
  readonly outcome: BulkOutcome;
  /** Undefined if there is no such connection. */
  readonly before: Connection | undefined;
  /** Whether staff gave goodwill in the last day that is not reversed. */
  readonly repeated: boolean;
}

export interface BulkPlan {
  readonly environment: Environment;
  readonly order: BulkOrder;
  /** Decisions that change a connection. */
  readonly effects: readonly BulkEffect[];
  readonly problems: readonly BulkProblem[];
}

/** Finds the connections of a request, each once and without a guess, and decides on each. @throws Refused */
export async function planBulk(office: Office, request: Request): Promise<BulkPlan> {
  const { connections: lines = [], segment, skipRepeated = false } = request;
  if (lines.length === 0 && segment === undefined) throw Refused.field("connections", "or a segment is required");
  const order = orderOf(request);
  const environment = await environmentOf(office, request);
  const { engine } = office.store;
  const meant = await connectionsMeant(engine.db, environment, lines, segment);
  if (meant.keys.length > MOST_CONNECTIONS)
    throw Refused.field("segment", `has, together with the listed ones, more than ${MOST_CONNECTIONS} connections`);
  const effects: BulkEffect[] = [];
  const problems = [...meant.problems];
  for (const portion of portionsOf(meant.keys, PORTION))
    for (const effect of await decidePortion(engine, engine.db, order, portion, correctingBy(office))) {
      const isSkipped = skipRepeated && order.action === "goodwill" && effect.repeated;
      const problem = isSkipped ? "was given goodwill in the last day" : problemOf(order, effect);
      if (problem === undefined) effects.push(effect);
      else problems.push({ line: lineOf(effect.key), problem });
    }
  return { environment, order, effects, problems };
}

function orderOf({ action, days, plan }: Request): BulkOrder {
  if (action !== "goodwill") return { action };
  if (days === undefined) throw Refused.field("days", "is required");
  return { action, days, plan };
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
    return { key, outcome, before, repeated: hadGoodwillLately(its, by.at.instant) };
  });
}

/** Why a connection is not corrected; undefined if it is. */
export function problemOf(order: BulkOrder, { key, outcome }: BulkEffect): string | undefined {
  if (outcome.kind === "granted") return undefined;
  if (outcome.kind !== "done") {
    const { plan } = order.action === "goodwill" ? order : {};
    return notCorrected(outcome, { ...key, plan }).words(plainly);
  }
  if (outcome.audited !== undefined) return undefined;
  return order.action === "block" ? "is blocked already" : "is not blocked";
}

const plainly: Naming = (field, value = "") => `${field} ${value}`.trim();

function nameOf({ cuid, service, reqId }: Pick<ConnectionKey, "cuid" | "service" | "reqId">): string {
  return JSON.stringify([cuid, service, reqId]);
}

export function lineOf({ cuid, service, reqId }: Pick<ConnectionKey, "cuid" | "service" | "reqId">): string {
  return `${cuid} ${service} ${reqId}`;
}

/** Names that one statement looks up. */
const NAMES_AT_ONCE = 500;

/** Finds connections. @param lines each a reqId, or a cuid, a service and a reqId. */
async function connectionsMeant(
  db: Db,
  environment: Environment,
  lines: readonly string[],
  segment: string | undefined,
): Promise<{ readonly keys: readonly ConnectionKey[]; readonly problems: readonly BulkProblem[] }> {
  const [keys, names] = [new Map<string, ConnectionKey>(), new Set<string>()];
  const problems: BulkProblem[] = [];
  const add = (key: ConnectionKey) => keys.set(lineOf(key), key);
  for (const line of lines.map((each) => each.trim())) {
    const words = line.split(/[\s,]+/).filter(Boolean);
    const [first, second, reqId] = words;
    const service = SERVICES.find((known) => known === second);
    if (first === undefined) continue;
    if (words.length === 1) names.add(first);
    else if (words.length === 3 && service !== undefined && reqId !== undefined)
      add({ environment, cuid: first, service, reqId });
    else problems.push({ line, problem: "must be a reqId, or a cuid, a service and a reqId" });
  }
  for (const some of portionsOf([...names], NAMES_AT_ONCE)) {
    const byName = new Map<string, ConnectionKey[]>();
    for (const key of await findConnectionsNamed(db, environment, some))
      byName.set(key.reqId, [...(byName.get(key.reqId) ?? []), key]);
    for (const name of some) {
      const found = byName.get(name) ?? [];
      const [connection] = found;
      if (connection === undefined)
        problems.push({ line: name, problem: noConnection({ reqId: name }).words(plainly) });
      else if (found.length === 1) add(connection);
      else problems.push({ line: name, problem: `several connections fit: ${found.map(lineOf).join("; ")}` });
    }
  }
  if (segment !== undefined)
    for (const key of await listConnectionsOfSegment(db, environment, segment, MOST_CONNECTIONS + 1)) add(key);
  return { keys: [...keys.values()], problems };
}

/** Finds connections of all customers by their names. */
export function findConnectionsNamed(
  db: Db,
  environment: Environment,
  reqIds: readonly string[],
): Promise<ConnectionKey[]> {
  return db
    .selectFrom("customerCode as c")
    .innerJoin("connection as n", (join) =>
      join.onRef("n.cuid", "=", "c.cuid").onRef("n.environment", "=", "c.environment").onRef("n.reqId", "=", "c.code"),
    )
    .select(CONNECTION_KEY.map((column) => `n.${column}` as const))
    .where("c.code", "in", reqIds)
    .where("c.environment", "=", environment)
    .execute();
}

export function listConnectionsOfSegment(
  db: Db,
  environment: Environment,
  segment: string,
  limit: number,
): Promise<ConnectionKey[]> {
  return db
    .selectFrom("connection")
    .select(CONNECTION_KEY)
    .where("environment", "=", environment)
    .where("segment", "=", segment)
    .orderBy(sql`cuid, service, req_id`)
    .limit(limit)
    .execute();
}

/** Lists segments by name, each with the number of its connections. */
export async function listSegments(db: Db, environment: Environment) {
  const query = db
    .selectFrom("connection")
    .select((eb) => ["segment", eb.fn.countAll<number>().as("connections")])
    .where("environment", "=", environment)
    .where("segment", "is not", null)
    .groupBy("segment")
    .orderBy("segment");
  return (await query.execute()).map(({ segment, connections }) => {
    return { segment: segment ?? "", connections: Number(connections) };
  });
}

/** All connections of some customers. */
export async function readConnections(
  db: Db,
  environment: Environment,
  cuids: readonly string[],
): Promise<(BareConnection & { readonly cuid: string })[]> {
  const query = db
    .selectFrom("connection")
    .select(["cuid", "service", "reqId", ...CONNECTION_STATE])
    .where("environment", "=", environment)
    .where("cuid", "in", cuids);
  return (await query.execute()).map(({ cuid, service, reqId, ...row }) => {
    return { cuid, service, reqId, ...toConnectionState(row) };
  });
}
