/*
 * What the staff API takes and answers, as the server's schemas have it (a test holds them against each other). Instants
 * are ISO 8601 in UTC; wall times are those of the provider's clock, `YYYY-MM-DD HH:MM:SS`; days are `YYYY-MM-DD`; amounts
 * are decimals in strings with all digits of the currency.
 */

export type Environment = "trial" | "production";
export type Service = "tv" | "internet" | "iptv";
export type Role = "viewer" | "support" | "finance" | "admin";
export type Permission = "read" | "correct" | "settle" | "administer";

/** `cursor`: where the next page goes on; null at the end. */
export interface Page<Item> {
  items: Item[];
  cursor: string | null;
}

/** Every failure, as `application/problem+json` (RFC 9457). `code` is the word to go by. */
export interface Problem {
  type: string;
  title: string;
  status: number;
  code: string;
  detail?: string;
  fields?: { field: string; problem: string }[];
}

// Session and account

export interface Me {
  name: string;
  role: Role;
  permissions: Permission[];
  /** Of the log-in; null for an API key. */
  sessionId: string | null;
  hasTotp: boolean;
  provider: Provider;
}

export interface Provider {
  timeZone: string;
  currencyExponent: number;
  /** ISO 4217; null where the provider has not named it. */
  currency: string | null;
  /** The one that is meant where nothing is said. */
  environment: Environment;
  version: string;
}

export interface StaffSession {
  id: string;
  createdAt: string;
  lastUsedAt: string;
  address: string | null;
  userAgent: string | null;
  current: boolean;
}

/** Begins to switch one-time codes on; nothing holds until it is confirmed with a code. */
export interface TotpOffer {
  secret: string;
  /** `otpauth://`, for a QR code. */
  uri: string;
}

export interface RecoveryCodes {
  recoveryCodes: string[];
}

// Customers

export interface CustomerMatch {
  environment: Environment;
  cuid: string;
  firstName: string;
  lastName: string;
  mobile: string | null;
  status: "active" | "inactive";
  connections: { service: Service; reqId: string; status: "active" | "inactive" | "blocked" }[];
}

export interface CustomerMatches extends Page<CustomerMatch> {
  /** Where a checkoutId or a txnId was asked for. */
  transaction: Transaction | null;
}

export interface Customer extends Omit<CustomerMatch, "connections"> {
  /** Up to when the provider's last row held what was made here; null of one that was never imported with it. */
  asOf: string | null;
  connections: Connection[];
}

export interface Connection {
  service: Service;
  reqId: string;
  /** As partners see it, and `blocked` whoever blocked it. */
  status: "active" | "inactive" | "blocked";
  /** Null if staff have not blocked the connection. */
  blockedByStaff: { at: string; author: string; reason: string } | null;
  segment: string | null;
  subscriptions: Subscription[];
}

export interface Subscription {
  plan: string;
  bouquetId: string;
  name: string;
  addOn: boolean;
  start: string;
  end: string;
  running: boolean;
}

/** What a ledger came to after an entry. */
export interface Run {
  bouquetId: string;
  name: string;
  start: string;
  end: string;
}

export interface PlanLedger {
  service: Service;
  reqId: string;
  plan: string;
  run: Run | null;
  /** Oldest first. */
  entries: LedgerEntry[];
}

export interface LedgerEntry {
  seq: number;
  kind: "top_up" | "goodwill" | "reversal" | "import";
  at: string;
  wall: string;
  before: Run | null;
  after: Run | null;
  /** Of a top-up and goodwill. */
  period: { months: number; days: number } | null;
  bouquetId: string | null;
  /** Of a top-up. */
  txnId: string | null;
  partner: string | null;
  amount: string | null;
  /** Of a reversal: the number of the entry that it takes back. */
  reverses: number | null;
  /** The number of the entry that takes it back. */
  reversedBy: number | null;
  /** Of goodwill and reversals. */
  author: string | null;
  reason: string | null;
  /** Of an import: up to when the records held what was made here, on the provider's clock. */
  asOf: string | null;
  /** Whether the records of an import hold goodwill. */
  goodwill: GoodwillReading | null;
  /** Whether what was before it has been let go. */
  isOpening: boolean;
}

/** What a correction does, or in a preview would do. */
export interface CorrectionEffect {
  cuid: string;
  service: Service;
  reqId: string;
  plan: string;
  before: Run | null;
  after: Run | null;
}

export interface BlockEffect {
  cuid: string;
  service: Service;
  reqId: string;
  blocked: boolean;
  /** False where it was so already. */
  changed: boolean;
}

export interface FieldChange {
  field: string;
  from: string | null;
  to: string | null;
}

export type GoodwillReading = "held" | "lacking";

export interface HeldBackSubscription {
  service: Service;
  reqId: string;
  plan: string;
  bouquetId: string;
  keptEnd: string | null;
  statedEnd: string | null;
  txnId: string | null;
  /** Days of goodwill, if goodwill alone keeps the end and the records are said to hold goodwill. */
  goodwillDays: number | null;
  /** Given here, if it must be said whether the records hold it; and where they end the subscription if they lack it. */
  goodwill: { days: number; at: string; lackingEnd: string | null } | null;
}

