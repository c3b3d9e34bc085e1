import type { Failure, FailureReason } from "./failures.ts";

/* Decides what a failure proves. If it has two meanings, it proves less. */

/** Request timeout, conflict, and a proxy that lost its caller: the request may have been served. */
const OPEN_STATUSES: readonly number[] = [408, 409, 499];

const TOO_MANY_REQUESTS = 429;
const SERVICE_UNAVAILABLE = 503;

/** Whether a top-up with this failure may have been recorded, or still may be. */
export function leavesOpen(failure: Failure): boolean {
  switch (failure.kind) {
    case "refused":
      return failure.retry === "query_status" || failure.httpStatus >= 500 || failure.reason === "never_topped_up";
    case "refused_otherwise":
      // An answer outside the envelope comes from a proxy, which may have forwarded the request.
      if (!failure.inEnvelope) return failure.httpStatus !== TOO_MANY_REQUESTS;
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

/** Whether topupd itself says that it did not process the request. Other deployments may have. */
export function isNotProcessed(failure: Failure): boolean {
  return failure.kind === "refused" && failure.reason === "rate_limited";
}

/**
 * Whether the answer of txn-status confirms that a refused top-up is not recorded. topupd's `checkout_unknown` does not:
 * a recorded top-up gets it too, with another partner's access token.
 */
export function confirms(failure: Failure): boolean {
  return failure.kind === "refused_otherwise" && failure.inEnvelope;
}

/** Reasons that say that nothing is recorded with a checkoutId. */
const NOTHING_RECORDED: readonly FailureReason[] = ["not_topped_up", "never_topped_up"];

/** Reasons that a query never gets: it names no bouquet, amount or customer, and may be late. */
const OF_TOP_UPS_ONLY: readonly FailureReason[] = [
  "customer_not_found",
  "ambiguous_code",
  "connection_not_found",
  "customer_inactive",
  "connection_blocked",
  "checkout_expired",
  "checkout_used",
  "checkout_mismatch",
  "bouquet_unavailable",
  "amount_mismatch",
  "insufficient_balance",
  "limit_reached",
];

/**
 * Whether topupd's answer to txn-status and its refusal of the top-up together prove that the purchase is not recorded. A
 * failure of every request, such as a refused access token, is confirmed by the same failure of txn-status: no top-up
 * passes either. `checkout_unknown` proves nothing.
 */
export function agrees(failure: Failure, refusal: Failure): boolean {
  if (failure.kind !== "refused" || refusal.kind !== "refused") return false;
  if (failure.reason === "checkout_unknown") return false;
  if (NOTHING_RECORDED.includes(failure.reason)) return true;
  if (locksOut(failure) && locksOut(refusal)) return true;
  return failure.reason === refusal.reason && !isOfTopUpsOnly(failure);
}

/** Whether this cannot be an answer to txn-status, so that it belongs to another request. */
export function isOfTopUpsOnly(failure: Failure): boolean {
  return failure.kind === "refused" && OF_TOP_UPS_ONLY.includes(failure.reason);
}

/** Whether txn-status may give another answer soon. */
export function asksToWait(failure: Failure): boolean {
  if (failure.kind === "refused" && failure.reason === "not_topped_up") return false;
  return leavesOpen(failure) || ("httpStatus" in failure && failure.httpStatus === TOO_MANY_REQUESTS);
}

/** Whether the deployment refuses every request of this caller. */
export function locksOut(failure: Failure): boolean {
  if (isOfTopUpsOnly(failure)) return false;
  return "httpStatus" in failure && (failure.httpStatus === 401 || failure.httpStatus === 403);
}

/** Milliseconds that a failure asks to wait. */
export function retryAfterOf(failure: Failure | undefined): number {
  return failure !== undefined && "retryAfterMs" in failure ? (failure.retryAfterMs ?? 0) : 0;
}

/**
 * Milliseconds to wait before a repeat, as a busy deployment says; undefined if it does not.
 * @param isReport a long list may exceed the rate limit.
 */
export function putOffMs(failure: Failure, isReport: boolean): number | undefined {
  if (!("httpStatus" in failure)) return undefined;
  const { httpStatus, retryAfterMs } = failure;
  const isBusy = httpStatus === SERVICE_UNAVAILABLE || (isReport && httpStatus === TOO_MANY_REQUESTS);
  return isBusy ? retryAfterMs : undefined;
}
