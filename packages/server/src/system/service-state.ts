import type { Instant } from "../domain/wall-time.ts";

/** Problems of a service that still answers; the same in all its processes. */
export interface ServiceState {
  /** Time since which no top-up can be recorded; undefined if they can. */
  recordingFailsSince: Instant | undefined;
  /** Latest time before the clock was set back; undefined once the clock shows that time again. */
  clockSetBackFrom: Instant | undefined;
  /** Figures of all processes, sent to the console only; undefined until they are first collected. */
  figures: ServiceFigures | undefined;
}

/** Figures of all processes of a service in the last minutes. */
export interface ServiceFigures {
  /** Length of the measured time, at least one and at most five. */
  readonly minutes: number;
  readonly topUpsAMinute: number;
  readonly callsAMinute: number;
  /** Number of refused calls. */
  readonly refused: number;
  /** Answers to accepted calls. */
  readonly answers: readonly {
    readonly operation: string;
    readonly count: number;
    /** Seconds within which half of the answers were written, and 99 of 100. */
    readonly p50: number;
    readonly p99: number;
  }[];
  /** Refused calls by reason, most first. */
  readonly refusals: readonly { readonly reason: string; readonly count: number }[];
  readonly processes: readonly ProcessCount[];
  /** Number of processes that ended or hung in the measured time, and were started again. */
  readonly restarts: number;
  /** The same since the start of the service. */
  readonly allRestarts: number;
}

export interface ProcessCount {
  readonly role: string;
  readonly count: number;
  /** How many of them do not answer now. */
  readonly unavailable: number;
  /** Restarts since the start of the service. */
  readonly restarts: number;
}

/** The state of a service without problems. */
export function wellState(): ServiceState {
  return { recordingFailsSince: undefined, clockSetBackFrom: undefined, figures: undefined };
}
