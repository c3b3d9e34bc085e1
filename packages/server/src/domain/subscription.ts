import { DAY_MS, type Period, plus, secondBefore, type WallTime, wallMsBetween } from "./wall-time.ts";

/** The bouquet that a subscription shows, as it was when bought or stated. */
export interface BouquetLabel {
  readonly code: string;
  readonly name: string;
  readonly addOn: boolean;
}

/**
 * The subscription of one plan on one connection: `end` is always `plus(anchor, { months, days })`
 * (docs/ledger.md#how-time-is-added).
 */
export interface Subscription extends Period {
  readonly plan: string;
  readonly bouquet: BouquetLabel;
  /** The `startdate` of listings. */
  readonly start: WallTime;
  /** Start of counting months and days, so that a subscription of the 31st stays on the 31st. */
  readonly anchor: WallTime;
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

export function newRun(plan: string, bouquet: BouquetLabel, from: WallTime, since: number): Subscription {
  return { plan, bouquet, start: from, anchor: from, months: 0, days: 0, end: from, since, goodwillDays: 0 };
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
  const { plan, start, anchor, since, goodwillDays } = run;
  const { months, days } = period;
  return { plan, bouquet, start, anchor, months, days, end: plus(run.anchor, period), since, goodwillDays };
}

const DAYS_OF_A_MONTH = 30.44;

/**
 * Reads two dates of the records as a period. Dates that are whole months or days apart are counted so; if the end is a
 * day's last second, from the second before the start. All others are counted from their end.
 */
export function importedSubscription(stated: StatedSubscription, since: number): Subscription {
  const { plan, bouquet, start, end, unit } = stated;
  for (const anchor of [start, secondBefore(start)]) {
    const days = wallMsBetween(anchor, end) / DAY_MS;
    const guess = Math.round(unit === "month" ? days / DAYS_OF_A_MONTH : days);
    for (const count of [guess, guess - 1, guess + 1]) {
      const period = unit === "month" ? { months: count, days: 0 } : { months: 0, days: count };
      if (count >= 0 && plus(anchor, period) === end)
        return { plan, bouquet, start, anchor, ...period, end, since, goodwillDays: 0 };
    }
  }
  return { plan, bouquet, start, anchor: end, months: 0, days: 0, end, since, goodwillDays: 0 };
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
