import type { RetiredCheckout } from "../domain/checkout.ts";
import type { BareConnection, ConnectionKey, CustomerProfile, NewEntry } from "../domain/customer.ts";
import { type Entry, type Event, isGrant, type LedgerHead } from "../domain/ledger.ts";
import { foldName } from "../domain/names.ts";
import type { Sale } from "../domain/sale.ts";
import type { BouquetLabel, Subscription } from "../domain/subscription.ts";
import type { Transaction } from "../domain/transaction.ts";
import type { FoundConnection } from "./store.ts";
import { omit } from "./table.ts";
import { type RawRow, TABLES, type TopUpRow } from "./tables.ts";

/* Conversion between rows of hand-written SQL and the domain's objects. */

export type ProfileRow = Pick<RawRow<"customer">, "cuid" | "first_name" | "last_name" | "mobile" | "status">;

export function toProfile(row: ProfileRow & Pick<RawRow<"customer">, "area">): CustomerProfile {
  const { cuid, first_name: firstName, last_name: lastName, mobile, status, area } = row;
  return { cuid, firstName, lastName, mobile: mobile ?? undefined, status, area: area ?? undefined };
}

export const CONNECTION_STATE = ["status", "blocked", "segment"] as const;

export type BareConnectionRow = Pick<RawRow<"connection">, "service" | "req_id" | (typeof CONNECTION_STATE)[number]>;

export function toBareConnection(row: BareConnectionRow): BareConnection {
  const { service, req_id: reqId, status, blocked, segment } = row;
  return { service, reqId, status, blocked: blocked === 1, segment: segment ?? undefined };
}

/** The row of a connection. @param position its place among the customer's connections. */
export function connectionRow(key: ConnectionKey, connection: BareConnection, position: number): RawRow<"connection"> {
  const { status, blocked, segment = null } = connection;
  return { ...keyColumns(key), name_key: foldName(key.reqId), position, status, blocked: flag(blocked), segment };
}

/** One row for each ledger of a connection; one row with null columns if there is no ledger. */
export type ConnectionRows = RawRow<"connection"> &
  (Omit<RawRow<"subscription">, keyof RawRow<"connection">> | { readonly plan: null });

/** The same with columns of the customer. The connection's columns are null if the customer has no such connection. */
export type CustomerConnectionRow = Omit<ProfileRow, "cuid" | "status"> & {
  readonly customer_status: RawRow<"customer">["status"];
} & (ConnectionRows | { readonly req_id: null });

export function toFoundConnection(cuid: string, rows: readonly CustomerConnectionRow[]): FoundConnection | undefined {
  const [first] = rows;
  if (first === undefined) return undefined;
  const { first_name: firstName, last_name: lastName, mobile, customer_status } = first;
  const profile = { cuid, firstName, lastName, mobile: mobile ?? undefined, status: customer_status };
  if (first.req_id === null) return { profile, connection: undefined };
  const ledgers: LedgerHead[] = [];
  for (const row of rows) if (row.req_id !== null && row.plan !== null) ledgers.push(toHead(row));
  const { service, req_id: reqId, status, blocked, segment } = first;
  const connection = { service, reqId, status, blocked: blocked === 1, segment: segment ?? undefined, ledgers };
  return { profile, connection };
}

export const CONNECTION_KEY = TABLES.connection.key;
export const LEDGER_KEY = TABLES.subscription.key;

export function toHead(row: RawRow<"subscription">): LedgerHead {
  const subscription = row.code === null ? undefined : toSubscription(row as Filled<RawRow<"subscription">>);
  return { plan: row.plan, seq: row.seq, subscription };
}

type Filled<Row> = { [Column in keyof Row]: NonNullable<Row[Column]> };

function toSubscription(row: Filled<RawRow<"subscription">>): Subscription {
  const { plan, start_time: start, anchor_time: anchor, end_time: end, months, days, since } = row;
  const counted = { anchor, months, days, isInclusive: row.inclusive === 1, goodwillDays: row.goodwill_days };
  return { plan, bouquet: toLabel(row), start, ...counted, end, since };
}

