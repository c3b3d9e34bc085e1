import type { Instant } from "../domain/wall-time.ts";

/** What may be wrong with the service though it answers: the same in all of its processes. */
export interface ServiceState {
  /** Since when no top-up can be recorded; undefined if they can. */
  recordingFailsSince: Instant | undefined;
  /** The latest time that the clock showed before it was set back; undefined once it shows that time again. */
  clockSetBackFrom: Instant | undefined;
}

/** A new state of a service with which nothing is wrong. */
export function wellState(): ServiceState {
  return { recordingFailsSince: undefined, clockSetBackFrom: undefined };
}
