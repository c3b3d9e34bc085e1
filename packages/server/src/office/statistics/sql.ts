import { sql } from "kysely";
import { NO_SALES, type SaleSums } from "../../domain/account.ts";
import type { Environment } from "../../domain/customer.ts";
import type { Instant } from "../../domain/wall-time.ts";
import type { Db } from "../../store/engine.ts";
import { digits } from "../../store/sales.ts";
import { inRange, rangeOf, topUps } from "../../store/top-up-ranges.ts";

/** All sales of an environment, or those of one partner. */
export interface Whose {
  readonly environment: Environment;
  /** Undefined for all partners. */
  readonly partnerId: number | undefined;
}

/** Top-ups of a minute of the provider's clock (`2026-11-20 14:31`). A list may have several sums of a minute. */
export interface MinuteSales extends SaleSums {
  readonly minute: string;
}

/** Adds up the top-ups recorded from `from` to before `until`, at most a day, which fits into 64 bits. */
export async function sumMinutes(db: Db, whose: Whose, from: Instant, until: Instant): Promise<MinuteSales[]> {
  const { environment, partnerId } = whose;
  let query = inRange(topUps(db), rangeOf(from, until)).where("t.environment", "=", environment);
  if (partnerId !== undefined) query = query.where("t.partnerId", "=", partnerId);
  const minute = sql<string>`substr(t.txn_date, 1, 16)`;
  const rows = await query
    .select((eb) => [minute.as("minute"), eb.fn.countAll().as("topUps"), digits("t.amount").as("gross")])
    .groupBy(minute)
    .execute();
  return rows.map(({ minute, topUps, gross }) => {
    return { ...NO_SALES, minute, topUps: Number(topUps), gross: BigInt(gross ?? 0) };
  });
}

/** Adds up the reversals of a day before a minute of it. @param start of the day, by which a partner's reversals are found. */
export async function sumReversals(db: Db, whose: Whose, minute: string, start: Instant): Promise<SaleSums> {
  const { environment, partnerId } = whose;
  let query = db
    .selectFrom("reversal as r")
    .innerJoin("topUp as t", "t.txnId", "r.txnId")
    .where("r.wall", ">=", minute.slice(0, 10))
    .where("r.wall", "<", minute)
    .where("r.at", ">=", start)
    .where("r.environment", "=", environment);
  if (partnerId !== undefined) query = query.where("r.partnerId", "=", partnerId);
  const { reversals, reversed } = await query
    .select((eb) => [eb.fn.countAll().as("reversals"), digits("t.amount").as("reversed")])
    .executeTakeFirstOrThrow();
  return { ...NO_SALES, reversals: Number(reversals), reversed: BigInt(reversed ?? 0) };
}
