import { type ACCOUNT_ENTRY, ALERT_KINDS, type Alert, lowAmounts } from "./alert.ts";
import { type Connection, type ConnectionKey, isBlocked, subscriptionsOf } from "./customer.ts";
import type { LedgerHead } from "./ledger.ts";
import { type CurrencyExponent, formatMoneyInFull } from "./money.ts";
import { hasBegun, isServing, type Subscription } from "./subscription.ts";
import type { Transaction } from "./transaction.ts";
import {
  DAY_MS,
  type Instant,
  instantOf,
  isoTime,
  isoTimeOrNull,
  type Moment,
  type WallTime,
  type Zone,
} from "./wall-time.ts";

/*
 * Events for other systems. An event about a connection has the whole state after it. So it can be applied twice or late,
 * and a later event of the connection replaces an earlier one. The others are alerts about partners.
 */

const CONNECTION_EVENT_KINDS = [
  "topup.recorded",
  "topup.reversed",
  "subscription.changed",
  "subscription.ended",
  "connection.blocked",
  "connection.unblocked",
  "test",
] as const;
export const EVENT_KINDS = [...CONNECTION_EVENT_KINDS, ...ALERT_KINDS] as const;
export type EventKind = (typeof EVENT_KINDS)[number];
/** The types of what targets are sent. */
export type DueKind = EventKind | typeof ACCOUNT_ENTRY | "subscription.ending";

/** Lifetime of undelivered events. */
export const EVENTS_KEPT_MS = 30 * DAY_MS;

/** The number of each test event. */
export const TEST_SEQ = 0;

export type NewEvent = ConnectionEvent | AlertEvent;

/** An event and the state of the connection after it. */
export interface ConnectionEvent {
  readonly kind: (typeof CONNECTION_EVENT_KINDS)[number];
  readonly at: Instant;
  readonly key: ConnectionKey;
  readonly state: EventState;
  /** Present in `topup.recorded` and `topup.reversed`. */
  readonly topUp: EventTopUp | undefined;
  /** Whether staff sent the present state again, without a change. */
  readonly repeated?: boolean | undefined;
}

export interface AlertEvent {
  readonly kind: Alert["kind"];
  readonly at: Instant;
  readonly alert: Alert;
}

export interface EventState {
  /** Whether the provider blocked the connection. */
  readonly blocked: boolean;
  /** All subscriptions, including ended ones, in the order that partners see. */
  readonly subscriptions: readonly EventSubscription[];
  /** The standing before the event; undefined if it did not change. */
  readonly was?: Standing | undefined;
}

