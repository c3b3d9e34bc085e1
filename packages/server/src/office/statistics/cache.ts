import type { Service } from "../../domain/bouquet.ts";
import type { Environment } from "../../domain/customer.ts";
import type { Money } from "../../domain/money.ts";
import { RECORDING_DEADLINE_MS } from "../../domain/top-up.ts";
import { DAY_MS, dayAfter, type Instant } from "../../domain/wall-time.ts";
import type { Ports } from "../../store/ports.ts";
import { countRefusedCalls } from "../customers/refused-calls.ts";
import * as sql from "./sql.ts";

/** Today's included. */
const DAYS = 30;
/** Top-ups are summed up once and for all in spans of this length, when nothing can be added to them any more. */
const SPAN_MS = 10 * 60_000;
/** A top-up is on record so long after its decision, by clocks that may differ by some seconds. */
const CLOSED_AFTER_MS = RECORDING_DEADLINE_MS + 10_000;
/** What is not closed yet is looked at again after so long; so are reversals. */
const FRESH_MS = 3_000;
const FAILURES_FRESH_MS = 60_000;
/** More of what is not closed is not waited for: it is gathered in the background. */
const MOST_OPEN_MS = 60 * 60_000;

/** What some top-ups come to. */
export interface Sum {
  readonly count: number;
  readonly amount: Money;
}

export const NO_SUM: Sum = { count: 0, amount: 0n };

export interface StatisticsRequest {
  readonly environment: Environment;
  /** Undefined for all partners. */
  readonly partnerId: number | undefined;
}

/** Sums of the last 30 days of the provider's clock. */
export interface Statistics {
  /** Up to when they count. */
  readonly until: Instant;
  /** False while what was before the start is still being gathered. */
  readonly isComplete: boolean;
  /** Today's 24, from midnight on. */
  readonly hours: readonly Sum[];
  /** Oldest first, today last. */
  readonly days: readonly { readonly day: string; readonly topUps: Sum; readonly reversals: Sum }[];
  readonly byService: ReadonlyMap<Service, Sum>;
  readonly byPartner: ReadonlyMap<number, Sum>;
  readonly byBouquet: readonly (Sum & { readonly service: Service; readonly bouquetCode: string })[];
}

type Failures = readonly { readonly reason: string; readonly count: number }[];

/** What is not in memory for good. */
interface Open {
  readonly at: Instant;
  /** From when on. */
  readonly from: Instant;
  readonly hours: readonly sql.HourSum[];
  readonly reversed: readonly sql.ReversedDay[];
}

/**
 * Answers charts without a question about each top-up: what cannot change any more is read once, in short steps, and its
 * sums are kept in memory, so that top-ups pay nothing for it.
 */
export class StatisticsCache {
  readonly #ports: Pick<Ports, "store" | "clock">;
  /** Sums of what is closed, by the day and what it is of. */
  readonly #days = new Map<string, Map<string, sql.HourSum>>();
  /** The same by the hour, of the last days. */
  readonly #hours = new Map<string, Map<string, sql.HourSum>>();
  /** Closed and in memory is what was recorded from then on, and before the other. */
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

