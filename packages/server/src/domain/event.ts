import type { Connection, ConnectionKey } from "./customer.ts";
import { isBlocked, subscriptionsOf } from "./customer.ts";
import { type CurrencyExponent, formatMoneyInFull } from "./money.ts";
import type { Subscription } from "./subscription.ts";
import type { Transaction } from "./top-up.ts";
import { DAY_MS, type Instant, isoTime, isoTimeOrNull, readWallTime, type WallTime } from "./wall-time.ts";
import type { Zone } from "./zone.ts";

/*
 * What happened to a connection, as other systems are told: each event holds the whole state after it, so that it can be
 * applied twice and late, and a later one of the same connection makes an earlier one needless.
 */

export const EVENT_KINDS = [
  "topup.recorded",
  "topup.reversed",
  "subscription.changed",
  "subscription.ended",
  "connection.blocked",
  "connection.unblocked",
] as const;
export type EventKind = (typeof EVENT_KINDS)[number];

/** For how long events are kept where a target does not take them. */
export const EVENTS_KEPT_MS = 30 * DAY_MS;

/** What happened, and the connection's state after it. */
export interface NewEvent {
  readonly kind: EventKind;
  readonly at: Instant;
  readonly key: ConnectionKey;
  readonly state: EventState;
  /** Of `topup.recorded` and `topup.reversed`. */
  readonly topUp: EventTopUp | undefined;
}

export interface EventState {
  /** Whether the provider has blocked the connection. */
  readonly blocked: boolean;
  /** All of the connection's, in the order in which partners see them; also those that have ended. */
  readonly subscriptions: readonly EventSubscription[];
}

export interface EventSubscription {
  readonly plan: string;
  readonly bouquetId: string;
  readonly name: string;
  readonly addOn: boolean;
  readonly start: WallTime;
  readonly end: WallTime;
  /** Days of goodwill of the current run that are in `end`. */
  readonly goodwillDays: number;
}

export type EventTopUp = Pick<Transaction, "txnId" | "checkoutId" | "partnerId" | "bouquetCode" | "amount">;

/** An event on record. */
export interface RecordedEvent extends NewEvent {
  /** Counted from 1 in the order in which events were committed; numbers may be left out. */
  readonly seq: number;
  /** The name of the partner; undefined where `topUp` is. */
  readonly partner: string | undefined;
}

/** An event that a change of a connection makes. @param connection as it is after it. */
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

function toEventSubscription({ plan, bouquet, start, end, goodwillDays }: Subscription): EventSubscription {
  return { plan, bouquetId: bouquet.code, name: bouquet.name, addOn: bouquet.addOn, start, end, goodwillDays };
}

/** An event as webhooks and the feed have it. Amounts are decimals with all digits of the currency; instants ISO 8601. */
export interface ToldEvent {
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
    };
  };
}

/** Tells an event again in the same words however often it is asked, as long as the rules of the zone stay. */
export function toldEvent(event: RecordedEvent, zone: Zone, exponent: CurrencyExponent): ToldEvent {
  const { kind, at, key, state, topUp, partner } = event;
  const { environment, cuid, service, reqId } = key;
  const subscriptions = state.subscriptions.map((each) => ({
    ...each,
    startAt: isoTimeOrNull(instantOf(each.start, zone)),
    endAt: isoTimeOrNull(instantOf(each.end, zone)),
  }));
  const connection = { service, reqId, blocked: state.blocked };
  const data = { environment, cuid, connection, subscriptions };
  const told = topUp && {
    ...{ txnId: topUp.txnId, checkoutId: topUp.checkoutId, partner: partner ?? "" },
    ...{ bouquetId: topUp.bouquetCode, amount: formatMoneyInFull(topUp.amount, exponent) },
  };
  return {
    ...{ id: eventId(event), type: kind, timestamp: isoTime(at) },
    data: told === undefined ? data : { ...data, topUp: told },
  };
}

/** The number alone would be given again after a restore from a backup, and receivers would take the event for known. */
export function eventId({ seq, at }: Pick<RecordedEvent, "seq" | "at">): string {
  return `evt_${at}_${seq}`;
}

/** The number of the event that an id, which is a cursor too, names; undefined where it is none. */
export function seqOfEventId(id: string): number | undefined {
  const [, seq] = /^evt_\d{1,15}_(\d{1,15})$/.exec(id) ?? [];
  return seq === undefined ? undefined : Number(seq);
}

/** The first instant at which the clock on the wall shows a time; where it is skipped, the first after it. */
export function instantOf(wall: WallTime, zone: Zone): Instant | undefined {
  const [first] = zone.instants(wall);
  if (first !== undefined) return first;
  const ms = readWallTime(wall);
  if (ms === undefined) return undefined;
  // No clock skips more than a day, and each change comes at a whole quarter of an hour.
  const begin = Math.floor((ms - DAY_MS) / QUARTER_MS) * QUARTER_MS;
  for (let at = begin; at <= ms + DAY_MS; at += QUARTER_MS) if (zone.wallTime(at) > wall) return at;
  return undefined;
}

const QUARTER_MS = 15 * 60_000;
