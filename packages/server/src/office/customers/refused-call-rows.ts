import type { Environment } from "../../domain/customer.ts";
import type { Instant } from "../../domain/wall-time.ts";
import type { Db } from "../../store/engine.ts";
import type { RefusedCall } from "../../store/store.ts";

export interface RefusedCallFilter {
  readonly environment: Environment;
  /** Customer ids and codes: the call named one of them. */
  readonly codes?: readonly string[] | undefined;
  readonly partnerId?: number | undefined;
  readonly reason?: string | undefined;
  readonly from?: Instant | undefined;
  readonly until?: Instant | undefined;
}

/** Lists refused calls, newest first, with their numbers. @param page.before of the last call of the previous page. */
export async function readRefusedCalls(
  db: Db,
  filter: RefusedCallFilter,
  { before, limit }: { readonly before: number | undefined; readonly limit: number },
): Promise<(RefusedCall & { readonly id: number })[]> {
  if (filter.codes?.length === 0) return [];
  const query = filtered(db, filter).selectAll().orderBy("id", "desc").limit(limit);
  const rows = await (before === undefined ? query : query.where("id", "<", before)).execute();
  return rows.map((row) => ({ ...row, detail: row.detail ?? undefined, code: row.code ?? undefined }));
}

/** Counts refused calls by their reasons, most first. */
export async function countRefusedCalls(
  db: Db,
  filter: RefusedCallFilter,
): Promise<{ readonly reason: string; readonly count: number }[]> {
  const rows = await filtered(db, filter)
    .select((eb) => ["reason", eb.fn.countAll().as("count")])
    .groupBy("reason")
    .orderBy("count", "desc")
    .orderBy("reason")
    .execute();
  return rows.map(({ reason, count }) => ({ reason, count: Number(count) }));
}

function filtered(db: Db, { environment, codes, partnerId, reason, from, until }: RefusedCallFilter) {
  let query = db.selectFrom("refusedCall").where("environment", "=", environment);
  if (codes !== undefined) query = query.where("code", "in", codes);
  if (partnerId !== undefined) query = query.where("partnerId", "=", partnerId);
  if (reason !== undefined) query = query.where("reason", "=", reason);
  if (from !== undefined) query = query.where("at", ">=", from);
  if (until !== undefined) query = query.where("at", "<", until);
  return query;
}
