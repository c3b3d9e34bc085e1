import {
  DAY_MS,
  dayAfter,
  LAST_WALL_TIME,
  type Period,
  plus,
  secondBefore,
  type WallTime,
  wallMsBetween,
} from "./wall-time.ts";

/** The bouquet that a subscription shows, as it was when bought or stated. */
export interface BouquetLabel {
  readonly code: string;
  readonly name: string;
  readonly addOn: boolean;
}

/** The subscription of one plan on one connection. Its end is always {@link endOf} its other fields. */
export interface Subscription extends Period {
  readonly plan: string;
  readonly bouquet: BouquetLabel;
  /** The `startdate` of listings. */
  readonly start: WallTime;
  /** Start of counting months and days, so that a subscription of the 31st stays on the 31st. */
  readonly anchor: WallTime;
  /** Whether the end is the last second of a day and stands for the midnight after it. */
  readonly isInclusive: boolean;
  readonly end: WallTime;
  /** Number of the entry that began this unbroken run. */
  readonly since: number;
  /** Days of goodwill of this run, included in the end. */
  readonly goodwillDays: number;
}

/** A subscription as the provider's records state it. */
export interface StatedSubscription {
  readonly plan: string;
  readonly bouquet: BouquetLabel;
  readonly start: WallTime;
  readonly end: WallTime;
  /** Unit of the bouquet's period. It counts the time between start and end. */
  readonly unit: "month" | "day";
}

/** Whether a subscription has not ended. One that begins later counts as running. */
export function isRunning<Run extends Pick<Subscription, "end">>(run: Run | undefined, now: WallTime): run is Run {
  return run !== undefined && run.end > now;
}

/**
 * Whether a subscription has begun. An end at a day's last second stands for the midnight after it, so a start counts from
 * the second before: a plan that follows there leaves no gap.
 */
export function hasBegun({ start }: Pick<Subscription, "start">, now: WallTime): boolean {
  return secondBefore(start) <= now;
}

/** Whether a subscription gives service: it has begun, and not ended. */
export function isServing(run: Pick<Subscription, "start" | "end">, now: WallTime): boolean {
  return hasBegun(run, now) && isRunning(run, now);
}

/** The start of the next base subscription if none gives service; undefined if one does, or none is to begin. */
export function serviceFrom(
  subscriptions: readonly Pick<Subscription, "start" | "end" | "bouquet">[],
  now: WallTime,
): WallTime | undefined {
  const bases = subscriptions.filter(({ bouquet }) => !bouquet.addOn);
  if (bases.some((base) => isServing(base, now))) return undefined;
  const coming = bases.filter((base) => !hasBegun(base, now));
  return coming.map(({ start }) => start).sort()[0];
}

/** Whether a change ends a running subscription. */
export function endsRunning(
  before: Pick<Subscription, "end"> | undefined,
  after: Pick<Subscription, "end"> | undefined,
  now: WallTime,
): boolean {
  return isRunning(before, now) && !isRunning(after, now);
}

export function newRun(plan: string, bouquet: BouquetLabel, from: WallTime, since: number): Subscription {
  const counted = { anchor: from, months: 0, days: 0, isInclusive: false, end: from };
  return { plan, bouquet, start: from, ...counted, since, goodwillDays: 0 };
}

/** The anchor plus all months, then all days (docs/ledger.md#how-time-is-added); less a second if it is inclusive. */
export function endOf(anchor: WallTime, period: Period, isInclusive: boolean): WallTime {
  const end = plus(anchor, period);
  return isInclusive ? secondBefore(end) : end;
}

export function lengthened(run: Subscription, { months, days }: Period, bouquet = run.bouquet): Subscription {
  return countedTo(run, { months: run.months + months, days: run.days + days }, bouquet);
}

export function shortened(run: Subscription, { months, days }: Period): Subscription {
  return countedTo(run, { months: run.months - months, days: run.days - days }, run.bouquet);
}

export function lengthenedByGoodwill(run: Subscription, days: number): Subscription {
  return { ...lengthened(run, { months: 0, days }), goodwillDays: run.goodwillDays + days };
}

function countedTo(run: Subscription, period: Period, bouquet: BouquetLabel): Subscription {
  const { plan, start, anchor, isInclusive, since, goodwillDays } = run;
  const { months, days } = period;
  const end = endOf(anchor, period, isInclusive);
  return { plan, bouquet, start, anchor, months, days, isInclusive, end, since, goodwillDays };
}

const DAYS_OF_A_MONTH = 30.44;

/**
 * Reads two dates of the records (docs/ledger.md#imports). Dates that are whole months or days apart are counted from the
 * start, others from their end. An end at a day's last second stands for the midnight after it.
 */
export function importedSubscription(stated: StatedSubscription, since: number): Subscription {
  const { plan, bouquet, start, end } = stated;
  const run = { plan, bouquet, start, end, since, goodwillDays: 0 };
  const whole = wholePeriod(stated, end);
  if (whole !== undefined) return { ...run, anchor: start, ...whole, isInclusive: false };
  const midnight = midnightAfter(end);
  const wholeToMidnight = midnight === undefined ? undefined : wholePeriod(stated, midnight);
  if (wholeToMidnight !== undefined) return { ...run, anchor: start, ...wholeToMidnight, isInclusive: true };
  // The end of a month stays the end of a month.
  const isInclusive = midnight?.slice(8, 10) === "01";
  return { ...run, anchor: isInclusive ? midnight : end, months: 0, days: 0, isInclusive };
}

/** The whole months or days, as the bouquet is sold, from the start to a time; undefined if there is a rest. */
function wholePeriod({ start, unit }: StatedSubscription, until: WallTime): Period | undefined {
  const days = wallMsBetween(start, until) / DAY_MS;
  const guess = Math.round(unit === "month" ? days / DAYS_OF_A_MONTH : days);
  for (const count of [guess, guess - 1, guess + 1]) {
    const period = unit === "month" ? { months: count, days: 0 } : { months: 0, days: count };
    if (count >= 0 && plus(start, period) === until) return period;
  }
  return undefined;
}

/** The midnight after an end at a day's last second; undefined for other ends, and for the last time of all. */
function midnightAfter(end: WallTime): WallTime | undefined {
  return end.endsWith(" 23:59:59") && end !== LAST_WALL_TIME ? `${dayAfter(end.slice(0, 10))} 00:00:00` : undefined;
}

type Shown = Pick<Subscription, "start" | "end" | "bouquet">;

export function isSameSubscription(a: Shown | undefined, b: Shown | undefined): boolean {
  return (
    a?.start === b?.start &&
    a?.end === b?.end &&
    a?.bouquet.code === b?.bouquet.code &&
    a?.bouquet.name === b?.bouquet.name &&
    a?.bouquet.addOn === b?.bouquet.addOn
  );
}
