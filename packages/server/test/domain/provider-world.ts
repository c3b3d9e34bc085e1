import type { Bouquet, Service } from "../../src/domain/bouquet.ts";
import type { Calendar, Instant } from "../../src/domain/calendar.ts";
import type { Connection, Customer } from "../../src/domain/customer.ts";
import { type CustomerChange, changeCustomer, type ImportMode } from "../../src/domain/customer-import.ts";
import type { StatedConnection, StatedCustomer, StatedSubscription } from "../../src/domain/customer-row.ts";
import { foldGrants } from "../../src/domain/fold.ts";
import { AS_WRITTEN } from "../../src/domain/mobile-number.ts";
import {
  applyGrant,
  type Grant,
  importedSpan,
  type PeriodGrant,
  type Subscription,
} from "../../src/domain/subscription.ts";
import { decideTakeBack, type TakeBackOutcome } from "../../src/domain/take-back.ts";
import { at, goodwill, labelOf, MONTHLY, reversal, topUp, UTC } from "./builders.ts";

interface PlanKey {
  readonly service: Service;
  readonly reqId: string;
  readonly plan: string;
}

/** One customer as a store keeps it: what imports and top-ups have left behind so far. */
export class ProviderWorld {
  readonly calendar: Calendar;
  customer: Customer | undefined;
  readonly #ledgers = new Map<string, Grant[]>();
  #topUps = 0;

  constructor(calendar: Calendar = UTC) {
    this.calendar = calendar;
  }

  connection(reqId: string): Connection | undefined {
    return this.customer?.connections.find((connection) => connection.reqId === reqId);
  }

  subscription(reqId: string, plan: string = MONTHLY.plan): Subscription | undefined {
    return this.connection(reqId)?.subscriptions.find((subscription) => subscription.plan === plan);
  }

  /** The end of a subscription's current run in `YYYY-MM-DD`, or undefined where there is none. */
  endOf(reqId: string, plan?: string): string | undefined {
    const subscription = this.subscription(reqId, plan);
    return subscription && this.calendar.format(subscription.end).slice(0, 10);
  }

  topUp(reqId: string, when: string | Instant, bouquet: Bouquet = MONTHLY): void {
    const connection = this.connection(reqId);
    if (connection === undefined) throw new Error(`there is no connection ${reqId} to top up`);
    const key = { service: connection.service, reqId, plan: bouquet.plan };
    this.#topUps += 1;
    this.#grant(key, connection, topUp(when, bouquet, `checkout ${this.#topUps}`));
  }

  goodwill(reqId: string, when: Instant, days: number, bouquet: Bouquet = MONTHLY): void {
    const connection = this.connection(reqId);
    if (connection === undefined) throw new Error(`there is no connection ${reqId} to give days to`);
    this.#grant({ service: connection.service, reqId, plan: bouquet.plan }, connection, goodwill(when, days, bouquet));
  }

  /** Takes goodwill days back, as far as that can be done. */
  takeBack(reqId: string, when: string | Instant, days: number, plan: string = MONTHLY.plan): TakeBackOutcome {
    const connection = this.connection(reqId);
    if (connection === undefined) return { kind: "not_found" };
    const key = { service: connection.service, reqId, plan };
    const command = {
      environment: "production",
      cuid: "7001",
      service: connection.service,
      reqId,
      days,
      plan,
    } as const;
    const ledgers = [...new Set([plan, ...connection.subscriptions.map((each) => each.plan)])].map((each) => ({
      ...{ plan: each, isPruned: false },
      grants: this.ledger({ ...key, plan: each }),
    }));
    const now = typeof when === "string" ? at(when) : when;
    const outcome = decideTakeBack({ connection, ledgers }, command, now, this.calendar.asOf(now));
    if (outcome.kind !== "taken_back") return outcome;
    this.#append(key, outcome.grant);
    this.#put({ ...connection, toppedUp: outcome.toppedUp ?? connection.toppedUp }, plan, outcome.after);
    return outcome;
  }

  /** Takes back one of a plan's top-ups that stand, where there is one. */
  reverse(key: PlanKey, when: Instant, which: number): void {
    const ledger = this.ledger(key);
    const gone = ledger.flatMap((grant) => (grant.kind === "reversal" ? [grant.checkoutId] : []));
    const standing = ledger.flatMap((grant) => (grant.kind === "top_up" ? [grant.checkoutId] : []));
    const left = standing.filter((checkoutId) => !gone.includes(checkoutId));
    const checkoutId = left[which % Math.max(1, left.length)];
    if (checkoutId === undefined) return;
    this.#append(key, reversal(when, checkoutId));
    const connection = this.connection(key.reqId);
    if (connection !== undefined) this.#put(connection, key.plan, this.folded(key));
  }

