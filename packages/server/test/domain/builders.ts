import type { Bouquet } from "../../src/domain/bouquet.ts";
import type { Connection } from "../../src/domain/customer.ts";
import { type JsonObject, readJson } from "../../src/domain/json.ts";
import { appendGrant, appendImport, decideReversal, type Entry, headOf, type Ledger } from "../../src/domain/ledger.ts";
import type { BouquetLabel, StatedSubscription, Subscription } from "../../src/domain/subscription.ts";
import { type Instant, type Moment, readWallTime, type WallTime, writeWallTime } from "../../src/domain/wall-time.ts";

/** A fixed seed, so that a failing property fails again in the next run. */
export const RUNS = { seed: 20_261_120, numRuns: 500 };

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

export const STAFF = { author: "maya", reason: "ticket 17" };

/** A day, such as `2026-01-31` (its midnight), or a whole wall time. */
export function wall(text: string): WallTime {
  const full = text.length === 10 ? `${text} 00:00:00` : text;
  if (readWallTime(full) === undefined) throw new Error(`${text} is no wall time`);
  return full;
}

/** A moment on a wall clock in UTC. */
export function at(text: string): Moment {
  return momentOf(readWallTime(wall(text)) as Instant);
}

export function momentOf(instant: Instant): Moment {
  return { instant, wall: writeWallTime(instant) };
}

export function labelOf({ code, name, addOn }: Bouquet): BouquetLabel {
  return { code, name, addOn };
}

export function stated(start: string, end: string, bouquet = MONTHLY): StatedSubscription {
  const unit = bouquet.period.months > 0 ? "month" : "day";
  return { plan: bouquet.plan, bouquet: labelOf(bouquet), start: wall(start), end: wall(end), unit };
}

/** The events of a ledger in the tests' stories, each with its time. */
export type Deed = (ledger: Ledger) => Entry;

export function topUp(when: string, bouquet = MONTHLY, txnId = "TXN1"): Deed {
  const grant = { kind: "top_up", txnId, bouquet: labelOf(bouquet), period: bouquet.period } as const;
  return (ledger) => appendGrant(headOf(ledger), grant, at(when));
}

export function goodwill(when: string, days: number, bouquet = MONTHLY): Deed {
  const grant = { kind: "goodwill", bouquet: labelOf(bouquet), period: { months: 0, days }, ...STAFF } as const;
  return (ledger) => appendGrant(headOf(ledger), grant, at(when));
}

/** @param of number of the reversed entry. */
export function reversal(when: string, of: number): Deed {
  return (ledger) => {
    const entry = decideReversal(ledger, { kind: "reversal", of, ...STAFF }, at(when));
    if (typeof entry === "string") throw new Error(`the reversal is refused: ${entry}`);
    return entry;
  };
}

/** Records as of their own time, imported as the first entry of their ledger. */
export function imported(when: string, subscription: StatedSubscription | undefined): Deed {
  const records = { kind: "import", asOf: at(when), stated: subscription, since: 1, goodwill: "lacking" } as const;
  return (ledger) => appendImport(ledger, records, at(when));
}

export function ledgerOf(...deeds: Deed[]): Ledger {
  let ledger: Ledger = { plan: MONTHLY.plan, entries: [] };
  for (const deed of deeds) ledger = { ...ledger, entries: [...ledger.entries, deed(ledger)] };
  return ledger;
}

/** The subscription of one month from a time on. */
export function monthFrom(when: string, bouquet = MONTHLY): Subscription {
  const { subscription } = headOf(ledgerOf(topUp(when, bouquet)));
  if (subscription === undefined) throw new Error("the top-up makes nothing");
  return { ...subscription, plan: bouquet.plan };
}

/** An active internet connection without subscriptions, unless the test overrides it. */
export function connectionWith(changes: Partial<Connection> = {}): Connection {
  const plain = { service: "internet", reqId: "fiber1", status: "active", blocked: false, segment: undefined } as const;
  return { ...plain, ledgers: [], ...changes };
}

/** A connection with these subscriptions, each from one entry of its own ledger. */
export function connectionHaving(
  subscriptions: readonly Subscription[],
  changes: Partial<Connection> = {},
): Connection {
  const ledgers = subscriptions.map((subscription) => ({ plan: subscription.plan, seq: 1, subscription }));
  return connectionWith({ ledgers, ...changes });
}

/** An object in the form that readers of requests and files get. */
export function asJson(object: object): JsonObject {
  return readJson(JSON.stringify(object)) as JsonObject;
}
