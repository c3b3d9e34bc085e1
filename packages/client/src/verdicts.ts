import type { Failure } from "./failures.ts";

/*
 * What a failure proves. Where it could be read in two ways, it proves the less.
 */

/** Request timeout, conflict, and a proxy that lost its caller: the request may have been carried out all the same. */
const OPEN_STATUSES: readonly number[] = [408, 409, 499];

/** Whether a top-up that was answered so may have been recorded, or may be yet. */
export function leavesOpen(failure: Failure): boolean {
  switch (failure.kind) {
    case "refused":
      return failure.retry === "query_status" || failure.httpStatus >= 500 || failure.reason === "never_topped_up";
    case "refused_otherwise":
      return (
        failure.retry === "query_status" || failure.httpStatus >= 500 || OPEN_STATUSES.includes(failure.httpStatus)
      );
    case "used_otherwise":
    case "unsettled":
    case "no_answer":
    case "unreadable":
      return true;
  }
}

/** Whether a top-up that was answered so was turned away unread: too many requests (HTTP 429). */
export function isNotProcessed(failure: Failure): boolean {
  return "httpStatus" in failure && failure.httpStatus === 429;
}

/** Whether txn-status, if it answers so, may answer otherwise in a moment. */
export function asksToWait(failure: Failure): boolean {
  if (failure.kind === "refused" && failure.reason === "not_topped_up") return false;
  return leavesOpen(failure) || isNotProcessed(failure);
}

/** Whether the deployment answers this caller nothing at all, whatever the question. */
export function locksOut(failure: Failure): boolean {
  return "httpStatus" in failure && (failure.httpStatus === 401 || failure.httpStatus === 403);
}

/** How long a failure asks to wait, in milliseconds. */
export function retryAfterOf(failure: Failure | undefined): number {
  return failure !== undefined && "retryAfterMs" in failure ? (failure.retryAfterMs ?? 0) : 0;
}