  #grant(key: PlanKey, connection: Connection, grant: PeriodGrant): void {
    const after = applyGrant(key.plan, this.subscription(key.reqId, key.plan), grant, this.calendar.asOf(grant.at));
    this.#append(key, grant);
    this.#put({ ...connection, toppedUp: true }, key.plan, after);
  }

  import(stated: StatedCustomer, when: string | Instant, mode: ImportMode = "unsaid"): CustomerChange {
    const now = typeof when === "string" ? at(when) : when;
    const stored = {
      customer: this.customer,
      connections: this.customer?.connections ?? [],
      mobileForm: undefined,
      ledgers: [...this.#ledgers].map(([key, grants]) => ({ ...partsOf(key), grants, isPruned: false })),
    };
    const change = changeCustomer(stored, stated, now, this.calendar.asOf(now), mode, AS_WRITTEN);
    const before = this.customer;
    const connections = change.connections.map((connection) => {
      const { subscriptions } = before?.connections.find((candidate) => isSame(candidate, connection)) ?? {};
      return { ...connection, subscriptions: subscriptions ?? [] };
    });
    this.customer = { ...change.profile, connections };
    for (const { service, reqId, plan, grant, subscription } of change.entries) {
      if (grant !== undefined) this.#append({ service, reqId, plan }, grant);
      const connection = connections.find((candidate) => isSame(candidate, { service, reqId }));
      if (connection !== undefined) this.#put(this.connection(reqId) as Connection, plan, subscription);
    }
    return change;
  }

  /** As by a careless hand: what is lost is removed, and the ledgers stay. @param reqId of what connection. */
  lose(what: "customer" | "connection" | "subscriptions", reqId: string): void {
    if (this.customer === undefined) return;
    const connections = this.customer.connections.flatMap((connection) => {
      if (connection.reqId !== reqId) return [connection];
      return what === "connection" ? [] : [{ ...connection, subscriptions: [] }];
    });
    this.customer = what === "customer" ? undefined : { ...this.customer, connections };
  }

  ledger(key: PlanKey): readonly Grant[] {
    return this.#ledgers.get(keyOf(key)) ?? [];
  }

  /** What the ledger of a plan folds to, which is what the store must show for it. */
  folded(key: PlanKey): Subscription | undefined {
    return foldGrants(key.plan, this.ledger(key), this.calendar);
  }

  #append(key: PlanKey, grant: Grant): void {
    this.#ledgers.set(keyOf(key), [...this.ledger(key), grant]);
  }

  #put(connection: Connection, plan: string, subscription: Subscription | undefined): void {
    const others = connection.subscriptions.filter((candidate) => candidate.plan !== plan);
    const changed = { ...connection, subscriptions: subscription === undefined ? others : [...others, subscription] };
    const customer = this.customer as Customer;
    const connections = customer.connections.map((candidate) => (isSame(candidate, connection) ? changed : candidate));
    this.customer = { ...customer, connections };
  }
}

/** What a file says of the customer; one active internet connection without subscriptions by default. */
export function statedCustomer(
  connections: readonly StatedConnection[] = [statedConnection()],
  profile: Partial<StatedCustomer> = {},
): StatedCustomer {
  const plain = { cuid: "7001", firstName: "Asha", lastName: "Rai", mobile: "9800000001", status: "active" } as const;
  return { ...plain, ...profile, connections };
}

/** A file whose only connection, `fiber1`, has one subscription. */
export function fileWith(start: string | Instant, end: string | Instant, bouquet: Bouquet = MONTHLY): StatedCustomer {
  return statedCustomer([statedConnection({ subscriptions: [statedSubscription(start, end, bouquet)] })]);
}

export function statedConnection(changes: Partial<StatedConnection> = {}): StatedConnection {
  const plain = { service: "internet", reqId: "fiber1", status: "active", segment: undefined } as const;
  return { ...plain, subscriptions: [], ...changes };
}

export function statedSubscription(
  start: string | Instant,
  end: string | Instant,
  bouquet: Bouquet = MONTHLY,
  calendar: Calendar = UTC,
): StatedSubscription {
  const from = typeof start === "string" ? at(start) : start;
  const to = typeof end === "string" ? at(end) : end;
  const span = importedSpan(from, to, bouquet.period, calendar);
  return { plan: bouquet.plan, bouquet: labelOf(bouquet), start: from, end: to, span };
}

function isSame(
  one: { readonly service: Service; readonly reqId: string },
  other: { readonly service: Service; readonly reqId: string },
): boolean {
  return one.service === other.service && one.reqId === other.reqId;
}

function partsOf(key: string): PlanKey {
  const [service, reqId, plan] = JSON.parse(key) as [Service, string, string];
  return { service, reqId, plan };
}

function keyOf({ service, reqId, plan }: PlanKey): string {
  return JSON.stringify([service, reqId, plan]);
}
