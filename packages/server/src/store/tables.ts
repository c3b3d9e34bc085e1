import type { Service } from "../domain/bouquet.ts";
import type { ConnectionStatus, Environment, WireStatus } from "../domain/customer.ts";
import type { EventKind } from "../domain/event.ts";
import type { Event, GoodwillReading } from "../domain/ledger.ts";
import type { StatedSubscription } from "../domain/subscription.ts";
import type { TransactionStatus } from "../domain/top-up.ts";
import type { Instant, WallTime } from "../domain/wall-time.ts";
import type {
  AttemptRow,
  HeldBackRow,
  ImportRunRow,
  LogInFailureRow,
  StaffAnswerRow,
  StaffKeyRow,
  StaffRow,
  StaffSessionRow,
} from "./staff-tables.ts";

/*
 * The tables, alike in both engines: a flag is 0 or 1, an instant a number of milliseconds since 1970, an amount a number
 * of minor units, a list a JSON text. What a column means is said in the schema.
 */

type Flag = 0 | 1;

export interface ProviderRow {
  only_row: 1;
  time_zone: string;
  currency_exponent: number;
  default_country: string | null;
}

export interface CheckoutSecretRow {
  id: number;
  key: Uint8Array;
  created_at: Instant;
}

export interface PartnerRow {
  id: number;
  name: string;
  status: "active" | "suspended";
  created_at: Instant;
  /** A JSON list of CIDR ranges; null where requests may come from anywhere. */
  allowed_addresses: string | null;
}

export interface AccessTokenRow {
  hash: Uint8Array;
  id: string;
  partner_id: number;
  environment: Environment;
  created_at: Instant;
  expires_at: Instant | null;
  revoked_at: Instant | null;
  replaced_by: string | null;
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
  add_on: Flag;
  months: number;
  days: number;
}

export interface CustomerRow {
  cuid: string;
  environment: Environment;
  first_name: string;
  last_name: string;
  mobile: string | null;
  mobile_e164: string | null;
  status: WireStatus;
  as_of: Instant | null;
}

export interface CustomerCodeRow {
  code: string;
  environment: Environment;
  cuid: string;
}

export interface ConnectionRow {
  cuid: string;
  environment: Environment;
  service: Service;
  req_id: string;
  /** Of `req_id`, by `foldName`. */
  name_key: string;
  position: number;
  status: ConnectionStatus;
  blocked: Flag;
  segment: string | null;
}

/** What names a ledger. */
interface LedgerKeyRow {
  cuid: string;
  environment: Environment;
  service: Service;
  req_id: string;
  plan: string;
}

/** The state of a ledger: all null where it comes to no subscription. */
export interface SubscriptionRow extends LedgerKeyRow {
  seq: number;
  code: string | null;
  name: string | null;
  add_on: Flag | null;
  start_time: WallTime | null;
  anchor_time: WallTime | null;
  months: number | null;
  days: number | null;
  end_time: WallTime | null;
  since: number | null;
  goodwill_days: number | null;
}

/** Which columns are filled depends on the kind; all that begin with `after_` are null where nothing is left after it. */
export interface LedgerEntryRow extends LedgerKeyRow {
  seq: number;
  kind: Event["kind"];
  at: Instant;
  wall: WallTime;
  code: string | null;
  name: string | null;
  add_on: Flag | null;
  months: number | null;
  days: number | null;
  txn_id: string | null;
  reverses: number | null;
  author: string | null;
  reason: string | null;
  as_of: Instant | null;
  as_of_wall: WallTime | null;
  goodwill: GoodwillReading | null;
  stated_start: WallTime | null;
  stated_end: WallTime | null;
  unit: StatedSubscription["unit"] | null;
  run_since: number | null;
  after_code: string | null;
  after_name: string | null;
  after_add_on: Flag | null;
  after_start: WallTime | null;
  after_anchor: WallTime | null;
  after_months: number | null;
  after_days: number | null;
  after_end: WallTime | null;
  after_since: number | null;
  after_goodwill_days: number | null;
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
  txn_date: WallTime;
  status: TransactionStatus;
  udf1: string | null;
  udf2: string | null;
}

export interface ReversalRow {
  txn_id: string;
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

export interface TargetRow {
  id: number;
  name: string;
  config: string;
  secrets: string;
  billing: Flag;
  paused: Flag;
  created_at: Instant;
  resent_at: Instant | null;
  place: number;
}

export interface EventRow {
  seq: number;
  kind: EventKind;
  at: Instant;
  environment: Environment;
  cuid: string;
  service: Service;
  req_id: string;
  partner_id: number | null;
  state: string;
}

export interface DeliveryRow {
  target_id: number;
  seq: number;
  attempts: number;
  failed_at: Instant | null;
  next_at: Instant;
  set_aside: Flag;
  problem: string | null;
}

/** All tables that hold what is copied and backed up, by their names. */
export interface Tables {
  provider: ProviderRow;
  checkout_secret: CheckoutSecretRow;
  retention: { only_row: 1; pruned_before: Instant };
  partner: PartnerRow;
  access_token: AccessTokenRow;
  access_token_use: { token_id: string; last_used_at: Instant };
  catalogue_revision: { revision: number; environment: Environment; created_at: Instant };
  bouquet: BouquetRow;
  customer: CustomerRow;
  customer_code: CustomerCodeRow;
  connection: ConnectionRow;
  subscription: SubscriptionRow;
  ledger_entry: LedgerEntryRow;
  top_up: TopUpRow;
  reversal: ReversalRow;
  connection_block: ConnectionBlockRow;
  retired_checkout: { checkout_id: string; at: Instant };
  audit_entry: AuditEntryRow;
  target: TargetRow;
  event: EventRow;
  delivery: DeliveryRow;
  lease: { name: string; holder: string; held_until: Instant };
  ends_told: { only_row: 1; told_until: WallTime };
  attempt: AttemptRow;
  staff: StaffRow;
  staff_session: StaffSessionRow;
  log_in_failure: LogInFailureRow;
  staff_key: StaffKeyRow;
  staff_answer: StaffAnswerRow;
  import_run: ImportRunRow;
  held_back: HeldBackRow;
  backup_taken: { only_row: 1; at: Instant };
}
