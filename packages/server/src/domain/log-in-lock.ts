import type { Instant } from "./wall-time.ts";

/*
 * Who guesses passwords has to wait. Failures are counted by name and source together, so that nobody can lock a person out
 * from elsewhere, and by source alone, so that nobody tries many names.
 */

/** For how long a failure counts. */
export const FAILURE_COUNTS_MS = 15 * 60_000;
const MOST_FOR_NAME = 10;
const MOST_FOR_SOURCE = 100;

export interface LogInFailure {
  readonly name: string;
  readonly at: Instant;
}

/**
 * @param failures of the source, newest first.
 * @param isKnown whether the person has logged in from the source before: failures of other names do not count then.
 * @returns for how many milliseconds nothing is tried; 0 if a log-in may be tried.
 */
export function logInWaitMs(failures: readonly LogInFailure[], name: string, isKnown: boolean, now: Instant): number {
  const ofName = failures.filter((failure) => failure.name === name);
  const forName = waitMs(ofName, MOST_FOR_NAME, now);
  return isKnown ? forName : Math.max(forName, waitMs(failures, MOST_FOR_SOURCE, now));
}

function waitMs(failures: readonly LogInFailure[], most: number, now: Instant): number {
  const decisive = failures[most - 1];
  return decisive === undefined ? 0 : Math.max(0, decisive.at + FAILURE_COUNTS_MS - now);
}
