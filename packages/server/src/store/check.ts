import { isDeepStrictEqual } from "node:util";
import { sql } from "kysely";
import { type AuditCheckpoint, findBreak, NO_ENTRY } from "../domain/audit.ts";
import { headOf } from "../domain/ledger.ts";
import { findFault } from "../domain/ledger-check.ts";
import { portionsOf } from "../domain/portions.ts";
import { settledRange } from "../domain/settlement.ts";
import { firstTransactionId } from "../domain/transaction.ts";
import type { Instant, WallTime, Zone } from "../domain/wall-time.ts";
import { checkAccounts } from "./account-check.ts";
import { toAuditEntry } from "./audit.ts";
import { checkTerms } from "./customer-terms.ts";
import { allLedgers, type CustomerLedger, type LedgersOfSome } from "./customers.ts";
import { type Db, type Engine, withRawNames } from "./engine.ts";
import { toHead } from "./rows.ts";
import { checkShifts } from "./shifts.ts";
import type { CheckEvent } from "./store.ts";
import type { RawRow, RawTables } from "./tables.ts";

const AUDIT_ENTRIES_AT_ONCE = 1_000;

/** The number of values in one statement is limited. */
const IDS_OF_A_STATEMENT = 1_000;

/** Checks all stored data against the rules, in one view. Each engine checks its own files. */
export async function* checkStore(engine: Engine, zone: Zone): AsyncGenerator<CheckEvent> {
  const view = await engine.openView("go_on");
  try {
    yield* checkRows(engine, view.db, zone);
  } finally {
    await view.close();
  }
}

/** Checks all stored data inside a view or a filling. */
export async function* checkRows(engine: Engine, db: Db, zone: Zone): AsyncGenerator<CheckEvent> {
  yield* checkLedgers(engine, db, zone);
  yield* checkAccounts(db, zone);
  yield* checkShifts(db);
  yield* checkTerms(engine, db);
  yield* checkAuditTrail(db);
}

async function* checkLedgers(engine: Engine, db: Db, zone: Zone): AsyncGenerator<CheckEvent> {
  const seen: SeenCounts = { ledger_entry: 0, top_up: 0, reversal: 0 };
  let [ledgers, wrong] = [0, 0];
  for await (const some of allLedgers(engine, db)) {
    const subscriptions = await readSubscriptions(db, some);
    const recorded = await readRecorded(db, some.ledgers.flatMap(recordedBy));
    ledgers += subscriptions.length;
    for (const what of problemsOf(some, subscriptions, recorded, zone, seen)) {
      wrong += 1;
      yield { kind: "wrong", what };
    }
  }
  for (const { txn_id } of await readUsedThoughRetired(db)) {
    wrong += 1;
    yield { kind: "wrong", what: `the top-up ${txn_id} has a checkoutId that was retired` };
  }
  if (wrong === 0)
    yield { kind: "checked", what: "subscriptions, top-ups and reversals are those of their ledgers", count: ledgers };
  yield await compareCount(db, "ledger_entry", seen.ledger_entry, "ledger entries");
  yield await compareCount(db, "top_up", seen.top_up, "top-ups");
  yield await compareCount(db, "reversal", seen.reversal, "reversals");
}

/** Partners were told that a retired checkout never has a top-up. */
function readUsedThoughRetired(db: Db): Promise<Pick<RawRow<"top_up">, "txn_id">[]> {
  const retired = withRawNames(db).selectFrom("retired_checkout as r");
  return retired.innerJoin("top_up as t", "t.checkout_id", "r.checkout_id").select("t.txn_id").execute();
}

/** A top-up and its reversal time, from a ledger or from its own row. */
type Recorded = Pick<RawRow<"top_up">, (typeof RECORDED_COLUMNS)[number]> & {
  readonly reversed_at: Instant | null;
  readonly reversed_wall: WallTime | null;
};

const RECORDED_COLUMNS = [
  "txn_id",
  "environment",
  "cuid",
  "service",
  "req_id",
  "bouquet_code",
  "at",
  "txn_date",
  "status",
] as const;

function recordedBy({ environment, cuid, service, reqId, entries }: CustomerLedger): Recorded[] {
  const reversals = new Map(entries.flatMap((entry) => (entry.kind === "reversal" ? [[entry.of, entry.at]] : [])));
  return entries.flatMap((entry) => {
    if (entry.kind !== "top_up") return [];
    const reversedAt = reversals.get(entry.seq);
    return [
      {
        txn_id: entry.txnId,
        environment,
        cuid,
        service,
        req_id: reqId,
        bouquet_code: entry.bouquet.code,
        at: entry.at.instant,
        txn_date: entry.at.wall,
        status: reversedAt === undefined ? "success" : "reversed",
        reversed_at: reversedAt?.instant ?? null,
        reversed_wall: reversedAt?.wall ?? null,
      },
    ];
  });
}

async function readRecorded(db: Db, topUps: readonly Recorded[]): Promise<Map<string, Recorded>> {
  const found = new Map<string, Recorded>();
  for (const portion of portionsOf(topUps, IDS_OF_A_STATEMENT)) {
    const txnIds = portion.map(({ txn_id }) => txn_id);
    const query = withRawNames(db)
      .selectFrom("top_up as t")
      .leftJoin("reversal as r", "r.txn_id", "t.txn_id")
      .select(RECORDED_COLUMNS.map((column) => `t.${column}` as const))
      .select(["r.at as reversed_at", "r.wall as reversed_wall"])
      .where("t.txn_id", "in", txnIds);
    for (const row of await query.execute()) found.set(row.txn_id, row);
  }
  return found;
}

