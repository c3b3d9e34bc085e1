import { portionsOf } from "../domain/portions.ts";
import type { TrialCall } from "../domain/practice.ts";
import type { Instant } from "../domain/wall-time.ts";
import { Batcher } from "./batcher.ts";
import type { Db, Engine } from "./engine.ts";
import type { RefusedCall, Store } from "./store.ts";

/* Calls of partners that are kept for a while: refused ones, and all of the trial environment. */

/** Limits of the calls that each table keeps: their age and their number. */
export const CALLS_KEPT_MS = 30 * 86_400_000;
export const MOST_CALLS = 1_000_000;

/** Calls that one transaction writes: it delays top-ups by a few milliseconds at most. */
const ROWS_AT_ONCE = 500;
/** Calls that are deleted together: more than are written together. */
const DELETED_AT_ONCE = 2_000;

type CallTable = "refusedCall" | "trialCall";

/** Records refused calls, and deletes some that are too old or too many. */
export async function recordRefusedCalls(engine: Engine, calls: readonly RefusedCall[]): Promise<void> {
  for (const some of portionsOf(calls, ROWS_AT_ONCE))
    await recordSome(engine, "refusedCall", some.at(-1)?.at, async (tx, first) => {
      const rows = some.map(({ detail = null, code = null, ...call }, index) => {
        return { ...call, id: first + index, detail, code };
      });
      await tx.insertInto("refusedCall").values(rows).execute();
    });
}

/** Records calls in the trial environment, and deletes some that are too old or too many. */
export async function recordTrialCalls(engine: Engine, calls: readonly TrialCall[]): Promise<void> {
  for (const some of portionsOf(calls, ROWS_AT_ONCE))
    await recordSome(engine, "trialCall", some.at(-1)?.at, async (tx, first) => {
      const rows = some.map(({ cuid, service, reqId, checkoutId, bouquetId, amount, ...call }, index) => ({
        ...{ ...call, id: first + index, retryAfter: call.retryAfter ?? null },
        ...{ cuid: cuid ?? null, service: service ?? null, reqId: reqId ?? null },
        ...{ checkoutId: checkoutId ?? null, bouquetId: bouquetId ?? null, amount: amount ?? null },
      }));
      await tx.insertInto("trialCall").values(rows).execute();
    });
}

/** @param write gets the id of the first row. */
async function recordSome(
  engine: Engine,
  table: CallTable,
  at: Instant = 0,
  write: (tx: Db, first: number) => Promise<void>,
): Promise<void> {
  await engine.transact(async (tx) => {
    await engine.lockCalls(tx);
    const ids = tx.selectFrom(table).select("id").orderBy("id", "desc").limit(1);
    await write(tx, ((await ids.executeTakeFirst())?.id ?? 0) + 1);
    const { id } = await ids.executeTakeFirstOrThrow();
    await deleteOldest(tx, table, at - CALLS_KEPT_MS, id - MOST_CALLS);
  });
}

/** Deletes some of the oldest, if they are from before `from` or numbered up to `beyond`. */
async function deleteOldest(tx: Db, table: CallTable, from: Instant, beyond: number): Promise<void> {
  const oldest = await tx.selectFrom(table).select(["id", "at"]).orderBy("id").limit(1).executeTakeFirstOrThrow();
  if (oldest.at >= from && oldest.id > beyond) return;
  await tx
    .deleteFrom(table)
    .where("id", "<", oldest.id + DELETED_AT_ONCE)
    .where((eb) => eb.or([eb("at", "<", from), eb("id", "<=", beyond)]))
    .execute();
}

interface Practised {
  readonly checkoutId: string;
  readonly at: Instant;
  readonly reverseAt: Instant | undefined;
}

/** Milliseconds between two transactions that count: on SQLite, each delays the top-ups of all partners. */
const COUNTED_EVERY_MS = 50;

/** Counts top-ups of the practice customer, and deletes those of a month ago. Calls gather for one transaction. */
export function practiceCounter(engine: Engine): Store["practise"] {
  const batcher = new Batcher<Practised, number>({
    async settle(batch) {
      await new Promise((resolve) => setTimeout(resolve, COUNTED_EVERY_MS));
      return countPractised(engine, batch);
    },
  });
  return (checkoutId, at, reverseAt) => batcher.add({ checkoutId, at, reverseAt });
}

/** @returns for each call, the number of calls with its checkoutId so far. */
function countPractised(engine: Engine, batch: readonly Practised[]): Promise<number[]> {
  const added = new Map<string, Practised & { readonly calls: number }>();
  const nth = batch.map((call) => {
    const calls = (added.get(call.checkoutId)?.calls ?? 0) + 1;
    added.set(call.checkoutId, { ...call, calls });
    return calls;
  });
  // Sorted, so that no two processes lock rows in opposite orders.
  const rows = [...added.values()]
    .map(({ reverseAt = null, ...row }) => ({ ...row, reverseAt }))
    .toSorted((a, b) => (a.checkoutId < b.checkoutId ? -1 : 1));
  return engine.transact(async (tx) => {
    const newest = Math.max(...batch.map(({ at }) => at));
    await tx
      .deleteFrom("practiceCheckout")
      .where("at", "<", newest - CALLS_KEPT_MS)
      .execute();
    await tx
      .insertInto("practiceCheckout")
      .values(rows)
      .onConflict((conflict) =>
        conflict.column("checkoutId").doUpdateSet((eb) => ({
          calls: eb("practiceCheckout.calls", "+", eb.ref("excluded.calls")),
          reverseAt: eb.ref("excluded.reverseAt"),
        })),
      )
      .execute();
    const counted = await tx
      .selectFrom("practiceCheckout")
      .select(["checkoutId", "calls"])
      .where("checkoutId", "in", [...added.keys()])
      .execute();
    const totals = new Map(counted.map(({ checkoutId, calls }) => [checkoutId, calls]));
    return batch.map(({ checkoutId }, index) => {
      const before = (totals.get(checkoutId) ?? 0) - (added.get(checkoutId)?.calls ?? 0);
      return before + (nth[index] ?? 0);
    });
  });
}
