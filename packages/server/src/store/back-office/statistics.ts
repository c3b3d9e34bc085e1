import { sql } from "kysely";
import type { Engine } from "../engine.ts";
import type { HourSum, StatisticsSource } from "../statistics.ts";
import { inRange, rangeOf, stepsOf, topUps } from "./transactions.ts";

export function statisticsOf({ db }: Engine): StatisticsSource {
  return {
    async sumHours(from, until) {
      const sums: HourSum[] = [];
      for await (const step of stepsOf(db, rangeOf(from, until))) {
        const rows = await inRange(topUps(db), step)
          .select(["t.environment", "t.partner_id", "t.service", "t.bouquet_code"])
          .select((eb) => [HOUR.as("hour"), eb.fn.countAll().as("count"), AMOUNT.as("amount")])
          .groupBy(["t.environment", "t.partner_id", "t.service", "t.bouquet_code", HOUR])
          .execute();
        for (const { environment, partner_id: partnerId, service, bouquet_code: bouquetCode, hour, ...sum } of rows)
          sums.push({ environment, hour, partnerId, service, bouquetCode, ...read(sum) });
      }
      return sums;
    },

    async sumReversedDays(from) {
      const rows = await db
        .selectFrom("reversal as r")
        .innerJoin("top_up as t", "t.txn_id", "r.txn_id")
        .where("r.wall", ">=", from)
        .select(["t.environment", "t.partner_id"])
        .select((eb) => [DAY.as("day"), eb.fn.countAll().as("count"), AMOUNT.as("amount")])
        .groupBy(["t.environment", "t.partner_id", DAY])
        .execute();
      return rows.map(({ environment, day, partner_id: partnerId, ...sum }) => {
        return { environment, day, partnerId, ...read(sum) };
      });
    },
  };
}

const HOUR = sql<string>`substr(t.txn_date, 1, 13)`;
const DAY = sql<string>`substr(r.wall, 1, 10)`;
/** A text: it may be more than a number holds exactly. */
const AMOUNT = sql<string>`cast(sum(t.amount) as text)`;

function read({ count, amount }: { readonly count: number | string | bigint; readonly amount: string }) {
  return { count: Number(count), amount: BigInt(amount) };
}
