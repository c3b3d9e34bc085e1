import type { LimitName } from "../domain/account.ts";
import type { AlertKind } from "../domain/alert.ts";
import type { Service } from "../domain/bouquet.ts";
import type { Environment } from "../domain/customer.ts";
import type { EventKind } from "../domain/event.ts";
import type { Instant } from "../domain/wall-time.ts";

/* The tables of events, their delivery, and alerts. tables.ts has the others. */

export interface TargetRow {
  id: number;
  name: string;
  config: string;
  secrets: string;
  billing: 0 | 1;
  paused: 0 | 1;
  createdAt: Instant;
  resentAt: Instant | null;
  place: number;
}

export interface EventRow {
  seq: number;
  kind: EventKind;
  at: Instant;
  environment: Environment;
  cuid: string | null;
  service: Service | null;
  reqId: string | null;
  partnerId: number | null;
  state: string;
}

export interface AlertRow {
  kind: AlertKind;
  partnerId: number;
  environment: Environment;
  limitName: LimitName | "";
  at: Instant;
  endsAt: Instant;
  mailedAt: Instant | null;
  balance: number | null;
  below: number | null;
}

export interface DeliveryRow {
  targetId: number;
  seq: number;
  attempts: number;
  failedAt: Instant | null;
  nextAt: Instant;
  setAside: 0 | 1;
  problem: string | null;
}

export interface DeliveryLogRow {
  targetId: number;
  at: Instant;
  seq: number;
  attempt: number;
  status: number | null;
  request: string | null;
  answer: string | null;
  problem: string | null;
  durationMs: number;
}
