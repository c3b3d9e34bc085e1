import { sql } from "kysely";
import type { ConnectionKey, Environment } from "../../domain/customer.ts";
import { portionsOf } from "../../domain/portions.ts";
import type { Instant, WallTime } from "../../domain/wall-time.ts";
import { CONNECTION_KEY } from "../../store/customers.ts";
import type { Db } from "../../store/engine.ts";
import type { BulkLineRow, BulkRunRow } from "../../store/tables.ts";
import { WAITS_MS } from "../second-person.ts";
import { KEPT_MS } from "../work.ts";

/* The tables of bulk changes, and the connections that their lines mean. */

/** Codes or ids that one statement names. */
const AT_ONCE = 500;

/** The customers that have some codes. */
export async function findHolders(
  db: Db,
  environment: Environment,
  codes: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const holders = new Map<string, string[]>();
  for (const some of portionsOf(codes, AT_ONCE)) {
    const query = db.selectFrom("customerCode").select(["code", "cuid"]).where("environment", "=", environment);
    for (const { code, cuid } of await query.where("code", "in", some).orderBy("cuid").execute())
      holders.set(code, [...(holders.get(code) ?? []), cuid]);
  }
  return holders;
}

export interface OwnConnections {
  /** The customer id and the mobile number. */
  readonly codes: readonly (string | null)[];
  readonly connections: readonly ConnectionKey[];
}

/** The connections of some customers, by customer id. */
export async function connectionsOfCustomers(
  db: Db,
  environment: Environment,
  cuids: readonly string[],
): Promise<ReadonlyMap<string, OwnConnections>> {
  if (cuids.length === 0) return new Map();
  const customers = db.selectFrom("customer").select(["cuid", "mobile", "mobileE164"]);
  const connections = db.selectFrom("connection").select(CONNECTION_KEY).where("environment", "=", environment);
  const found = await customers.where("environment", "=", environment).where("cuid", "in", cuids).execute();
  const own = new Map(
    found.map(({ cuid, mobile, mobileE164 }) => {
      return [cuid, { codes: [cuid, mobile, mobileE164], connections: [] as ConnectionKey[] }];
    }),
  );
  for (const key of await connections.where("cuid", "in", cuids).orderBy("cuid").orderBy("position").execute())
    own.get(key.cuid)?.connections.push(key);
  return own;
}

/** Connections of a segment, or of the customers of an area. */
export interface Group {
  readonly kind: "segment" | "area";
  readonly name: string;
}

/** Yields the connections of a group. */
export async function* pagesOfGroup(db: Db, environment: Environment, group: Group, limit: number) {
  for (let last: ConnectionKey | undefined; ; ) {
    let query = ofGroup(db, environment, group).select(CONNECTION_KEY);
    if (last !== undefined)
      query = query
        .where("cuid", ">=", last.cuid)
        .where(sql<boolean>`(cuid, service, req_id) > (${last.cuid}, ${last.service}, ${last.reqId})`);
    const keys: ConnectionKey[] = await query.orderBy(sql`cuid, service, req_id`).limit(limit).execute();
    if (keys.length > 0) yield keys;
    if (keys.length < limit) return;
    last = keys.at(-1);
  }
}

export async function countGroup(db: Db, environment: Environment, group: Group): Promise<number> {
  const query = ofGroup(db, environment, group).select((eb) => eb.fn.countAll().as("count"));
  return Number((await query.executeTakeFirstOrThrow()).count);
}

