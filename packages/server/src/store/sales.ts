import { type RawBuilder, sql } from "kysely";
import { type AccountKey, addSums, NO_SALES, type SaleSums } from "../domain/account.ts";
import type { DaySales } from "../domain/settlement.ts";
import type { Transaction } from "../domain/transaction.ts";
import type { WallTime } from "../domain/wall-time.ts";
import type { Db } from "./engine.ts";
import { namesOf } from "./table.ts";
import { columnsOf, type SaleRow, TABLES, type Tables } from "./tables.ts";
import { inRange, rangeOf, stepsOf, topUps } from "./top-up-ranges.ts";

/*
 * Sums of top-ups and reversals (sales_day). They change in the transaction that records a top-up or reverses it, so every
 * balance, statement and settlement is the sum of a few rows.
 */

/** The day, account, service, bouquet, price and day of sale of a row. */
type SaleLabel = Omit<DaySales, keyof SaleSums>;
type StoredLabel = Pick<Tables["salesDay"], keyof SaleLabel>;

/** @param wall the time of the top-up, or of its reversal. */
function labelOf(topUp: Transaction, wall: WallTime): SaleLabel {
  const { partnerId, environment, service, bouquetCode, amount, txnDate } = topUp;
  return { partnerId, environment, day: dayOf(wall), service, bouquetCode, amount, soldOn: dayOf(txnDate) };
}

function dayOf(wall: WallTime): string {
  return wall.slice(0, "YYYY-MM-DD".length);
}

/** A top-up counts on the day of its txnDate. */
function recordedSums({ amount, commission }: Transaction): SaleSums {
  return { topUps: 1, gross: amount, commission, reversals: 0, reversed: 0n, returned: 0n };
}

/** The sums of the top-ups that a batch records. Each row of sales_day is changed once. */
export class BatchSales {
  readonly #sums = new Map<string, { readonly label: SaleLabel; sums: SaleSums }>();

  add(topUp: Transaction): void {
    const label = labelOf(topUp, topUp.txnDate);
    const name = saleName(label);
    const sold = recordedSums(topUp);
    const known = this.#sums.get(name);
    if (known === undefined) this.#sums.set(name, { label, sums: sold });
    else known.sums = addSums(known.sums, sold);
  }

