import { DAY_MS, type Period, plus, secondBefore, type WallTime, wallMsBetween } from "./wall-time.ts";

/** The bouquet by which a subscription is listed: as it was when it was bought or stated. */
export interface BouquetLabel {
  readonly code: string;
  readonly name: string;
  readonly addOn: boolean;
}

/**
 * What a customer has of one plan on one connection: `end` is always `plus(anchor, { months, days })`.
 * Source: the ledger's page, section 2.
 */
export interface Subscription extends Period {
  readonly plan: string;
  readonly bouquet: BouquetLabel;
  /** Listed as `startdate`. */
  readonly start: WallTime;
  /** Where counting begins, so that a subscription of the 31st stays on the 31st. */
  readonly anchor: WallTime;
  readonly end: WallTime;
  /** The number of the entry with which this unbroken run began. */
  readonly since: number;
  /** Days of goodwill of this run that are in the end. */
  readonly goodwillDays: number;
}

/** A subscription as the provider's records state it. */
export interface StatedSubscription {
  readonly plan: string;
  readonly bouquet: BouquetLabel;
  readonly start: WallTime;
  readonly end: WallTime;
  /** How the bouquet is sold, and so how its time is counted. */
  readonly unit: "month" | "day";
}

/** Running means not ended: one that is stated to begin later runs too. */
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
 * Records tell two dates. Where they are whole months or days apart, they are counted as such; records that end with a
 * day's last second are counted from the second before their start. Anything else is counted from the end.
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
