import type { StaffEntryKind } from "../domain/account.ts";
import type { Service } from "../domain/bouquet.ts";
import type { ConnectionStatus, Environment, WireStatus } from "../domain/customer.ts";
import type { Event, GoodwillReading } from "../domain/ledger.ts";
import type { StatedSubscription } from "../domain/subscription.ts";
import type { TransactionStatus } from "../domain/transaction.ts";
import type { Instant, WallTime } from "../domain/wall-time.ts";
import type { StaffTables } from "./staff-tables.ts";
import type { AlertRow, DeliveryLogRow, DeliveryRow, EventRow, TargetRow } from "./target-tables.ts";

/*
 * The tables of both engines, with the names that Kysely's plugin gives them (`topUp.txnId` is `top_up.txn_id`). A flag is
 * 0 or 1, an instant a number of milliseconds since 1970, an amount a number of minor units, a list a JSON text. The schema
 * says what each column means.
 */

type Flag = 0 | 1;

export interface ProviderRow {
  onlyRow: 1;
  timeZone: string;
  currencyExponent: number;
  defaultCountry: string | null;
}

export interface CheckoutSecretRow {
  id: number;
  key: Uint8Array;
  createdAt: Instant;
}

export interface PartnerRow {
  id: number;
  name: string;
  status: "active" | "suspended";
  createdAt: Instant;
  /** A JSON list of CIDR ranges; null if requests may come from anywhere. */
  allowedAddresses: string | null;
  certifiedAt: Instant | null;
  limits: string | null;
  /** A JSON list. */
  commission: string | null;
}

export interface AccountRow {
  partnerId: number;
  environment: Environment;
  creditLimit: number | null;
  alertBelow: number | null;
  balance: number | null;
  day: string;
  dayTopUps: number;
  dayAmount: number;
}

export interface AccountEntryRow {
  partnerId: number;
  environment: Environment;
  reference: string;
  kind: StaffEntryKind;
  amount: number;
  reason: string;
  author: string;
  at: Instant;
  wall: WallTime;
}

export interface AccountDayRow {
  partnerId: number;
  environment: Environment;
  day: string;
  topUps: number;
  gross: number;
  commission: number;
  reversals: number;
  reversed: number;
  returned: number;
}

export interface AccessTokenRow {
  hash: Uint8Array;
  id: string;
  partnerId: number;
  environment: Environment;
  createdAt: Instant;
  expiresAt: Instant | null;
  revokedAt: Instant | null;
  replacedBy: string | null;
}

export interface BouquetRow {
  revision: number;
  position: number;
  service: Service;
  code: string;
  name: string;
  price: number;
  /** A JSON list. */
  segments: string;
  plan: string;
  addOn: Flag;
  months: number;
  days: number;
}

export interface CustomerRow {
  cuid: string;
  environment: Environment;
  firstName: string;
  lastName: string;
  mobile: string | null;
  mobileE164: string | null;
  status: WireStatus;
  asOf: Instant | null;
}

export interface CustomerCodeRow {
  code: string;
  environment: Environment;
  cuid: string;
}

export interface CustomerTermRow {
  environment: Environment;
  term: string;
  cuid: string;
}

export interface ConnectionRow {
  cuid: string;
  environment: Environment;
  service: Service;
  reqId: string;
  /** The `reqId`, folded by `foldName`. */
  nameKey: string;
  position: number;
  status: ConnectionStatus;
  blocked: Flag;
  segment: string | null;
}

/** The key of a ledger. */
interface LedgerKeyRow {
  cuid: string;
  environment: Environment;
  service: Service;
  reqId: string;
  plan: string;
}

/** The state of a ledger; all of it is null if the ledger has no subscription. */
export interface SubscriptionRow extends LedgerKeyRow {
  seq: number;
  code: string | null;
  name: string | null;
  addOn: Flag | null;
  startTime: WallTime | null;
  anchorTime: WallTime | null;
  months: number | null;
  days: number | null;
  endTime: WallTime | null;
  since: number | null;
  goodwillDays: number | null;
}

