import type { Bouquet, Service } from "../../domain/bouquet.ts";
import type { Instant } from "../../domain/calendar.ts";
import type { Connection, ConnectionStatus, CustomerProfile, Environment, WireStatus } from "../../domain/customer.ts";
import type { StatedReversal } from "../../domain/history-row.ts";
import type { Grant, Subscription } from "../../domain/subscription.ts";
import type { Transaction, TransactionStatus } from "../../domain/top-up.ts";

/*
 * Rows as every store has them, and what they are in the domain's terms. The columns have the same names
 * everywhere; a flag is what the database makes of it.
 */

type Flag = boolean | 0 | 1;

export interface CustomerRow {
  cuid: string;
  first_name: string;
  last_name: string;
  mobile: string | null;
  status: WireStatus;
}

export interface ConnectionRow {
  service: Service;
  req_id: string;
  status: ConnectionStatus;
  topped_up: Flag;
  segment: string | null;
  blocked: Flag;
}

export interface SubscriptionRow {
  plan: string;
  code: string;
  name: string;
  add_on: Flag;
  start_at: number;
  end_at: number;
  months: number;
  days: number;
  seconds: number;
  /** Not of top-ups only: all that was granted here, goodwill too, and that the provider's records do not hold yet. */
  topped_up_months: number;
  topped_up_days: number;
  goodwill_days: number;
  granted_end_at: number | null;
}

/** The columns of a subscription beside its key: {@link subscriptionColumns} gives their values in this order. */
export const SUBSCRIPTION_COLUMNS = [
  ...(["code", "name", "add_on", "start_at", "end_at", "months", "days", "seconds"] as const),
  ...(["topped_up_months", "topped_up_days", "goodwill_days", "granted_end_at"] as const),
] satisfies readonly (keyof SubscriptionRow)[];

/** Which columns are filled depends on the kind; the schema's checks say how. */
export interface GrantRow {
  /** Goodwill of a negative number of days takes days back. */
  kind: Exclude<Grant["kind"], "take_back">;
  at: number;
  code: string;
  name: string;
  add_on: Flag;
  start_at: number;
  months: number;
  days: number;
  seconds: number;
  on_top_months: number;
  on_top_days: number;
  checkout_id: string;
  granted_end_at: number | null;
  goodwill_days: number | null;
}

/** The columns of a grant: {@link toGrant} needs every one, and {@link grantColumns} gives their values in this order. */
export const GRANT_COLUMNS = [
  ...(["kind", "at", "code", "name", "add_on", "start_at", "months", "days", "seconds"] as const),
  ...(["on_top_months", "on_top_days", "checkout_id", "granted_end_at", "goodwill_days"] as const),
] satisfies readonly (keyof GrantRow)[];

/** Columns of one table of a query. */
export function qualified(alias: string, columns: readonly string[]): string {
  return columns.map((column) => `${alias}.${column}`).join(", ");
}

export interface BouquetRow {
  service: Service;
  code: string;
  name: string;
  price: number;
  /** A JSON list. */
  segments: string;
  plan: string;
  add_on: Flag;
  months: number;
  days: number;
}

export interface TopUpRow {
  checkout_id: string;
  txn_id: string;
  partner_id: number;
  environment: Environment;
  cuid: string;
  service: Service;
  req_id: string;
  bouquet_code: string;
  amount: number;
  at: Instant;
  status: TransactionStatus;
  udf1: string | null;
  udf2: string | null;
  imported: Flag;
}

export function toProfile(row: CustomerRow): CustomerProfile {
  return {
    cuid: row.cuid,
    firstName: row.first_name,
    lastName: row.last_name,
    mobile: row.mobile ?? undefined,
    status: row.status,
  };
}

/** @param subscriptions in any order: partners see base subscriptions first, and of each kind the oldest. */
export function toConnection(row: ConnectionRow, subscriptions: readonly Subscription[]): Connection {
  return {
    service: row.service,
    reqId: row.req_id,
    status: row.status,
    blocked: Boolean(row.blocked),
    toppedUp: Boolean(row.topped_up),
    segment: row.segment ?? undefined,
    subscriptions: subscriptions.length < 2 ? subscriptions : subscriptions.toSorted(compareSubscriptions),
  };
}

function compareSubscriptions(a: Subscription, b: Subscription): number {
  if (a.bouquet.addOn !== b.bouquet.addOn) return a.bouquet.addOn ? 1 : -1;
  return a.start - b.start || (a.plan < b.plan ? -1 : 1);
}

export function toSubscription(row: SubscriptionRow): Subscription {
  return {
    plan: row.plan,
    bouquet: { code: row.code, name: row.name, addOn: Boolean(row.add_on) },
    start: row.start_at,
    end: row.end_at,
    span: { months: row.months, days: row.days, seconds: row.seconds },
    onTop: { months: row.topped_up_months, days: row.topped_up_days },
    goodwillDays: row.goodwill_days,
    grantedEnd: row.granted_end_at ?? undefined,
  };
}

export function toGrant(row: GrantRow): Grant {
  const { kind, at, start_at: start, months, days, seconds } = row;
  if (kind === "withdrawal") return { kind, at };
  if (kind === "reversal") return { kind, at, checkoutId: row.checkout_id };
  const bouquet = { code: row.code, name: row.name, addOn: Boolean(row.add_on) };
  if (kind === "top_up") return { kind, at, bouquet, period: { months, days }, checkoutId: row.checkout_id };
  if (kind === "goodwill" && days < 0) return { kind: "take_back", at, bouquet, days: -days };
  if (kind === "goodwill") return { kind, at, bouquet, period: { months, days } };
  const onTop = { months: row.on_top_months, days: row.on_top_days };
  const [grantedEnd, goodwillDays] = [row.granted_end_at ?? undefined, row.goodwill_days ?? undefined];
  return { kind, at, bouquet, start, span: { months, days, seconds }, onTop, grantedEnd, goodwillDays };
}

