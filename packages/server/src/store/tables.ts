import type { LimitName, RefusedCharge, StaffEntryKind } from "../domain/account.ts";
import type { Service } from "../domain/bouquet.ts";
import type { ConnectionStatus, Environment, WireStatus } from "../domain/customer.ts";
import type { Event, GoodwillReading } from "../domain/ledger.ts";
import type { SaleMethod } from "../domain/sale.ts";
import type { StatedSubscription } from "../domain/subscription.ts";
import type { TransactionStatus } from "../domain/transaction.ts";
import { STAFF_TABLES } from "./staff-tables.ts";
import {
  ACCOUNT,
  ACT,
  blob,
  type Camel,
  CONNECTION,
  CUSTOMER,
  flag,
  LEDGER,
  namesOf,
  number,
  ONLY_ROW,
  orNull,
  type RawRowOf,
  type RowOf,
  table,
  text,
} from "./table.ts";

/*
 * The tables of both engines, which are also what is copied and backed up. The migrations say what each column means. No row
 * refers to a row of a later table.
 */

export const TABLES = {
  provider: table(ONLY_ROW, { time_zone: text(), currency_exponent: number(), default_country: orNull(text()) }),
  retention: table(ONLY_ROW, { pruned_before: number() }),
  checkout_secret: table({ id: number() }, { key: blob(), created_at: number() }),
  partner: table(
    { id: number() },
    {
      name: text(),
      status: text<"active" | "suspended">(),
      created_at: number(),
      allowed_addresses: orNull(text()),
      certified_at: orNull(number()),
      certificate: orNull(text()),
      limits: orNull(text()),
      commission: orNull(text()),
      legal: orNull(text()),
    },
  ),
  access_token: table(
    { hash: blob() },
    {
      id: text(),
      ...ACCOUNT,
      created_at: number(),
      expires_at: orNull(number()),
      revoked_at: orNull(number()),
      replaced_by: orNull(text()),
    },
  ),
  access_token_use: table({ token_id: text() }, { last_used_at: number() }),
  catalogue_revision: table(
    { revision: number() },
    { environment: text<Environment>(), created_at: number(), in_force_at: orNull(number()) },
  ),
  bouquet: table(
    { revision: number(), position: number() },
    {
      service: text<Service>(),
      code: text(),
      name: text(),
      price: number(),
      segments: text(),
      plan: text(),
      add_on: flag(),
      months: number(),
      days: number(),
    },
  ),
  customer: table(CUSTOMER, {
    first_name: text(),
    last_name: text(),
    mobile: orNull(text()),
    mobile_e164: orNull(text()),
    status: text<WireStatus>(),
    area: orNull(text()),
    as_of: orNull(number()),
  }),
  customer_code: table({ code: text(), environment: text<Environment>(), cuid: text() }),
  customer_term: table({ environment: text<Environment>(), term: text(), cuid: text() }),
  connection: table(CONNECTION, {
    name_key: text(),
    position: number(),
    status: text<ConnectionStatus>(),
    blocked: flag(),
    segment: orNull(text()),
  }),
  former_connection: table({ environment: text<Environment>(), req_id: text(), cuid: text() }),
  subscription: table(LEDGER, {
    seq: number(),
    code: orNull(text()),
    name: orNull(text()),
    add_on: orNull(flag()),
    start_time: orNull(text()),
    anchor_time: orNull(text()),
    months: orNull(number()),
    days: orNull(number()),
    inclusive: orNull(flag()),
    end_time: orNull(text()),
    since: orNull(number()),
    goodwill_days: orNull(number()),
  }),
  ledger_entry: table(
    { ...LEDGER, seq: number() },
    {
      kind: text<Event["kind"]>(),
      at: number(),
      wall: text(),
      code: orNull(text()),
      name: orNull(text()),
      add_on: orNull(flag()),
      months: orNull(number()),
      days: orNull(number()),
      txn_id: orNull(text()),
      reverses: orNull(number()),
      author: orNull(text()),
      reason: orNull(text()),
      as_of: orNull(number()),
      as_of_wall: orNull(text()),
      goodwill: orNull(text<GoodwillReading>()),
      stated_start: orNull(text()),
      stated_end: orNull(text()),
      unit: orNull(text<StatedSubscription["unit"]>()),
      run_since: orNull(number()),
      after_code: orNull(text()),
      after_name: orNull(text()),
      after_add_on: orNull(flag()),
      after_start: orNull(text()),
      after_anchor: orNull(text()),
      after_months: orNull(number()),
      after_days: orNull(number()),
      after_inclusive: orNull(flag()),
      after_end: orNull(text()),
      after_since: orNull(number()),
      after_goodwill_days: orNull(number()),
    },
  ),
  top_up: table(
    { checkout_id: text() },
    {
      txn_id: text(),
      partner_id: number(),
      ...CONNECTION,
      bouquet_code: text(),
      amount: number(),
      commission: number(),
      at: number(),
      txn_date: text(),
      status: text<TransactionStatus>(),
      udf1: orNull(text()),
      udf2: orNull(text()),
    },
  ),
  reversal: table({ txn_id: text() }, { ...ACCOUNT, ...ACT }),
  connection_block: table(CONNECTION, ACT),
  customer_note: table({ ...CUSTOMER, seq: number() }, { at: number(), wall: text(), author: text(), note: text() }),
  retired_checkout: table(
    { checkout_id: text() },
    {
      at: number(),
      partner_id: orNull(number()),
      environment: orNull(text<Environment>()),
      reason: orNull(text<RefusedCharge["refusal"]>()),
      limit_name: orNull(text<LimitName>()),
      amount: orNull(number()),
    },
  ),
  account: table(ACCOUNT, {
    credit_limit: orNull(number()),
    alert_below: orNull(number()),
    balance: orNull(number()),
  }),
  account_entry: table({ ...ACCOUNT, reference: text() }, { kind: text<StaffEntryKind>(), amount: number(), ...ACT }),
  sales_day: table(
    {
      ...ACCOUNT,
      day: text(),
      service: text<Service>(),
      bouquet_code: text(),
      amount: number(),
      sold_on: text(),
      lane: number(),
    },
    { top_ups: number(), commission: number(), reversals: number(), returned: number() },
  ),
  tax: table({ service: text<Service>(), name: text(), from_day: text() }, { share: number() }),
  shift: table(
    { id: number() },
    {
      ...ACCOUNT,
      seller: text(),
      opened_at: number(),
      opening: number(),
      closed_at: orNull(number()),
      counted: orNull(number()),
      expected: orNull(number()),
      cash_rows: orNull(number()),
      note: orNull(text()),
    },
  ),
  sale: table(
    { txn_id: text() },
    {
      ...ACCOUNT,
      seller: text(),
      method: text<SaleMethod>(),
      shift_id: orNull(number()),
      returned_shift: orNull(number()),
    },
  ),
  ...STAFF_TABLES,
};