function readSubscriptions(db: Db, { environment, cuids }: LedgersOfSome): Promise<RawRow<"subscription">[]> {
  const all = withRawNames(db).selectFrom("subscription").selectAll();
  return all.where("environment", "=", environment).where("cuid", "in", cuids).execute();
}

interface SeenCounts {
  ledger_entry: number;
  top_up: number;
  reversal: number;
}

/** @param seen counts the entries, top-ups and reversals. */
function* problemsOf(
  { environment, ledgers }: LedgersOfSome,
  subscriptions: readonly RawRow<"subscription">[],
  recorded: ReadonlyMap<string, Recorded>,
  zone: Zone,
  seen: SeenCounts,
): Generator<string> {
  const byName = new Map(ledgers.map((ledger) => [nameOf(ledger), ledger]));
  const txnIds = new Set<string>();
  for (const row of subscriptions) {
    const ledger = byName.get(nameOf({ ...row, reqId: row.req_id }));
    const where = `customer ${row.cuid} (${environment}), ${row.service} ${row.req_id}: ${row.plan}`;
    if (ledger === undefined) {
      yield `${where}: no entry leads to the stored subscription`;
      continue;
    }
    const topUps = recordedBy(ledger);
    for (const problem of problemsOfSubscription(row, ledger)) yield `${where}: ${problem}`;
    for (const problem of problemsOfTopUps(topUps, recorded, zone, txnIds)) yield `${where}: ${problem}`;
    seen.ledger_entry += ledger.entries.length;
    seen.top_up += topUps.length;
    seen.reversal += topUps.filter(({ reversed_at }) => reversed_at !== null).length;
  }
}

function* problemsOfSubscription(row: RawRow<"subscription">, ledger: CustomerLedger): Generator<string> {
  const fault = findFault(ledger);
  if (fault !== undefined) yield fault;
  if (!isDeepStrictEqual(toHead(row), headOf(ledger))) yield "the last entry differs from the stored subscription";
}

/** @param txnIds of all ledgers before this one. Those of its top-ups are added. */
function* problemsOfTopUps(
  topUps: readonly Recorded[],
  recorded: ReadonlyMap<string, Recorded>,
  zone: Zone,
  txnIds: Set<string>,
): Generator<string> {
  for (const topUp of topUps) {
    const isTwice = txnIds.has(topUp.txn_id);
    const problem = isTwice ? "is there twice" : findDifference(topUp, recorded.get(topUp.txn_id), zone);
    if (problem !== undefined) yield `the top-up ${topUp.txn_id} ${problem}`;
    txnIds.add(topUp.txn_id);
  }
}

function findDifference(topUp: Recorded, recorded: Recorded | undefined, zone: Zone): string | undefined {
  if (recorded === undefined) return "is not on record";
  // Searches by time use the txnId.
  if (!topUp.txn_id.startsWith(firstTransactionId(topUp.at))) return "does not begin with its time";
  const range = settledRange(topUp.txn_date.slice(0, "YYYY-MM-DD".length), zone);
  if (range === undefined || topUp.at < range.from || topUp.at >= range.until)
    return "is not in the settlement of its day";
  const others = (Object.keys(topUp) as (keyof Recorded)[]).filter((column) => topUp[column] !== recorded[column]);
  return others.length === 0 ? undefined : `is on record otherwise: ${others.join(", ")}`;
}

async function compareCount(db: Db, table: keyof RawTables, seen: number, what: string): Promise<CheckEvent> {
  const counted = await sql<{ count: number }>`SELECT count(*) AS count FROM ${sql.table(table)}`.execute(db);
  const count = Number(counted.rows[0]?.count);
  if (count === seen) return { kind: "checked", what: `${what} are all found by their subscriptions`, count };
  return { kind: "wrong", what: `there are ${count} ${what}, and subscriptions lead to ${seen}` };
}

/** Checks the chain of the audit trail. Only a checkpoint can show that its end is missing. */
async function* checkAuditTrail(db: Db): AsyncGenerator<CheckEvent> {
  let last: AuditCheckpoint = NO_ENTRY;
  for (;;) {
    const page = await db
      .selectFrom("auditEntry")
      .selectAll()
      .where("seq", ">", last.seq)
      .orderBy("seq")
      .limit(AUDIT_ENTRIES_AT_ONCE)
      .execute();
    for (const row of page) {
      const entry = toAuditEntry(row);
      const broken = findBreak(last, entry);
      if (broken !== undefined) {
        yield { kind: "wrong", what: `the audit trail is broken: ${broken}` };
        return;
      }
      last = entry;
    }
    if (page.length < AUDIT_ENTRIES_AT_ONCE) break;
  }
  yield { kind: "checked", what: "audit trail: each entry follows from the one before it", count: last.seq };
}

/** A unique name of a ledger: identifiers contain no control characters. */
function nameOf({ cuid, service, reqId, plan }: Pick<CustomerLedger, "cuid" | "service" | "reqId" | "plan">): string {
  return [cuid, service, reqId, plan].join("\u0000");
}