  /** Rows in the order of their keys, in which they are locked. */
  get rows(): SaleRow[] {
    return [...this.#sums].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, { label, sums }]) => rowOf(label, sums));
  }
}

function rowOf(label: SaleLabel, sums: SaleSums): SaleRow {
  return {
    partner_id: label.partnerId,
    environment: label.environment,
    day: label.day,
    service: label.service,
    bouquet_code: label.bouquetCode,
    amount: Number(label.amount),
    sold_on: label.soldOn,
    top_ups: sums.topUps,
    commission: Number(sums.commission),
    reversals: sums.reversals,
    returned: Number(sums.returned),
  };
}

const { key: KEY } = TABLES.sales_day;
const SUMS = columnsOf("sales_day").filter((column) => !(KEY as readonly string[]).includes(column));

/** The statement that adds rows. @param lane SQL of the lane. @param rows SQL that gives the other columns, in their order. */
export function addSalesSql(lane: string, rows: string): string {
  const added = SUMS.map((column) => `${column} = sales_day.${column} + excluded.${column}`).join(", ");
  return `INSERT INTO sales_day (lane, ${SOLD.join(", ")}) SELECT ${lane}, ${rows}
    ON CONFLICT (${KEY.join(", ")}) DO UPDATE SET ${added}`;
}

/** The columns of an added row. */
export const SOLD = namesOf(TABLES.sales_day.columns).filter((column) => column !== "lane");

/** Sums for a reversal, to be added in its transaction. It counts on its own day. */
export function reversalRows(topUp: Transaction, wall: WallTime): SaleRow[] {
  const { amount: reversed, commission: returned } = topUp;
  return [rowOf(labelOf(topUp, wall), { ...NO_SALES, reversals: 1, reversed, returned })];
}

/** Days such as `2026-11-20`, both included; undefined for no bound. */
export interface Days {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** Sums all sales of a filter. */
export async function sumSales(db: Db, filter: SalesFilter): Promise<SaleSums> {
  // The database adds up days only: more than that may not fit into 64 bits.
  return (await sumDays(db, filter).groupBy("day").execute()).map(toSums).reduce<SaleSums>(addSums, NO_SALES);
}

export interface SalesFilter extends Days {
  readonly environment?: AccountKey["environment"] | undefined;
  readonly partnerId?: number | undefined;
  readonly service?: DaySales["service"] | undefined;
  readonly bouquetCode?: string | undefined;
}

/** The sales of each day, account, service, bouquet, price and day of sale. */
export async function readSales(db: Db, filter: SalesFilter): Promise<DaySales[]> {
  const rows = await readSalesBy(db, filter, [...LABEL, "amount"]);
  return rows.map((row) => ({ ...row, amount: BigInt(row.amount) }));
}

/** @param by the day, and others that are not summed up. */
export async function readSalesBy<By extends keyof SaleLabel>(
  db: Db,
  filter: SalesFilter,
  by: readonly By[],
): Promise<(Pick<StoredLabel, By> & SaleSums)[]> {
  const label: readonly (keyof SaleLabel)[] = by;
  const rows = await sumDays(db, filter).select(label).groupBy(label).execute();
  return rows.map((row) => ({ ...row, ...toSums(row) }));
}

const LABEL = ["partnerId", "environment", "day", "service", "bouquetCode", "soldOn"] as const;
const total = (of: RawBuilder<unknown>) => sql<string | null>`cast(sum(${of}) as text)`;
/** Digits, since a number may be too small to hold a sum exactly. */
export const digits = (column: string) => total(sql.ref(column));
const price = (count: "topUps" | "reversals") => total(sql`${sql.ref(count)} * ${sql.ref("amount")}`);

function sumDays(db: Db, filter: SalesFilter) {
  const { from, to } = filter;
  let query = db.selectFrom("salesDay");
  for (const column of ["environment", "partnerId", "service", "bouquetCode"] as const)
    if (filter[column] !== undefined) query = query.where(column, "=", filter[column]);
  if (from !== undefined) query = query.where("day", ">=", from);
  if (to !== undefined) query = query.where("day", "<=", to);
  const counted = ["topUps", "commission", "reversals", "returned"] as const;
  return query
    .select(counted.map((name) => digits(name).as(name)))
    .select([price("topUps").as("gross"), price("reversals").as("reversed")]);
}

function toSums(row: { readonly [Name in keyof SaleSums]: string | null }): SaleSums {
  return {
    topUps: Number(row.topUps),
    gross: BigInt(row.gross ?? 0),
    commission: BigInt(row.commission ?? 0),
    reversals: Number(row.reversals),
    reversed: BigInt(row.reversed ?? 0),
    returned: BigInt(row.returned ?? 0),
  };
}

/** The same sums from top-ups and reversals themselves, for a check. Reads in small steps. @param from undefined: all. */
export async function plainSales(db: Db, from: string | undefined): Promise<Map<string, DaySales>> {
  const sales = new Map<string, DaySales>();
  const add = (rows: readonly PlainSum[], sumsOf: (sum: PlainSum) => Partial<SaleSums>) => {
    for (const row of rows) {
      const { count: _, commission: __, ...of } = row;
      const label = { ...of, amount: BigInt(of.amount) };
      const known = sales.get(saleName(label)) ?? NO_SALES;
      if (from === undefined || of.day >= from)
        sales.set(saleName(label), { ...label, ...addSums(known, { ...NO_SALES, ...sumsOf(row) }) });
    }
  };
  const plain = (query: ReturnType<typeof topUps>, wall: "t.txnDate" | "r.wall") => {
    const day = sql<string>`substr(${sql.ref(wall)}, 1, 10)`;
    const soldOn = sql<string>`substr(t.txn_date, 1, 10)`;
    return query
      .select((eb) => [...OF_SALE, day.as("day"), soldOn.as("soldOn"), eb.fn.countAll().as("count")])
      .select(digits("t.commission").as("commission"))
      .groupBy([...OF_SALE, day, soldOn])
      .execute();
  };
  for await (const step of stepsOf(db, rangeOf(undefined, undefined)))
    add(await plain(inRange(topUps(db), step), "t.txnDate"), ({ count, amount, commission }) => {
      return { topUps: Number(count), gross: BigInt(count) * BigInt(amount), commission: BigInt(commission ?? 0) };
    });
  const reversed = topUps(db).innerJoin("reversal as r", "r.txnId", "t.txnId") as unknown as ReturnType<typeof topUps>;
  add(await plain(reversed, "r.wall"), ({ count, amount, commission }) => {
    return { reversals: Number(count), reversed: BigInt(count) * BigInt(amount), returned: BigInt(commission ?? 0) };
  });
  return sales;
}

const OF_SALE = ["t.partnerId", "t.environment", "t.service", "t.bouquetCode", "t.amount"] as const;

interface PlainSum extends StoredLabel {
  readonly count: string | number | bigint;
  readonly commission: string | null;
}

/** A unique name of what is summed up together. */
export function saleName({ partnerId, environment, day, service, bouquetCode, amount, soldOn }: SaleLabel) {
  return `${partnerId} ${environment} ${day} ${service} ${bouquetCode} ${amount} ${soldOn}`;
}
