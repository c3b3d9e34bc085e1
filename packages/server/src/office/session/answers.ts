import type { Instant } from "../../domain/wall-time.ts";
import type { Engine } from "../../store/engine.ts";

/** A request with an Idempotency-Key, and its answer. */
export interface KeptAnswer {
  readonly request: Uint8Array;
  /** Undefined while the request is not answered. */
  readonly status: number | undefined;
  /** Undefined if the answer is not kept. */
  readonly body: string | undefined;
}

/**
 * Records that a request is being answered, unless one with this hash is on record already.
 * @param asked.owner the account or key that asks.
 * @param most how many an owner may have on record; undefined for any number.
 * @returns what is on record; undefined if it is recorded now; `too_many` if there is no room for it.
 */
export function beginAnswer(
  engine: Engine,
  asked: { readonly hash: Uint8Array; readonly owner: string; readonly request: Uint8Array; readonly at: Instant },
  most: number | undefined,
): Promise<KeptAnswer | "too_many" | undefined> {
  const { hash, owner } = asked;
  return engine.transact(async (tx) => {
    const insert = tx.insertInto("staffAnswer").values({ ...asked, status: null, body: null });
    const { numInsertedOrUpdatedRows: inserted } = await insert
      .onConflict((on) => on.column("hash").doNothing())
      .executeTakeFirstOrThrow();
    if (inserted !== 1n) {
      const kept = await tx.selectFrom("staffAnswer").selectAll().where("hash", "=", hash).executeTakeFirstOrThrow();
      return { request: kept.request, status: kept.status ?? undefined, body: kept.body ?? undefined };
    }
    if (most === undefined) return undefined;
    const { count } = await tx
      .selectFrom("staffAnswer")
      .select((eb) => eb.fn.countAll<number>().as("count"))
      .where("owner", "=", owner)
      .executeTakeFirstOrThrow();
    if (Number(count) <= most) return undefined;
    await tx.deleteFrom("staffAnswer").where("hash", "=", hash).execute();
    return "too_many";
  });
}

/** @param body undefined if the answer must not be kept. */
export async function keepAnswer(
  engine: Engine,
  hash: Uint8Array,
  status: number,
  body: string | undefined,
): Promise<void> {
  const values = { status, body: body ?? null };
  await engine.transact((tx) => tx.updateTable("staffAnswer").set(values).where("hash", "=", hash).execute());
}

/** Deletes what was recorded before. */
export async function pruneAnswers(engine: Engine, before: Instant): Promise<void> {
  await engine.transact((tx) => tx.deleteFrom("staffAnswer").where("at", "<", before).execute());
}
