import type { Money } from "../../domain/money.ts";
import { dayAfter, plus, type WallTime } from "../../domain/wall-time.ts";
import type { HourSum } from "./sql.ts";

/** Number and amount of some top-ups. */
export interface Sum {
  readonly count: number;
  readonly amount: Money;
}

export const NO_SUM: Sum = { count: 0, amount: 0n };

/** The last days up to that of a wall time, oldest first. */
export function daysUntil(wall: WallTime, length: number): string[] {
  const days = [plus(wall, { months: 0, days: 1 - length }).slice(0, 10)];
  while (days.length < length) days.push(dayAfter(days.at(-1) as string));
  return days;
}

export function dayOf({ hour }: HourSum): string {
  return hour.slice(0, 10);
}

export function bouquetOf({ service, bouquetCode }: HourSum): string {
  return `${service} ${bouquetCode}`;
}

export function sumOf(parts: readonly Sum[]): Sum {
  return sumBy(parts, () => "all").get("all") ?? NO_SUM;
}

export function sumBy<Part extends Sum, Key>(parts: readonly Part[], keyOf: (part: Part) => Key): Map<Key, Sum> {
  const sums = new Map<Key, { count: number; amount: Money }>();
  for (const part of parts) {
    const key = keyOf(part);
    const sum = sums.get(key);
    if (sum === undefined) sums.set(key, { count: part.count, amount: part.amount });
    else {
      sum.count += part.count;
      sum.amount += part.amount;
    }
  }
  return sums;
}