function ofGroup(db: Db, environment: Environment, { kind, name }: Group) {
  const connections = db.selectFrom("connection").where("environment", "=", environment);
  if (kind === "segment") return connections.where("segment", "=", name);
  const customers = db.selectFrom("customer").select("cuid").where("environment", "=", environment);
  return connections.where("cuid", "in", customers.where("area", "=", name));
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

/** Lists the plans that connections have or had, each with the number of connections where it runs. */
export async function listPlans(db: Db, environment: Environment, now: WallTime) {
  const query = db
    .selectFrom("subscription")
    .select((eb) => [
      "plan",
      eb.fn.sum<number>(eb.case().when("endTime", ">", now).then(1).else(0).end()).as("running"),
    ])
    .where("environment", "=", environment)
    .groupBy("plan")
    .orderBy("plan");
  return (await query.execute()).map(({ plan, running }) => ({ plan, running: Number(running) }));
}

type NewRun = Pick<
  BulkRunRow,
  | ("environment" | "action" | "days" | "plan" | "runningAt" | "reverses")
  | ("reason" | "author" | "staffId" | "role" | "keyHash")
>;

/** A run whose list is not read yet. Must be called in a transaction of reference data, which numbers it. */
export async function newRun(tx: Db, run: NewRun, at: Instant): Promise<BulkRunRow> {
  const last = await tx.selectFrom("bulkRun").select("id").orderBy("id", "desc").limit(1).executeTakeFirst();
  return {
    id: (last?.id ?? 0) + 1,
    ...run,
    ...{ state: "checking", createdAt: at, startedAt: null, changedAt: at, problem: null },
    ...{ lines: 0, count: 0, repeated: 0, startsAgain: 0, duplicates: 0, problems: 0, place: 0, done: 0 },
  };
}

export async function insertRun(tx: Db, run: BulkRunRow): Promise<void> {
  await tx.insertInto("bulkRun").values(run).execute();
}

export function findRun(db: Db, id: number): Promise<BulkRunRow | undefined> {
  return db.selectFrom("bulkRun").selectAll().where("id", "=", id).executeTakeFirst();
}

/** Finds runs, by their ids as texts. */
export async function findRuns(db: Db, ids: readonly number[]): Promise<ReadonlyMap<string, BulkRunRow>> {
  if (ids.length === 0) return new Map();
  const rows = await db.selectFrom("bulkRun").selectAll().where("id", "in", ids).execute();
  return new Map(rows.map((row) => [String(row.id), row]));
}

/** Lists runs that were started, newest first. */
export function listRuns(db: Db, before: number | undefined, limit: number): Promise<BulkRunRow[]> {
  let query = db.selectFrom("bulkRun").selectAll().where("startedAt", "is not", null);
  if (before !== undefined) query = query.where("id", "<", before);
  return query.orderBy("id", "desc").limit(limit).execute();
}

/** Running bulk changes without progress since a time. */
export async function abandonedRuns(db: Db, since: Instant): Promise<number[]> {
  const query = db.selectFrom("bulkRun").select("id").where("state", "=", "running").where("changedAt", "<", since);
  return (await query.orderBy("id").execute()).map(({ id }) => id);
}

/** The expected state of a run, and its place if it corrects a portion. */
export type Expected = Pick<BulkRunRow, "id" | "state"> & Partial<Pick<BulkRunRow, "place">>;

/** Changes a run. @returns false, and changes nothing, if its state or place is another one by now. */
export async function updateRun(
  tx: Db,
  { id, state, place }: Expected,
  changes: Partial<BulkRunRow> & Pick<BulkRunRow, "changedAt">,
): Promise<boolean> {
  let query = tx.updateTable("bulkRun").set(changes).where("id", "=", id).where("state", "=", state);
  if (place !== undefined) query = query.where("place", "=", place);
  return Number((await query.executeTakeFirst()).numUpdatedRows) === 1;
}

/** The connections among some that a run already has. */
export async function connectionsOfRun(db: Db, id: number, cuids: readonly string[]) {
  const query = db.selectFrom("bulkLine").select(["cuid", "service", "reqId"]).where("runId", "=", id);
  return cuids.length === 0 ? [] : query.where("cuid", "in", cuids).execute();
}

/** Inserts lines, or records the outcome of their corrections. */
export async function putLines(tx: Db, rows: readonly BulkLineRow[]): Promise<void> {
  if (rows.length === 0) return;
  const insert = tx.insertInto("bulkLine").values(rows);
  await insert
    .onConflict((on) =>
      on.columns(["runId", "number"]).doUpdateSet((eb) => ({
        plan: eb.ref("excluded.plan"),
        entry: eb.ref("excluded.entry"),
        problem: eb.ref("excluded.problem"),
      })),
    )
    .execute();
}

/** The next lines of a run in their order. @param problems only those left out, or only the others. */
export function linesAfter(
  db: Db,
  id: number,
  { after, limit, problems }: { readonly after: number; readonly limit: number; readonly problems?: boolean },
): Promise<BulkLineRow[]> {
  let query = db.selectFrom("bulkLine").selectAll().where("runId", "=", id).where("number", ">", after);
  if (problems !== undefined) query = query.where("problem", problems ? "is not" : "is", null);
  return query.orderBy("number").limit(limit).execute();
}

const CHECK_LOST_MS = 60_000;

/** Previews that are an hour old, those whose process has ended, and runs that no second person confirmed. */
export function expiredPreviews(db: Db, now: Instant): Promise<Expected[]> {
  const query = db.selectFrom("bulkRun").select(["id", "state"]);
  return query
    .where((eb) =>
      eb.or([
        eb("state", "=", "checking").and("changedAt", "<", now - CHECK_LOST_MS),
        eb("state", "=", "checked").and("changedAt", "<", now - KEPT_MS),
        eb("state", "=", "waiting").and("changedAt", "<", now - WAITS_MS),
      ]),
    )
    .execute();
}

/** A run with lines that never started, or that ended before the horizon. */
export async function findOutdated(db: Db, horizon: Instant): Promise<number | undefined> {
  const query = db
    .selectFrom("bulkRun as r")
    .select("r.id")
    .where("r.state", "in", ["done", "cancelled", "refused", "failed"])
    .where((eb) => eb.or([eb("r.startedAt", "is", null), eb("r.changedAt", "<", horizon)]))
    .where((eb) => eb.exists(eb.selectFrom("bulkLine as l").select("l.number").whereRef("l.runId", "=", "r.id")));
  return (await query.limit(1).executeTakeFirst())?.id;
}

/** Deletes the first lines of a run. */
export async function deleteLines(tx: Db, runId: number, most: number): Promise<void> {
  const last = (await linesAfter(tx, runId, { after: 0, limit: most })).at(-1)?.number ?? 0;
  await tx.deleteFrom("bulkLine").where("runId", "=", runId).where("number", "<=", last).execute();
}
