import { addSums, NO_SALES, type SaleSums } from "../../domain/account.ts";
import type { Service } from "../../domain/bouquet.ts";
import { dayAfter, type Instant, plus, readDay, type WallTime } from "../../domain/wall-time.ts";
import type { Db } from "../../store/engine.ts";
import type { Ports } from "../../store/ports.ts";
import { readSalesBy } from "../../store/sales.ts";
import { countRefusedCalls } from "../customers/refused-call-rows.ts";
import { type MinuteSales, sumMinutes, sumReversals, type Whose } from "./sql.ts";

/** The longest period, in days. Today is one of them. */
export const MOST_DAYS = 90;
const WEEK = 7;
/** Minutes are kept in steps of this length, and only when they are as old as one: younger top-ups may wait for a commit. */
const STEP_MS = 10 * 60_000;
const SHARED_MS = 3_000;
const FAILURES_SHARED_MS = 60_000;

export interface StatisticsRequest extends Whose {
  /** Length of the period in days of the provider's clock, with today: 1 to {@link MOST_DAYS}. */
  readonly days: number;
}

/** Sums of a period that ends now. Those of hours and of a week ago are without commissions. */
export interface Statistics {
  readonly until: Instant;
  /** The 24 hours of today, from midnight. Together they are the top-ups of today. */
  readonly hours: readonly SaleSums[];
  /** Days of the period, oldest first. */
  readonly days: readonly ({ readonly day: string } & SaleSums)[];
  /** The same sums before this minute of the day one week ago. */
  readonly weekAgo: Record<"today" | "yesterday" | "period", SaleSums>;
  readonly byPartner: readonly ({ readonly partnerId: number } & SaleSums)[];
  readonly byBouquet: readonly ({ readonly service: Service; readonly bouquetCode: string } & SaleSums)[];
}

type Failures = readonly { readonly reason: string; readonly count: number }[];

/** Minutes of a day up to an instant. */
interface Kept {
  readonly until: Instant;
  readonly minutes: readonly MinuteSales[];
}

/** Sums of sales for charts. Days are stored sums; their hours are read from top-ups once. */
export class StatisticsReader {
  readonly #ports: Pick<Ports, "store" | "clock">;
  readonly #answers: Shared<Statistics>;
  readonly #failures: Shared<Failures>;
  readonly #kept = new Map<string, Kept>();

  constructor(ports: Pick<Ports, "store" | "clock">) {
    this.#ports = ports;
    this.#answers = new Shared(ports.clock, SHARED_MS);
    this.#failures = new Shared(ports.clock, FAILURES_SHARED_MS);
  }

  answer(request: StatisticsRequest): Promise<Statistics> {
    // One view, so that hours add up to the sum of their day.
    const read = (at: Instant) => this.#ports.store.reports.view((db) => this.#read(db, request, at));
    return this.#answers.read(JSON.stringify(request), read);
  }

