/**
 * How long one purchase of a bouquet lasts. Months are calendar months, added before the days.
 * Source: decisions, "Time, money, identifiers".
 */
export interface Period {
  readonly months: number;
  readonly days: number;
}

const NAMED: ReadonlyMap<string, Period> = new Map([
  ["DAILY", { months: 0, days: 1 }],
  ["WEEKLY", { months: 0, days: 7 }],
  ["MONTHLY", { months: 1, days: 0 }],
  ["QUARTERLY", { months: 3, days: 0 }],
  ["HALF YEARLY", { months: 6, days: 0 }],
  ["YEARLY", { months: 12, days: 0 }],
]);

const MARKER = /\((DAILY|WEEKLY|MONTHLY|QUARTERLY|HALF YEARLY|YEARLY|[1-9][0-9]{0,3} (?:DAYS|MONTHS))\)/g;

const LONGEST_MONTHS = 120;
const LONGEST_DAYS = 3660;

/** What a bouquet's name tells beside its period. */
export interface PeriodInName {
  readonly period: Period;
  /** The name without its period, with single blanks. */
  readonly rest: string;
}

export type PeriodProblem = "has no period" | "has more than one period" | "has a period of over ten years";

/**
 * Finds the one period that a bouquet's name must carry, for example `(QUARTERLY)` or `(45 DAYS)`.
 * Only the exact upper-case forms count; other text in parentheses is part of the name.
 */
export function findPeriod(name: string): PeriodInName | PeriodProblem {
  const markers = [...name.matchAll(MARKER)].map((match) => match[1] as string);
  if (markers.length > 1) return "has more than one period";
  const [marker] = markers;
  if (marker === undefined) return "has no period";
  const period = NAMED.get(marker) ?? counted(marker);
  if (period.months > LONGEST_MONTHS || period.days > LONGEST_DAYS) return "has a period of over ten years";
  const rest = name.replace(`(${marker})`, " ").replace(/\s+/g, " ").trim();
  return { period, rest };
}

function counted(marker: string): Period {
  const [count, unit] = marker.split(" ");
  return unit === "DAYS" ? { months: 0, days: Number(count) } : { months: Number(count), days: 0 };
}