/** A refused call of a partner. */
export interface Attempt {
  at: string;
  partner: string;
  operation: string;
  reason: string;
  code: string | null;
  requestId: string;
}

// Transactions

export interface Transaction {
  txnId: string;
  checkoutId: string;
  status: "success" | "reversed";
  environment: Environment;
  partner: string;
  cuid: string;
  service: Service;
  reqId: string;
  bouquetId: string;
  bouquetName: string | null;
  amount: string;
  at: string;
  txnDate: string;
  udf1: string | null;
  udf2: string | null;
}

export interface TransactionDetail extends Transaction {
  customer: { firstName: string; lastName: string; mobile: string | null } | null;
  plan: string | null;
  before: Run | null;
  after: Run | null;
  reversal: { at: string; wall: string; author: string; reason: string; before: Run | null; after: Run | null } | null;
}

export interface TransactionTotals {
  count: number;
  amount: string;
  reversed: number;
  reversedAmount: string;
}

// Partners

export interface Partner {
  id: number;
  name: string;
  status: "active" | "suspended";
  createdAt: string;
  /** Null where calls may come from anywhere. */
  allowedAddresses: string[] | null;
}

/** With what a list says of its tokens. */
export interface ListedPartner extends Partner {
  validTokens: number;
  lastUsedAt: string | null;
}

export interface AccessToken {
  id: string;
  environment: Environment;
  state: "valid" | "expired" | "revoked";
  createdAt: string;
  expiresAt: string | null;
  revokedAt: string | null;
  replacedBy: string | null;
  lastUsedAt: string | null;
}

/** `token` is shown this once. */
export interface IssuedToken extends AccessToken {
  token: string;
}

/** `token` is the new one; `formerUntil`: so long the one before it holds. */
export interface RotatedToken extends IssuedToken {
  formerId: string;
  formerUntil: string;
}

// Catalogue

export interface Bouquet {
  service: Service;
  code: string;
  name: string;
  price: string;
  segments: string[];
  plan: string;
  addOn: boolean;
  months: number;
  days: number;
}

export interface CatalogueRevision {
  revision: number;
  createdAt: string;
  bouquets: number;
}

export interface Catalogue {
  /** Null before the first import. */
  revision: number | null;
  createdAt: string | null;
  bouquets: Bouquet[];
}

/** What a file would make of the catalogue, or has made of it: `revision` is null in a preview. */
export interface CatalogueChange {
  revision: number | null;
  accepted: number;
  rejected: number;
  added: number;
  changed: number;
  unchanged: number;
  removed: number;
  reorders: boolean;
  bouquets: { kind: "added" | "changed" | "removed"; service: Service; code: string; fields: FieldChange[] }[];
  problems: RejectedLine[];
  largeChange: LargeChange | null;
}

export interface RejectedLine {
  line: number;
  problems: { field: string; problem: string }[];
}

export interface LargeChange {
  what:
    | "running_subscriptions_ended"
    | "active_customers_deactivated"
    | "mobile_numbers_lost"
    | "names_lost"
    | "codes_dropped";
  count: number;
  of: number;
}

// Imports

/** One of the last fifty. */
export interface ImportRun {
  id: number;
  kind: "customers" | "catalogue";
  environment: Environment;
  author: string;
  file: string;
  asOf: string | null;
  startedAt: string;
  endedAt: string | null;
  outcome: "running" | "done" | "refused" | "failed";
  /** Null if it was refused: it changed nothing. */
  report: Record<string, number | boolean> | null;
  /** Why it was refused or failed, in words. */
  problem: string | null;
}

/** A customers file that was uploaded: it is checked first, and written once it is told to. It is kept for an hour. */
export interface Upload {
  id: string;
  environment: Environment;
  file: string;
  asOf: string | null;
  author: string;
  state: "checking" | "checked" | "writing" | "done" | "refused" | "failed";
  /** Of the step under way. */
  lines: number;
  /** Of what would be done, and then of what was. */
  report: Record<string, number> | null;
  /** The first thousand of each. */
  changes: ChangedCustomer[];
  problems: RejectedLine[];
  heldBack: HeldBackLine[];
  warnings: { line: number; cuid: string; service: Service; reqId: string }[];
  largeChanges: LargeChange[];
  /** Why it was refused or failed, in words. */
  problem: string | null;
}

export interface ChangedCustomer {
  line: number;
  cuid: string;
  kind: "added" | "changed";
  changes: FieldChange[];
}

export interface HeldBackLine extends HeldBackSubscription {
  line: number;
  cuid: string;
}

export interface HeldBack extends HeldBackLine {
  id: number;
}

// Settlement and reconciliation

export interface Settlement {
  from: string;
  to: string;
  /** Whether the last day may still grow. */
  open: boolean;
  lines: SettlementLine[];
  total: SettlementAmounts;
}

export interface SettlementAmounts {
  topUps: number;
  gross: string;
  reversals: number;
  reversed: string;
  net: string;
}

export interface SettlementLine extends SettlementAmounts {
  day: string;
  partner: string;
  /** Null where the lines are coarser. */
  service: Service | null;
  bouquetId: string | null;
}

