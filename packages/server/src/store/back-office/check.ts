import { isDeepStrictEqual } from "node:util";
import type { Kysely } from "kysely";
import { type AuditCheckpoint, findBreak, NO_ENTRY } from "../../domain/audit.ts";
import { headOf } from "../../domain/ledger.ts";
import { findFault } from "../../domain/ledger-check.ts";
import { toAuditEntry, toHead } from "../rows.ts";
import type { CheckEvent } from "../store.ts";
import type { ReversalRow, SubscriptionRow, Tables, TopUpRow } from "../tables.ts";
import type { Engine } from "./engine.ts";
import { allLedgers, type CustomerLedger, type LedgersOfSome } from "./ledgers.ts";

const AUDIT_ENTRIES_AT_ONCE = 1_000;

/** A statement takes so many values, and no more. */
const IDS_OF_A_STATEMENT = 1_000;

type Db = Kysely<Tables>;

/** Holds all that is stored against the rules, on one view of it. What an engine alone knows of its files, it checks itself. */
export async function* checkStore(engine: Engine): AsyncGenerator<CheckEvent> {
  const view = await engine.openView("go_on");
  try {
    yield* checkRows(engine, view.db);
  } finally {
    await view.close();
  }
}

/** The same inside a view or a filling. Source: the ledger's page, section 6. */
export async function* checkRows(engine: Engine, db: Db): AsyncGenerator<CheckEvent> {
  yield* checkLedgers(engine, db);
  yield* checkAuditTrail(db);
}

async function* checkLedgers(engine: Engine, db: Db): AsyncGenerator<CheckEvent> {
  const seen = { entries: 0, topUps: 0, reversals: 0 };
  let [ledgers, wrong] = [0, 0];
  for await (const some of allLedgers(engine, db)) {
    const stored = await readStored(db, some);
    ledgers += stored.subscriptions.size;
    for (const what of problemsOf(some, stored, seen)) {
      wrong += 1;
      yield { kind: "wrong", what };
    }
  }
  if (wrong === 0)
    yield { kind: "checked", what: "subscriptions, top-ups and reversals are those of their ledgers", count: ledgers };
  yield await compareCount(db, "ledger_entry", seen.entries, "ledger entries");
  yield await compareCount(db, "top_up", seen.topUps, "top-ups");
  yield await compareCount(db, "reversal", seen.reversals, "reversals");
}

/** Beside the ledgers of some customers: what is stored of the same, by name of ledger and txnId. */
interface Stored {
  readonly subscriptions: ReadonlyMap<string, SubscriptionRow>;
  readonly topUps: ReadonlyMap<string, TopUpRow>;
  readonly reversals: ReadonlyMap<string, ReversalRow>;
}

async function readStored(db: Db, { environment, cuids, ledgers }: LedgersOfSome): Promise<Stored> {
  const subscriptions = await db
    .selectFrom("subscription")
    .selectAll()
    .where("environment", "=", environment)
    .where("cuid", "in", cuids)
    .execute();
  const txnIds = ledgers.flatMap(({ entries }) =>
    entries.flatMap((entry) => (entry.kind === "top_up" ? [entry.txnId] : [])),
  );
  const topUps: TopUpRow[] = [];
  const reversals: ReversalRow[] = [];
  for (let from = 0; from < txnIds.length; from += IDS_OF_A_STATEMENT) {
    const ids = txnIds.slice(from, from + IDS_OF_A_STATEMENT);
    topUps.push(...(await db.selectFrom("top_up").selectAll().where("txn_id", "in", ids).execute()));
    reversals.push(...(await db.selectFrom("reversal").selectAll().where("txn_id", "in", ids).execute()));
  }
  return {
    subscriptions: new Map(subscriptions.map((row) => [nameOf({ ...row, reqId: row.req_id }), row])),
    topUps: new Map(topUps.map((row) => [row.txn_id, row])),
    reversals: new Map(reversals.map((row) => [row.txn_id, row])),
  };
}

