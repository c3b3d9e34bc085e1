import type { Service } from "../../domain/bouquet.ts";
import type { Environment } from "../../domain/customer.ts";
import { RECORDING_DEADLINE_MS } from "../../domain/top-up.ts";
import { DAY_MS, type Instant, plus, readDay, type WallTime } from "../../domain/wall-time.ts";
import type { Ports } from "../../store/ports.ts";
import { countRefusedCalls } from "../customers/refused-call-rows.ts";
import * as sql from "./sql.ts";
import { bouquetOf, dayOf, daysUntil, NO_SUM, type Sum, sumBy, sumOf } from "./sums.ts";

/** The longest period, in days. Today is one of them. */
export const MOST_DAYS = 90;
const WEEK = 7;
/** Days in memory: each period is also counted as of a week ago. */
const KEPT_DAYS = MOST_DAYS + WEEK;
/** Length of a closed span: nothing can be added to it, so its top-ups are summed up only once. */
const SPAN_MS = 10 * 60_000;
/** Longest time from the decision of a top-up to its record, with some seconds for clocks that differ. */
const CLOSED_AFTER_MS = RECORDING_DEADLINE_MS + 10_000;
/** Age at which the sums of open spans and of reversals are read again. */
const FRESH_MS = 3_000;
const FAILURES_FRESH_MS = 60_000;
/** Longest open span that an answer waits for; longer ones are read in the background. */
const MOST_OPEN_MS = 60 * 60_000;

export interface StatisticsRequest {
  readonly environment: Environment;
  /** Undefined for all partners. */
  readonly partnerId: number | undefined;
  /** Length of the period in days of the provider's clock, with today: 1 to {@link MOST_DAYS}. */
  readonly days: number;
}

/** Sums of a period that ends now. */
export interface Statistics {
  /** Top-ups are counted up to this time. */
  readonly until: Instant;
  /** False while older top-ups are still being summed up. */
  readonly isComplete: boolean;
  /** The 24 hours of today, from midnight. */
  readonly hours: readonly Sum[];
  /** Days of the period, oldest first. */
  readonly days: readonly { readonly day: string; readonly topUps: Sum; readonly reversals: Sum }[];
  /** The same sums as of this time one week ago. */
  readonly weekAgo: Record<"today" | "yesterday" | "period" | "reversals", Sum>;
  readonly byService: ReadonlyMap<Service, Sum>;
  readonly byPartner: ReadonlyMap<number, Sum>;
  readonly byBouquet: readonly (Sum & { readonly service: Service; readonly bouquetCode: string })[];
}

type Failures = readonly { readonly reason: string; readonly count: number }[];

/** Sums of open spans, which are read again. */
interface Open {
  readonly at: Instant;
  /** Start of the open span. */
  readonly from: Instant;
  readonly hours: readonly sql.HourSum[];
  readonly reversed: readonly sql.ReversedDay[];
  readonly weekAgo: WeekAgo;
}

type IsAsked = (sum: { readonly environment: Environment; readonly partnerId: number }) => boolean;

/** Sums up to this time of the day, one week ago. */
interface WeekAgo {
  readonly wall: WallTime;
  /** Sums of the hour that had begun. */
  readonly hours: readonly sql.HourSum[];
  /** Reversals of the day that had begun. */
  readonly reversed: readonly sql.ReversedDay[];
}

/**
 * Sums of top-ups for charts. Spans that cannot change any more are read once, in short steps, and their sums stay in memory:
 * recording a top-up costs nothing more.
 */
export class StatisticsCache {
  readonly #ports: Pick<Ports, "store" | "clock">;
  /** Sums of closed spans, by day, partner and bouquet. */
  readonly #days = new Map<string, Map<string, sql.HourSum>>();
  /** Sums of closed spans of the last days, by hour. */
  readonly #hours = new Map<string, Map<string, sql.HourSum>>();
  /** Start and end of the closed spans in memory. */
  #from: Instant;
  #until: Instant;
  #gathering: Promise<void> | undefined;
  #open: Promise<Open> | undefined;
  readonly #failures = new Map<string, { readonly at: Instant; readonly counts: Failures }>();
  readonly #sumHours: typeof sql.sumHours;

  constructor(ports: Pick<Ports, "store" | "clock">, { sumHours }: Pick<typeof sql, "sumHours"> = sql) {
    this.#ports = ports;
    this.#sumHours = sumHours;
    this.#until = this.#closed();
    this.#from = this.#until;
  }

