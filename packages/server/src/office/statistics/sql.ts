import { sql } from "kysely";
import type { Service } from "../../domain/bouquet.ts";
import type { Environment } from "../../domain/customer.ts";
import type { Money } from "../../domain/money.ts";
import type { Instant } from "../../domain/wall-time.ts";
import type { Db } from "../office.ts";
import { inRange, rangeOf, stepsOf, topUps } from "../transactions/sql.ts";

/** The top-ups of one bouquet by one partner in an hour of the provider's clock. */
export interface HourSum {
  readonly environment: Environment;
  /** Such as `2026-11-20 14`. An hour may be in several parts. */
  readonly hour: string;
  readonly partnerId: number;
  readonly service: Service;
  readonly bouquetCode: string;
  readonly count: number;
  readonly amount: Money;
}

/** The reversals of one partner's top-ups on a day, whenever these were recorded. */
export interface ReversedDay {
  readonly environment: Environment;
  readonly day: string;
  readonly partnerId: number;
  readonly count: number;
  readonly amount: Money;
}

/** Adds up the top-ups that were recorded from one time to before another, reversed or not, in small steps. */
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

/** Adds up the reversals that were made on a day or later. @param from such as `2026-11-20`. */
export async function sumReversedDays(db: Db, from: string): Promise<ReversedDay[]> {
  const rows = await db
    .selectFrom("reversal as r")
    .innerJoin("topUp as t", "t.txnId", "r.txnId")
    .where("r.wall", ">=", from)
    .select(["t.environment", "t.partnerId"])
    .select((eb) => [DAY.as("day"), eb.fn.countAll().as("count"), AMOUNT.as("amount")])
    .groupBy(["t.environment", "t.partnerId", DAY])
    .execute();
  return rows.map((row) => ({ ...row, ...read(row) }));
}

const HOUR = sql<string>`substr(t.txn_date, 1, 13)`;
const DAY = sql<string>`substr(r.wall, 1, 10)`;
/** A text: it may be more than a number holds exactly. */
const AMOUNT = sql<string>`cast(sum(t.amount) as text)`;

function read({ count, amount }: { readonly count: number | string | bigint; readonly amount: string }) {
  return { count: Number(count), amount: BigInt(amount) };
}