/** The columns of a subscription row without its key, each with the column of the last entry that gives its value. */
export const HEAD_FROM_ENTRY = {
  seq: "seq",
  code: "after_code",
  name: "after_name",
  add_on: "after_add_on",
  start_time: "after_start",
  anchor_time: "after_anchor",
  months: "after_months",
  days: "after_days",
  inclusive: "after_inclusive",
  end_time: "after_end",
  since: "after_since",
  goodwill_days: "after_goodwill_days",
} as const satisfies Partial<Record<keyof RawRow<"subscription">, keyof RawRow<"ledger_entry">>>;

export const HEAD_COLUMNS = Object.keys(HEAD_FROM_ENTRY) as readonly (keyof typeof HEAD_FROM_ENTRY)[];

/** The subscription row after an entry. */
export function headRow(entry: RawRow<"ledger_entry">): RawRow<"subscription"> {
  const state = HEAD_COLUMNS.map((column) => [column, entry[HEAD_FROM_ENTRY[column]]]);
  const { cuid, environment, service, req_id, plan } = entry;
  return { cuid, environment, service, req_id, plan, ...Object.fromEntries(state) };
}

/** The columns of a top-up's entry. Its other columns are null, or follow from these. */
export const TOP_UP_ENTRY = omit(TABLES.ledger_entry.columns, [
  ...(["kind", "reverses", "author", "reason"] as const),
  ...(["as_of", "as_of_wall", "goodwill", "stated_start", "stated_end", "unit", "run_since"] as const),
  ...(["after_code", "after_name", "after_add_on"] as const),
]);

/** The row of an entry. It is one literal because top-ups wait for it: an assembled object takes ten times as long. */
// biome-ignore lint/complexity/noExcessiveCognitiveComplexity: its branches are the defaults of columns
export function entryRow({ key, plan, entry }: NewEntry): RawRow<"ledger_entry"> {
  const { seq, kind, at, after } = entry;
  const granted = isGrant(entry) ? entry : undefined;
  const reasoned = entry.kind === "goodwill" || entry.kind === "reversal" ? entry : undefined;
  const imported = entry.kind === "import" ? entry : undefined;
  const label = granted?.bouquet ?? imported?.stated?.bouquet;
  return {
    cuid: key.cuid,
    environment: key.environment,
    service: key.service,
    req_id: key.reqId,
    plan,
    seq,
    kind,
    at: at.instant,
    wall: at.wall,
    code: label?.code ?? null,
    name: label?.name ?? null,
    add_on: label === undefined ? null : flag(label.addOn),
    months: granted?.period.months ?? null,
    days: granted?.period.days ?? null,
    txn_id: entry.kind === "top_up" ? entry.txnId : null,
    reverses: entry.kind === "reversal" ? entry.of : null,
    author: reasoned?.author ?? null,
    reason: reasoned?.reason ?? null,
    as_of: imported?.asOf.instant ?? null,
    as_of_wall: imported?.asOf.wall ?? null,
    goodwill: imported?.goodwill ?? null,
    stated_start: imported?.stated?.start ?? null,
    stated_end: imported?.stated?.end ?? null,
    unit: imported?.stated?.unit ?? null,
    run_since: imported?.since ?? null,
    after_code: after?.bouquet.code ?? null,
    after_name: after?.bouquet.name ?? null,
    after_add_on: after === undefined ? null : flag(after.bouquet.addOn),
    after_start: after?.start ?? null,
    after_anchor: after?.anchor ?? null,
    after_months: after?.months ?? null,
    after_days: after?.days ?? null,
    after_inclusive: after === undefined ? null : flag(after.isInclusive),
    after_end: after?.end ?? null,
    after_since: after?.since ?? null,
    after_goodwill_days: after?.goodwillDays ?? null,
  };
}

export function toEntry(row: RawRow<"ledger_entry">): Entry {
  const { seq, plan } = row;
  const after = row.after_code === null ? undefined : toAfter(row as Filled<RawRow<"ledger_entry">>);
  return {
    ...toEvent(row as Filled<RawRow<"ledger_entry">>, plan),
    seq,
    at: { instant: row.at, wall: row.wall },
    after,
  };
}