  /** Reads what is closed and not in memory yet. Resolves once all is; it is asked for beside every answer. */
  gather(): Promise<void> {
    this.#gathering ??= this.#gather().finally(() => {
      this.#gathering = undefined;
    });
    return this.#gathering;
  }

  async answer({ environment, partnerId }: StatisticsRequest): Promise<Statistics> {
    // Whoever asks again hears of what failed then, and it is tried again.
    void this.gather().catch(() => {});
    const open = await this.#readOpen();
    const { zone } = this.#ports.store.provider;
    const days = lastDays(zone.wallTime(open.at).slice(0, 10));
    const today = days.at(-1) as string;
    const isAsked = (sum: { readonly environment: Environment; readonly partnerId: number }) =>
      sum.environment === environment && (partnerId === undefined || sum.partnerId === partnerId);
    const closed = days.flatMap((day) => [...(this.#days.get(day)?.values() ?? [])]).filter(isAsked);
    const opened = open.hours.filter((sum) => isAsked(sum) && dayOf(sum) >= (days[0] as string));
    const all = [...closed, ...opened];
    const ofToday = [...this.#hours.values()].flatMap((sums) => [...sums.values()].filter(isAsked)).concat(opened);
    const byHour = sumBy(ofToday, ({ hour }) => hour);
    const [byDay, reversed] = [sumBy(all, dayOf), sumBy(open.reversed.filter(isAsked), ({ day }) => day)];
    const byBouquet = new Map(all.map((sum) => [bouquetOf(sum), sum]));
    const bouquetSums = sumBy(all, bouquetOf);
    return {
      until: open.at,
      isComplete: this.#isComplete(open.at),
      hours: Array.from({ length: 24 }, (_, hour) => byHour.get(`${today} ${String(hour).padStart(2, "0")}`) ?? NO_SUM),
      days: days.map((day) => ({ day, topUps: byDay.get(day) ?? NO_SUM, reversals: reversed.get(day) ?? NO_SUM })),
      byService: sumBy(all, ({ service }) => service),
      byPartner: sumBy(all, (sum) => sum.partnerId),
      byBouquet: [...byBouquet].map(([key, { service, bouquetCode }]) => {
        return { service, bouquetCode, ...(bouquetSums.get(key) ?? NO_SUM) };
      }),
    };
  }

  /** Refused calls of the last 30 days, by their reasons, most first. They are counted again after a minute. */
  async failures({ environment, partnerId }: StatisticsRequest): Promise<Failures> {
    const now = this.#ports.clock();
    for (const [key, { at }] of this.#failures) if (at < now - FAILURES_FRESH_MS) this.#failures.delete(key);
    const key = `${environment} ${partnerId ?? ""}`;
    const known = this.#failures.get(key);
    if (known !== undefined) return known.counts;
    const { db } = this.#ports.store.engine;
    const counts = await countRefusedCalls(db, { environment, partnerId }, now - DAYS * DAY_MS);
    this.#failures.set(key, { at: now, counts });
    return counts;
  }

  async #gather(): Promise<void> {
    const { store, clock } = this.#ports;
    const { engine } = store;
    const closed = this.#closed();
    // A commit may wait for a standby, long after what it records was decided.
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
    const today = store.provider.zone.wallTime(clock()).slice(0, 10);
    const [oldest, yesterday] = [lastDays(today)[0] as string, lastDays(today).at(-2) as string];
    for (const day of this.#days.keys()) if (day < oldest) this.#days.delete(day);
    for (const hour of this.#hours.keys()) if (hour < yesterday) this.#hours.delete(hour);
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

  /** One question for all who ask at the same time. Read again where something was closed meanwhile: it would count twice. */
  async #readOpen(): Promise<Open> {
    for (;;) {
      const known = await this.#open?.catch(() => undefined);
      const isFresh = known !== undefined && this.#ports.clock() - known.at < FRESH_MS;
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
    const oldest = lastDays(store.provider.zone.wallTime(at).slice(0, 10))[0] as string;
    const hours = await this.#sumHours(store.engine.db, from, undefined);
    return { at, from, hours, reversed: await sql.sumReversedDays(store.engine.db, oldest) };
  }

  #openFrom(at: Instant): Instant {
    return Math.max(this.#until, at - (at % SPAN_MS) - MOST_OPEN_MS);
  }

  #isComplete(at: Instant): boolean {
    return this.#from <= this.#firstAt(at) && this.#openFrom(at) === this.#until;
  }

  /** What was recorded before will not change any more. */
  #closed(): Instant {
    const at = this.#ports.clock() - CLOSED_AFTER_MS;
    return at - (at % SPAN_MS);
  }

  /** Before the first of the days, whatever the zone. */
  #firstAt(now: Instant): Instant {
    const first = now - (DAYS + 1) * DAY_MS;
    return first - (first % DAY_MS);
  }
}

/** Those that the charts show, oldest first. */
function lastDays(today: string): string[] {
  const first = new Date(Date.parse(`${today}T00:00:00Z`) - (DAYS - 1) * DAY_MS).toISOString().slice(0, 10);
  const days = [first];
  while (days.length < DAYS) days.push(dayAfter(days.at(-1) as string));
  return days;
}

function dayOf({ hour }: sql.HourSum): string {
  return hour.slice(0, 10);
}

function bouquetOf({ service, bouquetCode }: sql.HourSum): string {
  return `${service} ${bouquetCode}`;
}

function sumBy<Part extends Sum, Key>(parts: readonly Part[], keyOf: (part: Part) => Key): Map<Key, Sum> {
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
