import type { Service } from "../domain/bouquet.ts";
import type { Environment } from "../domain/customer.ts";
import type { EventKind } from "../domain/event.ts";
import type { Instant } from "../domain/wall-time.ts";

/* The tables of events and their delivery. tables.ts has the others. */

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
  cuid: string;
  service: Service;
  reqId: string;
  partnerId: number | null;
  state: string;
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
