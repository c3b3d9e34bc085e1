import { sql } from "kysely";
import type { Service } from "../../domain/bouquet.ts";
import type { Environment } from "../../domain/customer.ts";
import type { Money } from "../../domain/money.ts";
import { type Instant, LAST_WALL_TIME, type WallTime } from "../../domain/wall-time.ts";
import type { Db } from "../../store/engine.ts";
import { inRange, rangeOf, stepsOf, topUps } from "../../store/top-up-ranges.ts";

/** The top-ups of one bouquet by one partner in an hour of the provider's clock. */
export interface HourSum {
  readonly environment: Environment;
  /** The hour (`2026-11-20 14`). There may be several sums of an hour. */
  readonly hour: string;
  readonly partnerId: number;
  readonly service: Service;
  readonly bouquetCode: string;
  readonly count: number;
  readonly amount: Money;
}

/** Reversals of a day, of one partner's top-ups of any time. */
export interface ReversedDay {
  readonly environment: Environment;
  readonly day: string;
  readonly partnerId: number;
  readonly count: number;
  readonly amount: Money;
}

/** Adds up the top-ups recorded from `from` to before `until`, reversed or not, in small steps. */
export async function sumHours(db: Db, from: Instant, until: Instant | undefined): Promise<HourSum[]> {
  const sums: HourSum[] = [];
  for await (const step of stepsOf(db, rangeOf(from, until))) {
    const rows = await inRange(topUps(db), step)
      .select(["t.environment", "t.partnerId", "t.service", "t.bouquetCode"])
      .select((eb) => [HOUR.as("hour"), eb.fn.countAll().as("count"), AMOUNT.as("amount")])
      .groupBy(["t.environment", "t.partnerId", "t.service", "t.bouquetCode", HOUR])
      .execute();
    for (const row of rows) sums.push({ ...row, ...read(row) });
  }
  return sums;
}

/** Adds up the reversals from a day (such as `2026-11-20`) until before a wall time, or until now. */
export async function sumReversedDays(db: Db, from: string, until: WallTime = LAST_WALL_TIME): Promise<ReversedDay[]> {
  const rows = await db
    .selectFrom("reversal as r")
    .innerJoin("topUp as t", "t.txnId", "r.txnId")
    .where("r.wall", ">=", from)
    .where("r.wall", "<", until)
    .select(["t.environment", "t.partnerId"])
    .select((eb) => [DAY.as("day"), eb.fn.countAll().as("count"), AMOUNT.as("amount")])
    .groupBy(["t.environment", "t.partnerId", DAY])
    .execute();
  return rows.map((row) => ({ ...row, ...read(row) }));
}

const HOUR = sql<string>`substr(t.txn_date, 1, 13)`;
const DAY = sql<string>`substr(r.wall, 1, 10)`;
/** Digits, since a number may be too small to hold the sum exactly. */
const AMOUNT = sql<string>`cast(sum(t.amount) as text)`;

function read({ count, amount }: { readonly count: number | string | bigint; readonly amount: string }) {
  return { count: Number(count), amount: BigInt(amount) };
}