export function toBouquet(row: BouquetRow): Bouquet {
  return {
    service: row.service,
    code: row.code,
    name: row.name,
    price: BigInt(row.price),
    segments: JSON.parse(row.segments) as string[],
    plan: row.plan,
    addOn: Boolean(row.add_on),
    period: { months: row.months, days: row.days },
  };
}

export function toTransaction(row: TopUpRow): Transaction {
  return {
    checkoutId: row.checkout_id,
    txnId: row.txn_id,
    partnerId: row.partner_id,
    environment: row.environment,
    cuid: row.cuid,
    service: row.service,
    reqId: row.req_id,
    bouquetCode: row.bouquet_code,
    amount: BigInt(row.amount),
    at: row.at,
    status: row.status,
    udf1: row.udf1 ?? undefined,
    udf2: row.udf2 ?? undefined,
    ...(row.imported ? { imported: true } : {}),
  };
}

/** The row that the values of {@link TOP_UP_COLUMNS} make. */
export function topUpRow(values: readonly unknown[]): TopUpRow {
  return {
    checkout_id: values[0],
    txn_id: values[1],
    partner_id: values[2],
    environment: values[3],
    cuid: values[4],
    service: values[5],
    req_id: values[6],
    bouquet_code: values[7],
    amount: values[8],
    at: values[9],
    status: values[10],
    udf1: values[11],
    udf2: values[12],
    imported: values[13],
  } satisfies Record<keyof TopUpRow, unknown> as TopUpRow;
}

type Value = string | number | null;

const NOTHING_ELSE = [null, null, null, null, null, null, null, null, null] as const;

/** The values of {@link GRANT_COLUMNS}. */
export function grantColumns(grant: Grant): Value[] {
  const { kind, at } = grant;
  if (kind === "withdrawal") return [kind, at, ...NOTHING_ELSE, null, null, null];
  if (kind === "reversal") return [kind, at, ...NOTHING_ELSE, grant.checkoutId, null, null];
  const { code, name, addOn } = grant.bouquet;
  const flag = addOn ? 1 : 0;
  const label = [at, code, name, flag];
  if (kind === "take_back") return ["goodwill", ...label, null, 0, -grant.days, 0, null, null, null, null, null];
  if (kind === "statement") {
    const { start, span, onTop, grantedEnd, goodwillDays } = grant;
    const run = [start, span.months, span.days, span.seconds, onTop.months, onTop.days];
    return [kind, ...label, ...run, null, grantedEnd ?? null, goodwillDays ?? null];
  }
  const checkoutId = kind === "top_up" ? grant.checkoutId : null;
  const { months, days } = grant.period;
  return [kind, ...label, null, months, days, 0, null, null, checkoutId, null, null];
}

/** The values of {@link SUBSCRIPTION_COLUMNS}. */
export function subscriptionColumns(subscription: Subscription): Value[] {
  const { bouquet, start, end, span, onTop, goodwillDays, grantedEnd } = subscription;
  const label = [bouquet.code, bouquet.name, bouquet.addOn ? 1 : 0];
  const run = [start, end, span.months, span.days, span.seconds];
  return [...label, ...run, onTop.months, onTop.days, goodwillDays, grantedEnd ?? null];
}

export const TOP_UP_COLUMNS = `checkout_id, txn_id, partner_id, environment, cuid, service, req_id,
  bouquet_code, amount, at, status, udf1, udf2, imported`;

/** The values of {@link TOP_UP_COLUMNS}. */
export function topUpColumns(transaction: Transaction): Value[] {
  const { checkoutId, txnId, partnerId, environment, cuid, service, reqId } = transaction;
  const { bouquetCode, amount, at, status, udf1, udf2, imported } = transaction;
  const where = [environment, cuid, service, reqId];
  const what = [bouquetCode, Number(amount), at, status, udf1 ?? null, udf2 ?? null, imported === true ? 1 : 0];
  return [checkoutId, txnId, partnerId, ...where, ...what];
}

export const REVERSAL_COLUMNS = `checkout_id, txn_id, partner_id, environment, service, bouquet_code, amount,
  at, author, reason`;

/** The values of {@link REVERSAL_COLUMNS}. */
export function reversalColumns(transaction: Transaction, { at, author, reason }: StatedReversal): Value[] {
  const { checkoutId, txnId, partnerId, environment, service, bouquetCode, amount } = transaction;
  return [checkoutId, txnId, partnerId, environment, service, bouquetCode, Number(amount), at, author, reason];
}

/** Of the bouquets, those that are not known just as they are. */
export function unknownAmong(bouquets: readonly Bouquet[], known: readonly Bouquet[]): Bouquet[] {
  const texts = new Set(known.map(bouquetText));
  return bouquets.filter((bouquet) => !texts.has(bouquetText(bouquet)));
}

function bouquetText(bouquet: Bouquet): string {
  return JSON.stringify(bouquetColumns(bouquet));
}

/** service, code, name, price, segments, plan, add_on, months, days */
export function bouquetColumns(bouquet: Bouquet): Value[] {
  const { service, code, name, price, segments, plan, addOn, period } = bouquet;
  return [
    service,
    code,
    name,
    Number(price),
    JSON.stringify(segments),
    plan,
    addOn ? 1 : 0,
    period.months,
    period.days,
  ];
}
