import type { Connection, ConnectionKey } from "./customer.ts";
import { isBlocked, subscriptionsOf } from "./customer.ts";
import { type CurrencyExponent, formatMoneyInFull } from "./money.ts";
import type { Subscription } from "./subscription.ts";
import type { Transaction } from "./top-up.ts";
import { DAY_MS, type Instant, instantOf, isoTime, isoTimeOrNull, type WallTime, type Zone } from "./wall-time.ts";

/*
 * Events about connections, for other systems. Each event has the whole state after it. So it can be applied twice or
 * late, and a later event of the connection replaces an earlier one.
 */

export const EVENT_KINDS = [
  "topup.recorded",
  "topup.reversed",
  "subscription.changed",
  "subscription.ended",
  "connection.blocked",
  "connection.unblocked",
  "test",
] as const;
export type EventKind = (typeof EVENT_KINDS)[number];

/** Lifetime of undelivered events. */
export const EVENTS_KEPT_MS = 30 * DAY_MS;

/** The number of each test event. */
export const TEST_SEQ = 0;

/** An event and the state of the connection after it. */
export interface NewEvent {
  readonly kind: EventKind;
  readonly at: Instant;
  readonly key: ConnectionKey;
  readonly state: EventState;
  /** Present in `topup.recorded` and `topup.reversed`. */
  readonly topUp: EventTopUp | undefined;
}

export interface EventState {
  /** Whether the provider blocked the connection. */
  readonly blocked: boolean;
  /** All subscriptions, including ended ones, in the order that partners see. */
  readonly subscriptions: readonly EventSubscription[];
}

export interface EventSubscription {
  readonly plan: string;
  readonly bouquetId: string;
  readonly name: string;
  readonly addOn: boolean;
  readonly start: WallTime;
  readonly end: WallTime;
  /** Days of goodwill of the current run, included in `end`. */
  readonly goodwillDays: number;
}

export type EventTopUp = Pick<
  Transaction,
  "txnId" | "checkoutId" | "partnerId" | "bouquetCode" | "amount" | "commission"
>;

/** A stored event. */
export interface RecordedEvent extends NewEvent {
  /** Number in the order of commits, from 1. Numbers may be missing. */
  readonly seq: number;
  /** Name of the partner; undefined if `topUp` is. */
  readonly partner: string | undefined;
}

/** Makes the event of a change. @param connection the connection after the change. */
export function eventOf(
  kind: EventKind,
  at: Instant,
  key: ConnectionKey,
  connection: Pick<Connection, "status" | "blocked" | "ledgers">,
  topUp?: EventTopUp,
): NewEvent {
  const { environment, cuid, service, reqId } = key;
  const subscriptions = subscriptionsOf(connection).map(toEventSubscription);
  const state = { blocked: isBlocked(connection), subscriptions };
  return { kind, at, key: { environment, cuid, service, reqId }, state, topUp };
}

/** Makes the event by which staff try out a webhook. It is not stored, and looks like one of a trial customer. */
export function testEvent(at: Instant): RecordedEvent {
  const key = { environment: "trial", cuid: "test", service: "internet", reqId: "test" } as const;
  const state = { blocked: false, subscriptions: [] };
  return { seq: TEST_SEQ, kind: "test", at, key, state, topUp: undefined, partner: undefined };
}

function toEventSubscription({ plan, bouquet, start, end, goodwillDays }: Subscription): EventSubscription {
  return { plan, bouquetId: bouquet.code, name: bouquet.name, addOn: bouquet.addOn, start, end, goodwillDays };
}

/**
 * An event as webhooks and the feed send it. Amounts are decimals with all digits of the currency; instants are ISO
 * 8601.
 */
export interface EventMessage {
  readonly id: string;
  readonly type: EventKind;
  readonly timestamp: string;
  readonly data: {
    readonly environment: ConnectionKey["environment"];
    readonly cuid: string;
    readonly connection: Pick<ConnectionKey, "service" | "reqId"> & { readonly blocked: boolean };
    readonly subscriptions: readonly (EventSubscription & {
      readonly startAt: string | null;
      readonly endAt: string | null;
    })[];
    readonly topUp?: {
      readonly txnId: string;
      readonly checkoutId: string;
      readonly partner: string;
      readonly bouquetId: string;
      readonly amount: string;
      readonly commission: string;
    };
  };
}

/** Renders an event. The result is always the same while the rules of the zone stay the same. */
export function eventMessage(event: RecordedEvent, zone: Zone, exponent: CurrencyExponent): EventMessage {
  const { kind, at, key, state, topUp, partner } = event;
  const { environment, cuid, service, reqId } = key;
  const subscriptions = state.subscriptions.map((each) => ({
    ...each,
    startAt: isoTimeOrNull(instantOf(each.start, zone)),
    endAt: isoTimeOrNull(instantOf(each.end, zone)),
  }));
  const connection = { service, reqId, blocked: state.blocked };
  const data = { environment, cuid, connection, subscriptions };
  const sold = topUp && {
    txnId: topUp.txnId,
    checkoutId: topUp.checkoutId,
    partner: partner ?? "",
    bouquetId: topUp.bouquetCode,
    amount: formatMoneyInFull(topUp.amount, exponent),
    commission: formatMoneyInFull(topUp.commission, exponent),
  };
  return {
    id: eventId(event),
    type: kind,
    timestamp: isoTime(at),
    data: sold === undefined ? data : { ...data, topUp: sold },
  };
}

export type EventNumber = Pick<RecordedEvent, "seq" | "at">;

/** The id contains the time: after a restore from a backup, numbers repeat, and receivers would ignore the event. */
export function eventId({ seq, at }: EventNumber): string {
  return `evt_${at}_${seq}`;
}

/** The event number in an id, which is also a cursor; undefined if the text is no event id. */
export function seqOfEventId(id: string): number | undefined {
  const [, seq] = /^evt_\d{1,15}_(\d{1,15})$/.exec(id) ?? [];
  return seq === undefined ? undefined : Number(seq);
}
