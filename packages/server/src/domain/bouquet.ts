import type { Money } from "./money.ts";
import type { Period } from "./wall-time.ts";

export const SERVICES = ["tv", "internet", "iptv"] as const;

/** What a connection delivers (interface, section 4.2). */
export type Service = (typeof SERVICES)[number];

/** A package that partners can buy for a connection: one row of a catalogue revision. */
export interface Bouquet {
  readonly service: Service;
  /** What a top-up sends as `bouquetId`; unique within its service and revision. */
  readonly code: string;
  readonly name: string;
  readonly price: Money;
  /** The connection segments it is sold to; empty means all of them. */
  readonly segments: readonly string[];
  /** Bouquets of one plan extend one and the same subscription, whatever their periods. */
  readonly plan: string;
  readonly addOn: boolean;
  readonly period: Period;
}

/** What tells a bouquet from the others of its revision. No service holds a colon. */
export function bouquetKey({ service, code }: Pick<Bouquet, "service" | "code">): string {
  return `${service}:${code}`;
}

export type FindBouquet = (service: Service, code: string) => Bouquet | undefined;

/** Finds a bouquet by service and code. */
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
 * What the interface says with a bouquet's name (section 2): period, add-on, and by default the plan. It must carry one
 * period, for example `(QUARTERLY)` or `(45 DAYS)`; only the exact upper-case forms count.
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
