import type { Environment } from "../../domain/customer.ts";
import type { Instant } from "../../domain/wall-time.ts";
import type { RefusedCall } from "../../store/store.ts";
import type { Db } from "../office.ts";

export interface RefusedCallFilter {
  readonly environment: Environment;
  /** Any of these. */
  readonly codes?: readonly string[] | undefined;
  readonly partnerId?: number | undefined;
  readonly reason?: string | undefined;
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
  return rows.map((row) => ({ ...row, code: row.code ?? undefined }));
}

/** Counts refused calls since a time, by their reasons, most first. */
export async function countRefusedCalls(
  db: Db,
  filter: RefusedCallFilter,
  since: Instant,
): Promise<{ readonly reason: string; readonly count: number }[]> {
  const rows = await filtered(db, filter)
    .where("at", ">=", since)
    .select((eb) => ["reason", eb.fn.countAll().as("count")])
    .groupBy("reason")
    .orderBy("count", "desc")
    .orderBy("reason")
    .execute();
  return rows.map(({ reason, count }) => ({ reason, count: Number(count) }));
}

function filtered(db: Db, { environment, codes, partnerId, reason }: RefusedCallFilter) {
  let query = db.selectFrom("refusedCall").where("environment", "=", environment);
  if (codes !== undefined) query = query.where("code", "in", codes);
  if (partnerId !== undefined) query = query.where("partnerId", "=", partnerId);
  if (reason !== undefined) query = query.where("reason", "=", reason);
  return query;
}
