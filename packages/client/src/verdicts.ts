import type { Failure } from "./failures.ts";
import type { FailureReason } from "./known-failures.ts";

/*
 * What a failure proves. Where it could be read in two ways, it proves the less.
 */

/** Request timeout, conflict, and a proxy that lost its caller: the request may have been carried out all the same. */
const OPEN_STATUSES: readonly number[] = [408, 409, 499];

const TOO_MANY_REQUESTS = 429;
const SERVICE_UNAVAILABLE = 503;

/** Whether a top-up that was answered so may have been recorded, or may be yet. */
export function leavesOpen(failure: Failure): boolean {
  switch (failure.kind) {
    case "refused":
      return failure.retry === "query_status" || failure.httpStatus >= 500 || failure.reason === "never_topped_up";
    case "refused_otherwise":
      // What is not in the envelope comes from something on the way, which may have passed the request on.
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

/** Whether topupd itself says that it turned the request away unread. Of others, nobody knows. */
export function isNotProcessed(failure: Failure): boolean {
  return failure.kind === "refused" && failure.reason === "rate_limited";
}

/**
 * Whether the answer of txn-status bears out that a top-up which was answered with a no is not on record. topupd's
 * `checkout_unknown` does not: a recorded top-up gets it too, with another partner's access token.
 */
export function bearsOut(failure: Failure): boolean {
  return failure.kind === "refused_otherwise" && failure.inEnvelope;
}

/** What says of a checkoutId that nothing is on record with it. */
const NOTHING_RECORDED: readonly FailureReason[] = ["not_topped_up", "never_topped_up"];

/** What no query is ever refused for: it names no bouquet, no amount, no customer, and may be late. */
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
];

/**
 * Whether topupd's answer to txn-status and its refusal of the top-up are both true of a purchase that is not on
 * record. What turns away every request, such as an access token that is not admitted, or a checkoutId in no form, is
 * borne out by turning away this one as well: nothing that would be recorded gets in there. `checkout_unknown` proves
 * nothing, however often it comes.
 */
export function agrees(failure: Failure, refusal: Failure): boolean {
  if (failure.kind !== "refused" || refusal.kind !== "refused") return false;
  if (failure.reason === "checkout_unknown") return false;
  if (NOTHING_RECORDED.includes(failure.reason)) return true;
  if (locksOut(failure) && locksOut(refusal)) return true;
  return failure.reason === refusal.reason && !isOfTopUpsOnly(failure);
}

/** Whether an answer to txn-status cannot be one: it was another request's, and says nothing of this one. */
export function isOfTopUpsOnly(failure: Failure): boolean {
  return failure.kind === "refused" && OF_TOP_UPS_ONLY.includes(failure.reason);
}

/** Whether txn-status, if it answers so, may answer otherwise in a moment. */
export function asksToWait(failure: Failure): boolean {
  if (failure.kind === "refused" && failure.reason === "not_topped_up") return false;
  return leavesOpen(failure) || ("httpStatus" in failure && failure.httpStatus === TOO_MANY_REQUESTS);
}

/** Whether the deployment answers this caller nothing at all, whatever the question. */
export function locksOut(failure: Failure): boolean {
  return "httpStatus" in failure && (failure.httpStatus === 401 || failure.httpStatus === 403);
}

/** How long a failure asks to wait, in milliseconds. */
export function retryAfterOf(failure: Failure | undefined): number {
  return failure !== undefined && "retryAfterMs" in failure ? (failure.retryAfterMs ?? 0) : 0;
}

/** In how many milliseconds a busy deployment wants to be asked again; undefined where it does not say so. */
export function putOffMs(failure: Failure): number | undefined {
  const isBusy = "httpStatus" in failure && failure.httpStatus === SERVICE_UNAVAILABLE;
  return isBusy ? failure.retryAfterMs : undefined;
}
