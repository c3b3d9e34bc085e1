/** As a name may hold them (decisions, Bouquets and the catalogue). */
export const PERIODS = /\((?:DAILY|WEEKLY|MONTHLY|QUARTERLY|HALF YEARLY|YEARLY|\d{1,4} DAYS|\d{1,3} MONTHS)\)/g;

const NAMED: Readonly<Record<string, Period>> = {
  DAILY: { months: 0, days: 1 },
  WEEKLY: { months: 0, days: 7 },
  MONTHLY: { months: 1, days: 0 },
  QUARTERLY: { months: 3, days: 0 },
  "HALF YEARLY": { months: 6, days: 0 },
  YEARLY: { months: 12, days: 0 },
};

export interface Period {
  readonly months: number;
  readonly days: number;
}

/** The one period in a bouquet's name; undefined without one, or with two. */
export function periodIn(name: string): Period | undefined {
  const found = name.match(PERIODS) ?? [];
  const words = found[0]?.slice(1, -1);
  if (words === undefined || found.length > 1) return undefined;
  const [count = "", unit] = words.split(" ");
  if (unit === "DAYS") return { months: 0, days: Number(count) };
  return unit === "MONTHS" ? { months: Number(count), days: 0 } : NAMED[words];
}

/** A name without its period: bouquets of one plan have that in common. */
export function withoutPeriod(name: string): string {
  return name.replace(PERIODS, "").replace(/\s+/g, " ").trim();
}

/** A timestamp of the interface, in milliseconds of no zone. */
export function readTimestamp(text: string): number {
  return Date.parse(`${text.replace(" ", "T")}Z`);
}

/** In calendar months, on the month's last day where it is too short. */
export function addPeriod(time: number, { months, days }: Period): number {
  const from = new Date(time);
  const [year, month] = [from.getUTCFullYear(), from.getUTCMonth() + months];
  const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  const day = Math.min(from.getUTCDate(), lastDay) + days;
  return Date.UTC(year, month, day) + (time % DAY_MS);
}

export const DAY_MS = 86_400_000;