function toEvent(row: Filled<RawRow<"ledger_entry">>, plan: string): Event {
  const { kind, months, days, author, reason } = row;
  switch (kind) {
    case "top_up":
      return { kind, txnId: row.txn_id, bouquet: toLabel(row), period: { months, days } };
    case "goodwill":
      return { kind, bouquet: toLabel(row), period: { months, days }, author, reason };
    case "reversal":
      return { kind, of: row.reverses, author, reason };
    case "import": {
      const asOf = { instant: row.as_of, wall: row.as_of_wall };
      const stated = { plan, bouquet: toLabel(row), start: row.stated_start, end: row.stated_end, unit: row.unit };
      const { run_since: since, goodwill } = row;
      return { kind, asOf, stated: row.code === null ? undefined : stated, since, goodwill };
    }
  }
}

function toAfter(row: Filled<RawRow<"ledger_entry">>): Subscription {
  const bouquet = { code: row.after_code, name: row.after_name, addOn: row.after_add_on === 1 };
  const { plan, after_start: start, after_anchor: anchor, after_end: end, after_since: since } = row;
  const counted = { months: row.after_months, days: row.after_days, isInclusive: row.after_inclusive === 1 };
  return { plan, bouquet, start, anchor, ...counted, end, since, goodwillDays: row.after_goodwill_days };
}

function toLabel({ code, name, add_on }: { code: string; name: string; add_on: 0 | 1 }): BouquetLabel {
  return { code, name, addOn: add_on === 1 };
}

export function flag(value: boolean): 0 | 1 {
  return value ? 1 : 0;
}

export function toTransaction(row: RawRow<"top_up">): Transaction {
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
    commission: BigInt(row.commission),
    at: row.at,
    txnDate: row.txn_date,
    status: row.status,
    udf1: row.udf1 ?? undefined,
    udf2: row.udf2 ?? undefined,
  };
}

/** The row of a recorded top-up. */
export function topUpRow(of: Transaction): RawRow<"top_up"> {
  return {
    checkout_id: of.checkoutId,
    txn_id: of.txnId,
    partner_id: of.partnerId,
    environment: of.environment,
    cuid: of.cuid,
    service: of.service,
    req_id: of.reqId,
    bouquet_code: of.bouquetCode,
    amount: Number(of.amount),
    commission: Number(of.commission),
    at: of.at,
    txn_date: of.txnDate,
    status: of.status,
    udf1: of.udf1 ?? null,
    udf2: of.udf2 ?? null,
  };
}

/** The row of a recorded sale. */
export function saleRow({ txnId, partnerId, environment }: Transaction, { seller, method }: Sale): RawRow<"sale"> {
  return { txn_id: txnId, partner_id: partnerId, environment, seller, method, shift_id: null, returned_shift: null };
}

/** The transaction of a row whose columns are in camel case. */
export function transactionOfRow({ amount, commission, udf1, udf2, ...row }: TopUpRow): Transaction {
  const money = { amount: BigInt(amount), commission: BigInt(commission) };
  return { ...row, ...money, udf1: udf1 ?? undefined, udf2: udf2 ?? undefined };
}

export function toRetired({ at: retiredAt, ...row }: RawRow<"retired_checkout">): RetiredCheckout {
  if (row.reason === null) return { retiredAt, refused: undefined };
  const { partner_id: partnerId, environment, reason, amount } = row as Filled<typeof row>;
  const limit = row.limit_name ?? undefined;
  return { retiredAt, refused: { partnerId, environment, reason, limit, amount: BigInt(amount) } };
}

export function retiredRow(checkoutId: string, { retiredAt, refused }: RetiredCheckout): RawRow<"retired_checkout"> {
  return {
    checkout_id: checkoutId,
    at: retiredAt,
    partner_id: refused?.partnerId ?? null,
    environment: refused?.environment ?? null,
    reason: refused?.reason ?? null,
    limit_name: refused?.limit ?? null,
    amount: refused === undefined ? null : Number(refused.amount),
  };
}

export function keyColumns({ cuid, environment, service, reqId }: ConnectionKey) {
  return { cuid, environment, service, req_id: reqId };
}