export type TableName = keyof typeof TABLES;
export type ColumnsOf<Name extends TableName> = (typeof TABLES)[Name]["columns"];

export const TABLE_NAMES = Object.keys(TABLES) as readonly TableName[];

export function columnsOf<Name extends TableName>(name: Name): readonly (keyof ColumnsOf<Name> & string)[] {
  return namesOf(TABLES[name].columns as ColumnsOf<Name>);
}

/** The tables with the names that Kysely's plugin gives them: `topUp.txnId` is `top_up.txn_id`. */
export type Tables = { [Name in TableName as Camel<Name>]: RowOf<ColumnsOf<Name>> };
/** The tables with the names of the database, for hand-written SQL. */
export type RawTables = { [Name in TableName]: RawRowOf<ColumnsOf<Name>> };
export type RawRow<Name extends TableName> = RawTables[Name];
/** A row of sales without the lane, which the engine chooses. */
export type SaleRow = Omit<RawRow<"sales_day">, "lane">;
/** The columns of the primary key. */
export type KeyOf<Name extends TableName> = Pick<
  RawRow<Name>,
  (typeof TABLES)[Name]["key"][number] & keyof RawRow<Name>
>;

type Row<Name extends TableName> = RowOf<ColumnsOf<Name>>;

export type ProviderRow = Row<"provider">;
export type PartnerRow = Row<"partner">;
export type AccessTokenRow = Row<"access_token">;
export type BouquetRow = Row<"bouquet">;
export type CustomerRow = Row<"customer">;
export type CustomerTermRow = Row<"customer_term">;
export type TopUpRow = Row<"top_up">;
export type ShiftRow = Row<"shift">;
export type AuditEntryRow = Row<"audit_entry">;
export type TargetRow = Row<"target">;
export type EventRow = Row<"event">;
export type DeliveryRow = Row<"delivery">;
export type ServiceStepRow = Row<"service_step">;
export type DueRow = Row<"due">;
export type ToldRow = Row<"told">;
export type DeliveryLogRow = Row<"delivery_log">;
export type SessionDueRow = Row<"session_due">;
export type AlertRow = Row<"alert">;
export type StaffRow = Row<"staff">;
export type StaffSessionRow = Row<"staff_session">;
export type StaffKeyRow = Row<"staff_key">;
export type ApprovalRow = Row<"approval">;
export type ImportRunRow = Row<"import_run">;
export type HeldBackRow = Row<"held_back">;
export type BulkRunRow = Row<"bulk_run">;
export type BulkLineRow = Row<"bulk_line">;
