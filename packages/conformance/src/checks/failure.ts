import { ASKS_TO_WAIT, type Exchange, envelopeOf, unjudgeable } from "../exchange.ts";
import { describe, describeCode, member } from "../shape.ts";
import { fails, HOLDS, skipped, type Verdict } from "./check.ts";

/** Failures that the kit provokes: code, HTTP status, retry (docs/decisions.md, Failures and requests). */
const FAILURES = {
  missing_token: ["400ac001", 401, "fix_request"],
  unknown_token: ["400ac002", 401, "no"],
  rate_limited: ["400ac006", 429, "same_request"],
  malformed_json: ["400ad001", 400, "fix_request"],
  invalid_field: ["400ad002", 400, "fix_request"],
  unknown_operation: ["400ad003", 404, "fix_request"],
  method_not_allowed: ["400ad004", 405, "fix_request"],
  body_too_large: ["400ad005", 413, "fix_request"],
  unsupported_media_type: ["400ad006", 415, "fix_request"],
  customer_not_found: ["400aa101", 404, "no"],
  connection_not_found: ["400aa103", 404, "no"],
  checkout_unknown: ["400ab101", 404, "fix_request"],
  checkout_expired: ["400ab102", 410, "new_checkout"],
  checkout_used: ["400ab103", 409, "query_status"],
  checkout_mismatch: ["400ab104", 422, "new_checkout"],
  bouquet_unavailable: ["400ab105", 422, "new_checkout"],
  amount_mismatch: ["400ab106", 422, "fix_request"],
  not_topped_up: ["400ab107", 404, "query_status"],
  never_topped_up: ["400ab108", 410, "new_checkout"],
  insufficient_balance: ["400ab109", 402, "new_checkout"],
  limit_reached: ["400ab110", 403, "no"],
  unavailable: ["400ae002", 503, "query_status"],
} as const satisfies Record<string, readonly [string, number, string]>;

export type Reason = keyof typeof FAILURES;

/** Whether an answer is this failure, by its HTTP status, code, reason and retry. */
export function judgeFailure(exchange: Exchange | undefined, reason: Reason): Verdict {
  if (exchange === undefined) return skipped("there was nothing to try it with");
  const open = unjudgeable(exchange);
  if (open !== undefined && !(open === ASKS_TO_WAIT && reason === "rate_limited")) return skipped(open);
  const [code, status, retry] = FAILURES[reason];
  const expected = `HTTP ${status}, code ${code}, reason ${reason}, retry ${retry}`;
  if (!exchange.answered) return fails(expected, exchange.problem);
  const envelope = envelopeOf(exchange);
  const body = member(envelope, "body");
  const came = [member(envelope, "code"), member(body, "reason"), member(body, "retry")];
  if (exchange.status === status && came[0] === code && came[1] === reason && came[2] === retry) return HOLDS;
  const shown = typeof came[1] === "string" && came[1] in FAILURES ? came[1] : describe(came[1]);
  return fails(
    expected,
    `HTTP ${exchange.status}, code ${describeCode(came[0])}, reason ${shown}, retry ${describe(came[2])}`,
  );
}