/** @param seen is counted on. */
function* problemsOf(
  { environment, ledgers }: LedgersOfSome,
  stored: Stored,
  seen: { entries: number; topUps: number; reversals: number },
): Generator<string> {
  const byName = new Map(ledgers.map((ledger) => [nameOf(ledger), ledger]));
  const txnIds = new Set<string>();
  for (const [name, row] of stored.subscriptions) {
    const ledger = byName.get(name);
    const where = `customer ${row.cuid} (${environment}), ${row.service} ${row.req_id}: ${row.plan}`;
    if (ledger === undefined) {
      yield `${where}: no entry leads to what is stored`;
      continue;
    }
    const fault = findFault(ledger);
    if (fault !== undefined) yield `${where}: ${fault}`;
    if (!isDeepStrictEqual(toHead(row), headOf(ledger))) yield `${where}: the last entry is not what is stored`;
    const found = topUpsOf(ledger);
    for (const { txnId, problem } of found.map((topUp) => ({ ...topUp, problem: topUpProblem(topUp, stored) }))) {
      if (problem !== undefined || txnIds.has(txnId))
        yield `${where}: the top-up ${txnId} ${problem ?? "is there twice"}`;
      txnIds.add(txnId);
    }
    seen.entries += ledger.entries.length;
    seen.topUps += found.length;
    seen.reversals += found.filter(({ reversedAt }) => reversedAt !== undefined).length;
  }
}

type LedgerTopUp = ReturnType<typeof topUpsOf>[number];

/** The top-ups of a ledger, and when each was taken back. */
function topUpsOf({ environment, cuid, service, reqId, entries }: CustomerLedger) {
  const reversedAt = new Map(entries.flatMap((entry) => (entry.kind === "reversal" ? [[entry.of, entry.at]] : [])));
  return entries.flatMap((entry) => {
    if (entry.kind !== "top_up") return [];
    const row = {
      ...{ txn_id: entry.txnId, environment, cuid, service, req_id: reqId, bouquet_code: entry.bouquet.code },
      ...{ at: entry.at.instant, txn_date: entry.at.wall },
    };
    return [{ txnId: entry.txnId, row, reversedAt: reversedAt.get(entry.seq) }];
  });
}

function topUpProblem({ txnId, row, reversedAt }: LedgerTopUp, { topUps, reversals }: Stored): string | undefined {
  const topUp = topUps.get(txnId);
  if (topUp === undefined) return "is not on record";
  const differs = (Object.keys(row) as (keyof typeof row)[]).some((column) => row[column] !== topUp[column]);
  if (differs) return "is on record otherwise";
  const reversal = reversals.get(txnId);
  if ((topUp.status === "reversed") !== (reversedAt !== undefined)) return `has the status ${topUp.status}`;
  if (reversal?.at !== reversedAt?.instant || reversal?.wall !== reversedAt?.wall)
    return "was reversed otherwise than is on record";
  return undefined;
}

async function compareCount(
  db: Db,
  table: "ledger_entry" | "top_up" | "reversal",
  seen: number,
  what: string,
): Promise<CheckEvent> {
  const row = await db
    .selectFrom(table)
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .executeTakeFirst();
  const count = Number(row?.count);
  if (count === seen) return { kind: "checked", what: `${what} are all found by their subscriptions`, count };
  return { kind: "wrong", what: `there are ${count} ${what}, and subscriptions lead to ${seen}` };
}

/** Whether the audit trail is whole as far as it goes: only a checkpoint tells whether its end is missing. */
async function* checkAuditTrail(db: Db): AsyncGenerator<CheckEvent> {
  let last: AuditCheckpoint = NO_ENTRY;
  for (;;) {
    const page = await db
      .selectFrom("audit_entry")
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

/** No identifier holds a control character. */
function nameOf({ cuid, service, reqId, plan }: Pick<CustomerLedger, "cuid" | "service" | "reqId" | "plan">): string {
  return [cuid, service, reqId, plan].join("\u0000");
}
