import type { Bouquet } from "../../src/domain/bouquet.ts";
import { createCalendar, type Instant, NO_SPAN, type Span } from "../../src/domain/calendar.ts";
import type { Connection } from "../../src/domain/customer.ts";
import { foldGrants } from "../../src/domain/fold.ts";
import { type JsonObject, readJson } from "../../src/domain/json.ts";
import type { BouquetLabel, Grant, PeriodGrant, Subscription } from "../../src/domain/subscription.ts";

/** The same cases in every run, so that a property that fails fails again. */
export const RUNS = { seed: 20_261_120, numRuns: 500 };

export const SECOND_MS = 1000;
export const DAY_MS = 24 * 60 * 60 * SECOND_MS;

export const UTC = createCalendar("UTC");

export const MONTHLY: Bouquet = {
  service: "internet",
  code: "NET-1M",
  name: "Fiber 100 (MONTHLY)",
  price: 113_000n,
  segments: [],
  plan: "Fiber 100",
  addOn: false,
  period: { months: 1, days: 0 },
};

export const QUARTERLY: Bouquet = {
  ...MONTHLY,
  code: "NET-3M",
  name: "Fiber 100 (QUARTERLY)",
  price: 322_000n,
  period: { months: 3, days: 0 },
};

export const ADD_ON: Bouquet = {
  ...MONTHLY,
  code: "IP-1M",
  name: "Static IP [AddOn] (MONTHLY)",
  price: 50_000n,
  plan: "Static IP [AddOn]",
  addOn: true,
};

/** A date such as `2026-01-31`, which is midnight in UTC, or a date and time with its offset. */
export function at(text: string): Instant {
  const instant = Date.parse(text);
  if (Number.isNaN(instant)) throw new Error(`${text} is no time`);
  return instant;
}

export function months(count: number): Span {
  return { ...NO_SPAN, months: count };
}

export function days(count: number): Span {
  return { ...NO_SPAN, days: count };
}

export function labelOf({ code, name, addOn }: Bouquet): BouquetLabel {
  return { code, name, addOn };
}

/** @param checkoutId by which a reversal finds it. */
export function topUp(when: string | Instant, bouquet: Bouquet = MONTHLY, checkoutId = "checkout"): PeriodGrant {
  const instant = typeof when === "string" ? at(when) : when;
  return { kind: "top_up", at: instant, bouquet: labelOf(bouquet), period: bouquet.period, checkoutId };
}

export function goodwill(when: string | Instant, count: number, bouquet: Bouquet = MONTHLY): PeriodGrant {
  const instant = typeof when === "string" ? at(when) : when;
  return { kind: "goodwill", at: instant, bouquet: labelOf(bouquet), period: { months: 0, days: count } };
}

export function takeBack(when: string | Instant, count: number, bouquet: Bouquet = MONTHLY): Grant {
  return { kind: "take_back", at: typeof when === "string" ? at(when) : when, bouquet: labelOf(bouquet), days: count };
}

export function reversal(when: string | Instant, checkoutId: string): Grant {
  return { kind: "reversal", at: typeof when === "string" ? at(when) : when, checkoutId };
}

/** The subscription that a ledger of `Fiber 100` folds to; fails where it grants nothing. */
export function fold(grants: readonly Grant[], calendar = UTC): Subscription {
  const subscription = foldGrants(MONTHLY.plan, grants, calendar);
  if (subscription === undefined) throw new Error("the ledger grants nothing");
  return subscription;
}

/** An active internet connection that never had a subscription, but for what is said otherwise. */
export function connectionWith(changes: Partial<Connection> = {}): Connection {
  const plain = {
    service: "internet",
    reqId: "fiber1",
    status: "active",
    blocked: false,
    toppedUp: false,
    segment: undefined,
  } as const;
  return { ...plain, subscriptions: [], ...changes };
}

/** An object as it looks to the code that reads requests and files. */
export function asJson(object: object): JsonObject {
  return readJson(JSON.stringify(object)) as JsonObject;
}
