import type { Service } from "../domain/bouquet.ts";
import type { Environment } from "../domain/customer.ts";
import type { Role } from "../domain/staff.ts";
import type { Instant, WallTime } from "../domain/wall-time.ts";

/* The tables of what the console keeps, as tables.ts has the others. */

export interface AttemptRow {
  id: number;
  at: Instant;
  partner_id: number;
  environment: Environment;
  operation: string;
  reason: string;
  code: string | null;
  request_id: string;
}

export interface StaffRow {
  id: number;
  name: string;
  role: Role;
  password: string;
  totp_secret: string | null;
  totp_step: number | null;
  /** A JSON list. */
  recovery_codes: string;
  /** A JSON list. */
  networks: string;
  created_at: Instant;
}

export interface StaffSessionRow {
  hash: Uint8Array;
  id: string;
  staff_id: number;
  created_at: Instant;
  last_used_at: Instant;
  address: string | null;
  user_agent: string | null;
}

export interface LogInFailureRow {
  id: string;
  at: Instant;
  name: string;
  source: string;
}

export interface StaffKeyRow {
  hash: Uint8Array;
  name: string;
  role: Role;
  created_at: Instant;
  last_used_at: Instant | null;
}

export interface StaffAnswerRow {
  hash: Uint8Array;
  owner: string;
  request: Uint8Array;
  at: Instant;
  status: number | null;
  body: string | null;
}

export interface ImportRunRow {
  id: number;
  kind: "customers" | "catalogue";
  environment: Environment;
  author: string;
  file: string;
  as_of: string | null;
  started_at: Instant;
  ended_at: Instant | null;
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
  req_id: string;
  plan: string;
  code: string;
  kept_end: WallTime | null;
  stated_end: WallTime | null;
  txn_id: string | null;
  goodwill_days: number | null;
  goodwill_at: WallTime | null;
  lacking_end: WallTime | null;
  line: number;
  /** A JSON object. */
  source_row: string;
}