  /** Reads closed spans that are not in memory yet. Every answer calls it. */
  gather(): Promise<void> {
    this.#gathering ??= this.#gather().finally(() => {
      this.#gathering = undefined;
    });
    return this.#gathering;
  }

  async answer({ environment, partnerId, days: length }: StatisticsRequest): Promise<Statistics> {
    // After a failure, the next answer tries again.
    void this.gather().catch(() => {});
    const open = await this.#readOpen();
    const known = daysUntil(this.#ports.store.provider.zone.wallTime(open.at), length + WEEK);
    const days = known.slice(WEEK);
    const today = days.at(-1) as string;
    const isAsked: IsAsked = (sum) =>
      sum.environment === environment && (partnerId === undefined || sum.partnerId === partnerId);
    const opened = open.hours.filter((sum) => isAsked(sum) && dayOf(sum) >= (days[0] as string));
    const all = [...this.#ofDays(days).filter(isAsked), ...opened];
    const byHour = sumBy([...this.#ofHours(today).filter(isAsked), ...opened], ({ hour }) => hour);
    const reversals = open.reversed.filter(isAsked);
    const [byDay, reversed] = [sumBy(all, dayOf), sumBy(reversals, ({ day }) => day)];
    const byBouquet = new Map(all.map((sum) => [bouquetOf(sum), sum]));
    const bouquetSums = sumBy(all, bouquetOf);
    return {
      until: open.at,
      isComplete: this.#isComplete(open.at),
      hours: Array.from({ length: 24 }, (_, hour) => byHour.get(`${today} ${String(hour).padStart(2, "0")}`) ?? NO_SUM),
      days: days.map((day) => ({ day, topUps: byDay.get(day) ?? NO_SUM, reversals: reversed.get(day) ?? NO_SUM })),
      weekAgo: this.#sumWeekAgo(open, known.slice(0, length - 1), isAsked),
      byService: sumBy(all, ({ service }) => service),
      byPartner: sumBy(all, (sum) => sum.partnerId),
      byBouquet: [...byBouquet].map(([key, { service, bouquetCode }]) => {
        return { service, bouquetCode, ...(bouquetSums.get(key) ?? NO_SUM) };
      }),
    };
  }

  /** @param before the days of the period one week ago, without its last day. */
  #sumWeekAgo({ reversed, weekAgo }: Open, before: readonly string[], isAsked: IsAsked): Statistics["weekAgo"] {
    const { wall } = weekAgo;
    const thatDay = wall.slice(0, 10);
    const dayBefore = plus(wall, { months: 0, days: -1 }).slice(0, 10);
    const wholeHours = this.#ofHours(thatDay).filter(({ hour }) => hour < wall.slice(0, 13));
    const untilThen = [...wholeHours, ...weekAgo.hours];
    const wholeDays = new Set(before);
    const sum = (parts: readonly (Sum & Parameters<IsAsked>[0])[]) => sumOf(parts.filter(isAsked));
    return {
      today: sum(untilThen),
      yesterday: sum(this.#ofDays([dayBefore])),
      period: sum([...this.#ofDays(before), ...untilThen]),
      reversals: sum([...reversed.filter(({ day }) => wholeDays.has(day)), ...weekAgo.reversed]),
    };
  }

  /** Sums of closed spans on some days. */
  #ofDays(days: readonly string[]): sql.HourSum[] {
    return days.flatMap((day) => [...(this.#days.get(day)?.values() ?? [])]);
  }

  /** Sums of closed spans on a day, by hour. */
  #ofHours(day: string): sql.HourSum[] {
    return [...this.#hours].flatMap(([hour, sums]) => (hour.startsWith(day) ? [...sums.values()] : []));
  }

  /** Refused calls of the period by reason, most first. They are kept for 30 days, and counted again after a minute. */
  async failures({ environment, partnerId, days }: StatisticsRequest): Promise<Failures> {
    const { store, clock } = this.#ports;
    const now = clock();
    for (const [key, { at }] of this.#failures) if (Math.abs(now - at) > FAILURES_FRESH_MS) this.#failures.delete(key);
    const key = `${environment} ${partnerId ?? ""} ${days}`;
    const known = this.#failures.get(key);
    if (known !== undefined) return known.counts;
    const { zone } = store.provider;
    const [first = ""] = daysUntil(zone.wallTime(now), days);
    const from = readDay(first, zone)?.start;
    const counts = await countRefusedCalls(store.engine.db, { environment, partnerId, from });
    this.#failures.set(key, { at: now, counts });
    return counts;
  }

  async #gather(): Promise<void> {
    const { store, clock } = this.#ports;
    const { engine } = store;
    const closed = this.#closed();
    if (closed < this.#until) this.#forget(closed);
    // A commit may wait for a standby long after its top-ups were decided.
    if (closed > this.#until) await engine.awaitCommits();
    while (this.#until < closed) {
      const until = Math.min(closed, this.#until + DAY_MS);
      this.#keep(await this.#sumHours(engine.db, this.#until, until));
      this.#until = until;
    }
    for (const first = this.#firstAt(clock()); this.#from > first; ) {
      const from = Math.max(first, this.#from - DAY_MS);
      this.#keep(await this.#sumHours(engine.db, from, this.#from));
      this.#from = from;
    }
    const days = daysUntil(store.provider.zone.wallTime(clock()), KEPT_DAYS);
    const [oldest, withHours] = [days[0] as string, days.at(-2 - WEEK) as string];
    for (const day of this.#days.keys()) if (day < oldest) this.#days.delete(day);
    for (const hour of this.#hours.keys()) if (hour < withHours) this.#hours.delete(hour);
  }

  /** The clock was ahead: spans that it closed can still get top-ups. */
  #forget(closed: Instant): void {
    this.#days.clear();
    this.#hours.clear();
    this.#until = closed;
    this.#from = closed;
  }

  #keep(sums: readonly sql.HourSum[]): void {
    const add = (to: Map<string, Map<string, sql.HourSum>>, part: string, key: string, sum: sql.HourSum) => {
      const some = to.get(part) ?? new Map<string, sql.HourSum>();
      to.set(part, some);
      const before = some.get(key) ?? NO_SUM;
      some.set(key, { ...sum, count: before.count + sum.count, amount: before.amount + sum.amount });
    };
    for (const sum of sums) {
      const whose = `${sum.environment} ${sum.partnerId}`;
      add(this.#days, dayOf(sum), `${whose} ${bouquetOf(sum)}`, sum);
      add(this.#hours, sum.hour, whose, sum);
    }
  }

  /** Reads once for all callers at the same time. Reads again if a span was closed meanwhile, since it would count twice. */
  async #readOpen(): Promise<Open> {
    for (;;) {
      const known = await this.#open?.catch(() => undefined);
      const isFresh = known !== undefined && Math.abs(this.#ports.clock() - known.at) < FRESH_MS;
      if (isFresh && known.from === this.#openFrom(known.at)) return known;
      const next = this.#askOpen();
      this.#open = next;
      const open = await next;
      if (open.from === this.#openFrom(open.at)) return open;
    }
  }

  async #askOpen(): Promise<Open> {
    const { store, clock } = this.#ports;
    const at = clock();
    const from = this.#openFrom(at);
    const [oldest = ""] = daysUntil(store.provider.zone.wallTime(at), KEPT_DAYS);
    const { db } = store.engine;
    const hours = await this.#sumHours(db, from, undefined);
    return { at, from, hours, reversed: await sql.sumReversedDays(db, oldest), weekAgo: await this.#readWeekAgo(at) };
  }

  async #readWeekAgo(at: Instant): Promise<WeekAgo> {
    const { zone } = this.#ports.store.provider;
    const { db } = this.#ports.store.engine;
    const wall = plus(zone.wallTime(at), { months: 0, days: -WEEK });
    // Clocks skip some wall times once a year.
    const until = zone.instants(wall)[0] ?? at - WEEK * DAY_MS;
    const from = zone.instants(`${wall.slice(0, 13)}:00:00`)[0] ?? until;
    const hours = await this.#sumHours(db, from, until);
    return { wall, hours, reversed: await sql.sumReversedDays(db, wall.slice(0, 10), wall) };
  }

  #openFrom(at: Instant): Instant {
    return Math.max(this.#until, at - (at % SPAN_MS) - MOST_OPEN_MS);
  }

  #isComplete(at: Instant): boolean {
    return this.#from <= this.#firstAt(at) && this.#openFrom(at) === this.#until;
  }

  /** Time before which no top-up can be recorded any more. */
  #closed(): Instant {
    const at = this.#ports.clock() - CLOSED_AFTER_MS;
    return at - (at % SPAN_MS);
  }

  /** A time before the first day in any zone. */
  #firstAt(now: Instant): Instant {
    const first = now - (KEPT_DAYS + 1) * DAY_MS;
    return first - (first % DAY_MS);
  }
}