/** The kind says which columns have values. All `after...` columns are null if no subscription is left after the entry. */
export interface LedgerEntryRow extends LedgerKeyRow {
  seq: number;
  kind: Event["kind"];
  at: Instant;
  wall: WallTime;
  code: string | null;
  name: string | null;
  addOn: Flag | null;
  months: number | null;
  days: number | null;
  txnId: string | null;
  reverses: number | null;
  author: string | null;
  reason: string | null;
  asOf: Instant | null;
  asOfWall: WallTime | null;
  goodwill: GoodwillReading | null;
  statedStart: WallTime | null;
  statedEnd: WallTime | null;
  unit: StatedSubscription["unit"] | null;
  runSince: number | null;
  afterCode: string | null;
  afterName: string | null;
  afterAddOn: Flag | null;
  afterStart: WallTime | null;
  afterAnchor: WallTime | null;
  afterMonths: number | null;
  afterDays: number | null;
  afterEnd: WallTime | null;
  afterSince: number | null;
  afterGoodwillDays: number | null;
}

export interface TopUpRow {
  checkoutId: string;
  txnId: string;
  partnerId: number;
  environment: Environment;
  cuid: string;
  service: Service;
  reqId: string;
  bouquetCode: string;
  amount: number;
  commission: number;
  at: Instant;
  txnDate: WallTime;
  status: TransactionStatus;
  udf1: string | null;
  udf2: string | null;
}

export interface ReversalRow {
  txnId: string;
  at: Instant;
  wall: WallTime;
  author: string;
  reason: string;
}

export interface ConnectionBlockRow extends Omit<LedgerKeyRow, "plan"> {
  at: Instant;
  wall: WallTime;
  author: string;
  reason: string;
}

export interface AuditEntryRow {
  seq: number;
  at: Instant;
  author: string;
  action: string;
  subject: string;
  reason: string | null;
  before: string | null;
  after: string | null;
  hash: string;
}

/** All tables that are copied and backed up. */
export interface Tables extends StaffTables {
  provider: ProviderRow;
  checkoutSecret: CheckoutSecretRow;
  retention: { onlyRow: 1; prunedBefore: Instant };
  partner: PartnerRow;
  accessToken: AccessTokenRow;
  accessTokenUse: { tokenId: string; lastUsedAt: Instant };
  catalogueRevision: { revision: number; environment: Environment; createdAt: Instant };
  bouquet: BouquetRow;
  customer: CustomerRow;
  customerCode: CustomerCodeRow;
  customerTerm: CustomerTermRow;
  connection: ConnectionRow;
  subscription: SubscriptionRow;
  ledgerEntry: LedgerEntryRow;
  topUp: TopUpRow;
  reversal: ReversalRow;
  connectionBlock: ConnectionBlockRow;
  retiredCheckout: { checkoutId: string; at: Instant };
  account: AccountRow;
  accountEntry: AccountEntryRow;
  accountDay: AccountDayRow;
  auditEntry: AuditEntryRow;
  target: TargetRow;
  event: EventRow;
  alert: AlertRow;
  delivery: DeliveryRow;
  deliveryLog: DeliveryLogRow;
  lease: { name: string; holder: string; heldUntil: Instant };
  endsTold: { onlyRow: 1; toldUntil: WallTime };
  practiceCheckout: { checkoutId: string; calls: number; at: Instant; reverseAt: Instant | null };
  checkPassed: { onlyRow: 1; at: Instant };
  backupTaken: { onlyRow: 1; at: Instant };
}

/** A row with the column names of the database. Hand-written SQL reads and writes it. */
export type Raw<Row> = { [Column in keyof Row & string as Snake<Column>]: Row[Column] };

export type RawTables = { [Table in keyof Tables as Snake<Table>]: Raw<Tables[Table]> };

type Snake<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${Snake<Rest>}`
  : "";
