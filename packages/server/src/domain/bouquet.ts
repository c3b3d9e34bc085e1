import type { Money } from "./money.ts";
import { findPeriod, type Period, type PeriodProblem } from "./period.ts";

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

const ADD_ON_MARKER = "[AddOn]";

/** What the interface says with a bouquet's name (section 2): period, add-on, and by default the plan. */
export interface BouquetName {
  readonly period: Period;
  readonly addOn: boolean;
  readonly plan: string;
}

export function readBouquetName(name: string): BouquetName | PeriodProblem {
  const found = findPeriod(name);
  if (typeof found === "string") return found;
  return { period: found.period, addOn: name.includes(ADD_ON_MARKER), plan: found.rest };
}
