import type { Instant } from "../domain/wall-time.ts";

/** Problems of a service that still answers; the same in all its processes. */
export interface ServiceState {
  /** Time since which no top-up can be recorded; undefined if they can. */
  recordingFailsSince: Instant | undefined;
  /** Latest time before the clock was set back; undefined once the clock shows that time again. */
  clockSetBackFrom: Instant | undefined;
}

/** The state of a service without problems. */
export function wellState(): ServiceState {
  return { recordingFailsSince: undefined, clockSetBackFrom: undefined };
}