export interface Reconciliation {
  total: VerdictTotal;
  verdicts: (VerdictTotal & { verdict: string; advice: string | null })[];
  /** All but what matches. */
  differences: Difference[];
}

export interface VerdictTotal {
  rows: number;
  theirs: string;
  ours: string;
  difference: string;
}

export interface Difference {
  verdict: string;
  line: number | null;
  key: string | null;
  theirAmount: string | null;
  theirStatus: string | null;
  ourAmount: string | null;
  ourStatus: string | null;
  txnId: string | null;
  checkoutId: string | null;
  txnDate: string | null;
  problem: string | null;
}

// Bulk

export interface BulkRequest {
  action: "goodwill" | "block" | "unblock";
  /** One text each: `reqId`, or `cuid service reqId`. */
  connections?: string[];
  /** All connections of this segment. */
  segment?: string;
  /** Of goodwill. */
  days?: number;
  plan?: string;
  reason: string;
  /** Leaves out whom staff gave goodwill in the last day: to go on where one was cut off. */
  skipRepeated?: boolean;
}

export interface BulkPreview {
  /** The first thousand. */
  effects: BulkEffect[];
  /** How many there are. */
  count: number;
  /** The first thousand. */
  problems: { line: string; problem: string }[];
  problemCount: number;
}

export interface BulkEffect {
  cuid: string;
  service: Service;
  reqId: string;
  plan: string | null;
  before: Run | null;
  after: Run | null;
  /** Whether staff gave it goodwill in the last day already. */
  repeated: boolean;
}

/** A bulk change under way. */
export interface BulkRun {
  id: string;
  action: BulkRequest["action"];
  author: string;
  state: "running" | "done" | "failed";
  done: number;
  count: number;
  failed: { connection: string; problem: string }[];
  problem: string | null;
}

// Targets and events

export interface Target {
  id: number;
  name: string;
  kind: "webhook" | "radius" | "feed";
  service: Service | null;
  address: string | null;
  books: boolean;
  paused: boolean;
  createdAt: string;
  behind: number;
  failing: number;
  setAside: number;
  oldestAt: string | null;
}

export interface AddTargetRequest {
  name: string;
  books?: boolean;
  /** A feed where neither is given. */
  webhook?: { url: string; allowPrivate?: boolean };
  radius?: {
    database: string;
    timeZone?: string;
    groups?: Record<string, string>;
    defaultGroup?: string;
    service?: Service;
  };
}

/** `secret`: of a webhook, shown this once. */
export interface AddedTarget {
  target: Target;
  secret: string | null;
}

export interface RotatedSecret {
  secret: string;
  formerUntil: string;
}

export interface FailedDelivery {
  id: string;
  kind: string;
  environment: Environment;
  cuid: string;
  service: Service;
  reqId: string;
  attempts: number;
  failedAt: string | null;
  nextAt: string;
  setAside: boolean;
  problem: string | null;
}

// Audit trail, staff, health

export interface AuditEntry {
  seq: number;
  at: string;
  author: string;
  action: string;
  subject: string;
  reason: string | null;
  /** How many entries it stands for: more than 1 of an import, which shares its reason with the others. */
  parts: number;
  before: unknown;
  after: unknown;
}

export interface StaffMember {
  name: string;
  role: Role;
  createdAt: string;
  hasTotp: boolean;
}

export interface StaffKey {
  name: string;
  role: Role;
  createdAt: string;
  lastUsedAt: string | null;
}

/** `key` is shown this once. */
export interface AddedStaffKey extends StaffKey {
  key: string;
}

export interface Health {
  version: string;
  store: "sqlite" | "postgres";
  database: "ok" | "away";
  /** Since when no top-up can be recorded; null where they can. */
  recordingFailsSince: string | null;
  /** The latest time that the clock showed before it was set back; null once it shows that time again. */
  clockSetBackFrom: string | null;
  lastBackupAt: string | null;
  prunedBefore: string | null;
  migrations: { name: string; state: string; appliedAt: string | null }[];
  targets: Target[];
}

// Overview

export interface Statistics {
  /** Up to when they count, and whether they are still being gathered after a start. */
  until: string;
  complete: boolean;
  /** Of today, by the provider's clock: 24 hours. */
  hours: { hour: number; topUps: number; amount: string }[];
  /** The last 30 days, oldest first; also those without anything. */
  days: { day: string; topUps: number; amount: string; reversals: number; reversed: string }[];
  byService: Share[];
  byPartner: Share[];
  /** The ten with most money, and the rest as `null`. */
  byBouquet: Share[];
  /** Of partners' calls, by the reason on the wire. */
  failures: { reason: string; count: number }[];
}

export interface Share {
  name: string | null;
  topUps: number;
  amount: string;
}

/** What needs somebody's attention; empty where nothing does. */
export interface AttentionItem {
  kind: "held_back" | "failed_deliveries" | "target_behind" | "token_ending" | "recording_fails" | "no_backup";
  /** How many; null where it is not counted. */
  count: number | null;
  /** Of which target, partner or token. */
  subject: string | null;
  at: string | null;
}
