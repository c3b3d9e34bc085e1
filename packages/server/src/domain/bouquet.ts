import type { Money } from "./money.ts";
import type { Period } from "./wall-time.ts";

export const SERVICES = ["tv", "internet", "iptv"] as const;

/** Service that a connection delivers. */
export type Service = (typeof SERVICES)[number];

/** One row of a catalogue revision: what partners can buy for a connection. */
export interface Bouquet {
  readonly service: Service;
  /** The `bouquetId` of a top-up; unique within service and revision. */
  readonly code: string;
  readonly name: string;
  readonly price: Money;
  /** Segments of connections that can buy it; empty means all. */
  readonly segments: readonly string[];
  /** All bouquets of one plan extend the same subscription, also with different periods. */
  readonly plan: string;
  readonly addOn: boolean;
  readonly period: Period;
}

/** Key of a bouquet within its revision. No service contains a colon. */
export function bouquetKey({ service, code }: Pick<Bouquet, "service" | "code">): string {
  return `${service}:${code}`;
}

export type FindBouquet = (service: Service, code: string) => Bouquet | undefined;

export function bouquetFinder(bouquets: readonly Bouquet[]): FindBouquet {
  const byKey = new Map(bouquets.map((bouquet) => [bouquetKey(bouquet), bouquet]));
  return (service, code) => byKey.get(bouquetKey({ service, code }));
}

const ADD_ON_MARKER = "[AddOn]";

type BouquetNameProblem = "has no period" | "has more than one period" | "has a period of over ten years";

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

/**
 * Reads period, add-on marker and default plan from a bouquet's name (docs/decisions.md, "Bouquets and the catalogue").
 * The name must contain exactly one period in upper case, such as `(QUARTERLY)` or `(45 DAYS)`.
 */
export function readBouquetName(name: string): Pick<Bouquet, "period" | "addOn" | "plan"> | BouquetNameProblem {
  const markers = [...name.matchAll(MARKER)].map((match) => match[1] as string);
  if (markers.length > 1) return "has more than one period";
  const [marker] = markers;
  if (marker === undefined) return "has no period";
  const period = NAMED.get(marker) ?? counted(marker);
  if (period.months > LONGEST_MONTHS || period.days > LONGEST_DAYS) return "has a period of over ten years";
  const plan = name.replace(`(${marker})`, " ").replace(/\s+/g, " ").trim();
  return { period, addOn: name.includes(ADD_ON_MARKER), plan };
}

function counted(marker: string): Period {
  const [count, unit] = marker.split(" ");
  return unit === "DAYS" ? { months: 0, days: Number(count) } : { months: Number(count), days: 0 };
}
