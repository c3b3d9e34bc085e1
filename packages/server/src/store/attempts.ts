import type { Kysely } from "kysely";
import { portionsOf } from "../domain/portions.ts";
import type { Engine } from "./engine.ts";
import type { Attempt } from "./store.ts";
import type { Tables } from "./tables.ts";

type Db = Kysely<Tables>;

/** For how long, and how many, refused calls are kept. */
export const ATTEMPTS_KEPT_MS = 30 * 86_400_000;
export const MOST_ATTEMPTS = 1_000_000;

/** How many one transaction notes: its writing holds up top-ups for some milliseconds at most. */
const ROWS_AT_ONCE = 500;
/** How many are let go of together: more than are noted together. */
const LET_GO_AT_ONCE = 2_000;

/** Records refused calls, and deletes some that are too old or too many. */
export async function recordAttempts(engine: Engine, attempts: readonly Attempt[]): Promise<void> {
  for (const some of portionsOf(attempts, ROWS_AT_ONCE)) await recordSome(engine, some);
}

async function recordSome(engine: Engine, attempts: readonly Attempt[]): Promise<void> {
  await engine.transact(async (tx) => {
    await engine.lockAttempts(tx);
    const newest = await tx.selectFrom("attempt").select("id").orderBy("id", "desc").limit(1).executeTakeFirst();
    const first = (newest?.id ?? 0) + 1;
    const rows = attempts.map((attempt, index) => ({ ...attempt, id: first + index, code: attempt.code ?? null }));
    await tx.insertInto("attempt").values(rows).execute();
    const last = rows.at(-1);
    if (last !== undefined) await letGo(tx, last.at - ATTEMPTS_KEPT_MS, last.id - MOST_ATTEMPTS);
  });
}

/** Lets go of some of the oldest, if they are from before `from` or numbered up to `beyond`. */
async function letGo(tx: Db, from: number, beyond: number): Promise<void> {
  const oldest = await tx.selectFrom("attempt").select(["id", "at"]).orderBy("id").limit(1).executeTakeFirstOrThrow();
  if (oldest.at >= from && oldest.id > beyond) return;
  await tx
    .deleteFrom("attempt")
    .where("id", "<", oldest.id + LET_GO_AT_ONCE)
    .where((eb) => eb.or([eb("at", "<", from), eb("id", "<=", beyond)]))
    .execute();
}