/** The rights of a connection at a time. */
export interface Standing {
  readonly blocked: boolean;
  /** Whether a base subscription gives service. */
  readonly served: boolean;
  /** The plan of the current base subscription; undefined if there is none. */
  readonly plan: string | undefined;
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
export type RecordedEvent = Recorded<ConnectionEvent> | Recorded<AlertEvent>;

export type Recorded<Event extends NewEvent> = Event & {
  /** Number in the order of commits, from 1. Numbers may be missing. */
  readonly seq: number;
  /** Name of the partner; undefined if there is none. */
  readonly partner: string | undefined;
};

/**
 * Makes the events between two states of a connection: one if a ledger has a new entry, and one if the provider blocked or
 * unblocked the connection.
 * The last one has what the connection could use before.
 * @param why the top-up that was recorded or reversed; undefined for other entries.
 */
export function eventsBetween(
  key: ConnectionKey,
  before: State,
  after: State,
  { instant: at, wall }: Moment,
  why?: { readonly kind: "topup.recorded" | "topup.reversed"; readonly topUp: EventTopUp },
): ConnectionEvent[] {
  const isKnown = (head: LedgerHead) => before.ledgers.some(({ plan, seq }) => plan === head.plan && seq === head.seq);
  const events: ConnectionEvent[] = [];
  if (!after.ledgers.every(isKnown))
    events.push(eventOf(why?.kind ?? "subscription.changed", at, key, after, why?.topUp));
  if (isBlocked(after) !== isBlocked(before))
    events.push(eventOf(isBlocked(after) ? "connection.blocked" : "connection.unblocked", at, key, after));
  const last = events.pop();
  return last === undefined ? [] : [...events, changedFrom(standingOf(stateOf(before), wall), last, wall)];
}

/** The event with what its connection could use before, if that has changed. */
export function changedFrom(was: Standing, event: ConnectionEvent, now: WallTime): ConnectionEvent {
  const { blocked, served, plan } = standingOf(event.state, now);
  const isSame = was.blocked === blocked && was.served === served && was.plan === plan;
  return isSame ? event : { ...event, state: { ...event.state, was } };
}

export function standingOf({ blocked, subscriptions }: EventState, now: WallTime): Standing {
  const bases = subscriptions.filter(({ addOn }) => !addOn);
  return { blocked, served: bases.some((base) => isServing(base, now)), plan: currentBase(bases, now)?.plan };
}

/** The base subscription that counts: the one that ends last of those that give service, else of those begun, else of all. */
function currentBase(bases: readonly EventSubscription[], now: WallTime): EventSubscription | undefined {
  const serving = bases.filter((base) => isServing(base, now));
  const begun = bases.filter((base) => hasBegun(base, now));
  const candidates = [serving, begun, bases].find((some) => some.length > 0) ?? [];
  return candidates.reduce<EventSubscription | undefined>(
    (last, each) => (last === undefined || each.end > last.end ? each : last),
    undefined,
  );
}

type State = Pick<Connection, "status" | "blocked" | "ledgers">;

/** Makes an event. @param connection the connection after the change. */
export function eventOf(
  kind: ConnectionEvent["kind"],
  at: Instant,
  key: ConnectionKey,
  connection: State,
  topUp?: EventTopUp,
): ConnectionEvent {
  const { environment, cuid, service, reqId } = key;
  return { kind, at, key: { environment, cuid, service, reqId }, state: stateOf(connection), topUp };
}

function stateOf(connection: State): EventState {
  return { blocked: isBlocked(connection), subscriptions: subscriptionsOf(connection).map(toEventSubscription) };
}

/** Makes the event by which staff try out a webhook. It is not stored, and looks like one of a trial customer. */
export function testEvent(at: Instant): Recorded<ConnectionEvent> {
  const key = { environment: "trial", cuid: "test", service: "internet", reqId: "test" } as const;
  const state = { blocked: false, subscriptions: [] };
  return { seq: TEST_SEQ, kind: "test", at, key, state, topUp: undefined, partner: undefined };
}

/**
 * Name of the events that are sent in order: those of a connection, whose name omits the customer to whom it may move, or
 * alerts of a kind about a partner.
 */
export function sequenceOf(event: RecordedEvent): string {
  if ("alert" in event) {
    const { kind, environment, partnerId, limit } = event.alert;
    return JSON.stringify([kind, environment, partnerId, limit]);
  }
  const { environment, service, reqId } = event.key;
  return JSON.stringify([environment, service, reqId]);
}

function toEventSubscription({ plan, bouquet, start, end, goodwillDays }: Subscription): EventSubscription {
  return { plan, bouquetId: bouquet.code, name: bouquet.name, addOn: bouquet.addOn, start, end, goodwillDays };
}

/**
 * An event as webhooks and the feed send it. Amounts are decimals with all digits of the currency; instants are ISO
 * 8601.
 */
export interface EventMessage<Data = ReturnType<typeof connectionData> | ReturnType<typeof alertData>> {
  readonly id: string;
  readonly type: EventKind;
  readonly timestamp: string;
  readonly data: Data;
}
export type ConnectionMessage = EventMessage<ReturnType<typeof connectionData>>;

/** Renders an event. The result is always the same while the rules of the zone stay the same. */
export function eventMessage(event: RecordedEvent, zone: Zone, exponent: CurrencyExponent): EventMessage {
  const { at } = event;
  const data = "alert" in event ? alertData(event, exponent) : connectionData(event, zone, exponent);
  return { id: eventId(event), type: event.kind, timestamp: isoTime(at), data };
}

function alertData({ alert, partner = "" }: Recorded<AlertEvent>, exponent: CurrencyExponent) {
  const { environment, limit } = alert;
  return { environment, partner, ...(limit !== undefined && { limit }), ...lowAmounts(alert, exponent) };
}

function connectionData(event: Recorded<ConnectionEvent>, zone: Zone, exponent: CurrencyExponent) {
  const { key, state, topUp, partner, repeated } = event;
  const { environment, cuid, service, reqId } = key;
  const subscriptions = state.subscriptions.map((each) => ({
    ...each,
    startAt: isoTimeOrNull(instantOf(each.start, zone)),
    endAt: isoTimeOrNull(instantOf(each.end, zone)),
  }));
  const connection = { service, reqId, blocked: state.blocked };
  const data = { environment, cuid, connection, subscriptions, ...(repeated && { repeated }) };
  const sold = topUp && {
    txnId: topUp.txnId,
    checkoutId: topUp.checkoutId,
    partner: partner ?? "",
    bouquetId: topUp.bouquetCode,
    amount: formatMoneyInFull(topUp.amount, exponent),
    commission: formatMoneyInFull(topUp.commission, exponent),
  };
  return sold === undefined ? data : { ...data, topUp: sold };
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