  /** Refused calls of the period by reason, most first. They are kept for 30 days. */
  failures({ days, ...whose }: StatisticsRequest): Promise<Failures> {
    const { reports, provider } = this.#ports.store;
    return this.#failures.read(JSON.stringify({ ...whose, days }), async (at) => {
      const [first = ""] = daysUntil(provider.zone.wallTime(at), days);
      return countRefusedCalls(reports.db, { ...whose, from: readDay(first, provider.zone)?.start });
    });
  }

  async #read(db: Db, { days: length, ...whose }: StatisticsRequest, at: Instant): Promise<Statistics> {
    const { zone } = this.#ports.store.provider;
    const wall = zone.wallTime(at);
    // Yesterday is told as of a week ago even if it is not in the period.
    const known = daysUntil(wall, Math.max(length, 2) + WEEK);
    const days = known.slice(-length);
    const [from = "", to = ""] = [days[0], days.at(-1)];
    const sales = await readSalesBy(db, { ...whose, from: known[0], to }, ["day", "partnerId"]);
    const bouquets = await readSalesBy(db, { ...whose, from, to }, ["day", "service", "bouquetCode"]);
    const byDay = sumBy(sales, ({ day }) => day);
    const soldOn = (day: string) => byDay.get(day) ?? NO_SALES;
    const minute = plus(wall, { months: 0, days: -WEEK }).slice(0, 16);
    const thatDay = minute.slice(0, 10);
    for (const key of this.#kept.keys()) if (![to, thatDay].some((day) => key.endsWith(day))) this.#kept.delete(key);
    const minutesOf = (day: string) => this.#minutesOf(db, whose, day, soldOn(day), at);
    const byHour = sumBy(await minutesOf(to), (sum) => Number(sum.minute.slice(11, 13)));
    const before = (await minutesOf(thatDay)).filter((sum) => sum.minute < minute);
    const reversals = await sumReversals(db, whose, minute, readDay(thatDay, zone)?.start ?? at);
    const weekAgo = [...before, reversals];
    const wholeDays = known.slice(-length - WEEK, -1 - WEEK);
    const period = sales.filter(({ day, topUps }) => day >= from && topUps > 0);
    const sold = bouquets.filter(({ topUps }) => topUps > 0);
    return {
      until: at,
      hours: Array.from({ length: 24 }, (_, hour) => byHour.get(hour) ?? NO_SALES),
      days: days.map((day) => ({ ...soldOn(day), day })),
      weekAgo: {
        today: sumOf(weekAgo),
        yesterday: soldOn(known.at(-2 - WEEK) as string),
        period: sumOf([...wholeDays.map(soldOn), ...weekAgo]),
      },
      byPartner: [...sumBy(period, ({ partnerId }) => partnerId).values()],
      byBouquet: [...sumBy(sold, ({ service, bouquetCode }) => `${service} ${bouquetCode}`).values()],
    };
  }

  /** The top-ups of a day by minute. @param sold the stored sums of the day, from the same view. */
  async #minutesOf(db: Db, whose: Whose, day: string, sold: SaleSums, at: Instant): Promise<readonly MinuteSales[]> {
    const { start, end } = readDay(day, this.#ports.store.provider.zone) ?? { start: at, end: at };
    const key = `${whose.environment} ${whose.partnerId ?? "all"} ${day}`;
    const kept = this.#kept.get(key);
    const known = kept ?? { until: start, minutes: [] };
    const read = async (since: Instant, until: Instant) => (since < until ? sumMinutes(db, whose, since, until) : []);
    const until = Math.min(end, Math.max(known.until, at - (at % STEP_MS) - STEP_MS));
    const closed = { until, minutes: [...known.minutes, ...(await read(known.until, until))] };
    const minutes = [...closed.minutes, ...(await read(until, end))];
    if (sumOf(minutes).topUps === sold.topUps) this.#kept.set(key, closed);
    else {
      // A clock was ahead, or a commit took long: the kept minutes lack top-ups. The second time there are none.
      this.#kept.delete(key);
      if (kept !== undefined) return this.#minutesOf(db, whose, day, sold, at);
    }
    return minutes;
  }
}

/** Answers that all who ask the same share for some time. */
class Shared<Answer> {
  readonly #clock: () => Instant;
  readonly #ms: number;
  readonly #known = new Map<string, { readonly at: Instant; readonly answer: Promise<Answer> }>();

  constructor(clock: () => Instant, ms: number) {
    this.#clock = clock;
    this.#ms = ms;
  }

  async read(key: string, read: (at: Instant) => Promise<Answer>): Promise<Answer> {
    const now = this.#clock();
    for (const [old, { at }] of this.#known) if (Math.abs(now - at) >= this.#ms) this.#known.delete(old);
    const known = this.#known.get(key) ?? { at: now, answer: read(now) };
    this.#known.set(key, known);
    try {
      return await known.answer;
    } catch (error) {
      // The next caller tries again.
      this.#known.delete(key);
      throw error;
    }
  }
}

/** The last days up to that of a wall time, oldest first. */
function daysUntil(wall: WallTime, length: number): string[] {
  const days = [plus(wall, { months: 0, days: 1 - length }).slice(0, 10)];
  while (days.length < length) days.push(dayAfter(days.at(-1) as string));
  return days;
}

export function sumOf(parts: readonly SaleSums[]): SaleSums {
  return parts.reduce<SaleSums>(addSums, NO_SALES);
}

/** Sums of the parts with the same key, each with the labels of its first part. */
export function sumBy<Part extends SaleSums, Key>(parts: readonly Part[], keyOf: (part: Part) => Key): Map<Key, Part> {
  const sums = new Map<Key, Part>();
  for (const part of parts) {
    const known = sums.get(keyOf(part));
    sums.set(keyOf(part), known === undefined ? part : { ...known, ...addSums(known, part) });
  }
  return sums;
}
