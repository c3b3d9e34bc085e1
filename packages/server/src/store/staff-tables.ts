import type { Role } from "../domain/authority.ts";
import type { Service } from "../domain/bouquet.ts";
import type { Environment } from "../domain/customer.ts";
import type { Instant, WallTime } from "../domain/wall-time.ts";

/* The tables of the staff's side. tables.ts has the others. */

interface RefusedCallRow {
  id: number;
  at: Instant;
  partnerId: number;
  environment: Environment;
  operation: string;
  reason: string;
  detail: string | null;
  code: string | null;
  requestId: string;
}

interface TrialCallRow {
  id: number;
  at: Instant;
  ms: number;
  partnerId: number;
  version: string;
  operation: string;
  cuid: string | null;
  service: string | null;
  reqId: string | null;
  checkoutId: string | null;
  bouquetId: string | null;
  amount: string | null;
  outcome: string;
  retryAfter: number | null;
  requestId: string;
}

export interface StaffRow {
  id: number;
  name: string;
  role: Role;
  password: string | null;
  oidcSubject: string | null;
  totpSecret: string | null;
  totpStep: number | null;
  /** A JSON list. */
  recoveryCodes: string;
  /** A JSON list. */
  networks: string;
  createdAt: Instant;
  lastLogInAt: Instant | null;
  mustChangePassword: number;
}

export interface StaffSessionRow {
  hash: Uint8Array;
  id: string;
  staffId: number;
  createdAt: Instant;
  lastUsedAt: Instant;
  address: string | null;
  userAgent: string | null;
  authenticatedAt: Instant | null;
}

interface LogInFailureRow {
  id: string;
  at: Instant;
  name: string;
  source: string;
}

export interface StaffKeyRow {
  hash: Uint8Array;
  name: string;
  role: Role;
  createdAt: Instant;
  lastUsedAt: Instant | null;
}

interface StaffAnswerRow {
  hash: Uint8Array;
  owner: string;
  request: Uint8Array;
  at: Instant;
  status: number | null;
  body: string | null;
}

interface StaffDayRow {
  author: string;
  day: string;
  goodwillDays: number;
  bulkConnections: number;
}

export interface ApprovalRow {
  id: string;
  kind: "reversal" | "bulk";
  subject: string;
  environment: Environment;
  reason: string;
  requestedBy: string;
  requestedAt: Instant;
  state: "waiting" | "confirmed" | "refused";
  decidedBy: string | null;
  decidedAt: Instant | null;
  refusal: string | null;
}

export interface ImportRunRow {
  id: number;
  kind: "customers" | "catalogue";
  environment: Environment;
  author: string;
  file: string;
  asOf: string | null;
  startedAt: Instant;
  endedAt: Instant | null;
  outcome: "running" | "done" | "refused" | "failed";
  /** A JSON object. */
  report: string | null;
  problem: string | null;
}

export interface HeldBackRow {
  id: number;
  environment: Environment;
  cuid: string;
  service: Service;
  reqId: string;
  plan: string;
  code: string;
  keptEnd: WallTime | null;
  statedEnd: WallTime | null;
  txnId: string | null;
  goodwillDays: number | null;
  goodwillAt: WallTime | null;
  lackingEnd: WallTime | null;
  line: number;
  /** A JSON object. */
  sourceRow: string;
}

export interface BulkRunRow {
  id: number;
  environment: Environment;
  action: "goodwill" | "block" | "unblock";
  days: number | null;
  plan: string | null;
  reason: string;
  author: string;
  staffId: number | null;
  role: Role | null;
  keyHash: Uint8Array | null;
  state: "reading" | "ready" | "waiting" | "running" | "paused" | "done" | "cancelled" | "failed";
  createdAt: Instant;
  startedAt: Instant | null;
  changedAt: Instant;
  lines: number;
  count: number;
  repeated: number;
  problems: number;
  place: number;
  done: number;
  problem: string | null;
}

/** The connection is null if none was found. */
export interface BulkLineRow {
  runId: number;
  number: number;
  line: number;
  text: string;
  whole: number | null;
  cuid: string | null;
  service: Service | null;
  reqId: string | null;
  problem: string | null;
}

export interface StaffTables {
  refusedCall: RefusedCallRow;
  trialCall: TrialCallRow;
  staff: StaffRow;
  staffSession: StaffSessionRow;
  logInFailure: LogInFailureRow;
  staffKey: StaffKeyRow;
  staffAnswer: StaffAnswerRow;
  staffDay: StaffDayRow;
  approval: ApprovalRow;
  importRun: ImportRunRow;
  heldBack: HeldBackRow;
  bulkRun: BulkRunRow;
  bulkLine: BulkLineRow;
}
