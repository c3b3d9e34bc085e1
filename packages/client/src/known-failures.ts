/** What a failure asks the program to do next. */
export type Retry = "fix_request" | "same_request" | "new_checkout" | "query_status" | "no";

const RETRIES: readonly string[] = ["fix_request", "same_request", "new_checkout", "query_status", "no"];

/**
 * The failures that topupd documents. The interface shows none (section 7), so other deployments have theirs;
 * an answer counts as one of these only where code, reason and HTTP status agree.
 */
export const KNOWN_FAILURES = {
  "400ac001": { httpStatus: 401, reason: "missing_token", retry: "fix_request" },
  "400ac002": { httpStatus: 401, reason: "unknown_token", retry: "no" },
  "400ac003": { httpStatus: 401, reason: "expired_token", retry: "no" },
  "400ac004": { httpStatus: 401, reason: "revoked_token", retry: "no" },
  "400ac005": { httpStatus: 403, reason: "partner_suspended", retry: "no" },
  "400ac006": { httpStatus: 429, reason: "rate_limited", retry: "same_request" },
  "400ac007": { httpStatus: 403, reason: "address_not_allowed", retry: "no" },
  "400ad001": { httpStatus: 400, reason: "malformed_json", retry: "fix_request" },
  "400ad002": { httpStatus: 400, reason: "invalid_field", retry: "fix_request" },
  "400ad003": { httpStatus: 404, reason: "unknown_operation", retry: "fix_request" },
  "400ad004": { httpStatus: 405, reason: "method_not_allowed", retry: "fix_request" },
  "400ad005": { httpStatus: 413, reason: "body_too_large", retry: "fix_request" },
  "400ad006": { httpStatus: 415, reason: "unsupported_media_type", retry: "fix_request" },
  "400aa101": { httpStatus: 404, reason: "customer_not_found", retry: "no" },
  "400aa102": { httpStatus: 409, reason: "ambiguous_code", retry: "fix_request" },
  "400aa103": { httpStatus: 404, reason: "connection_not_found", retry: "no" },
  "400aa104": { httpStatus: 422, reason: "customer_inactive", retry: "no" },
  "400aa105": { httpStatus: 422, reason: "connection_blocked", retry: "no" },
  "400ab101": { httpStatus: 404, reason: "checkout_unknown", retry: "fix_request" },
  "400ab102": { httpStatus: 410, reason: "checkout_expired", retry: "new_checkout" },
  "400ab103": { httpStatus: 409, reason: "checkout_used", retry: "query_status" },
  "400ab104": { httpStatus: 422, reason: "checkout_mismatch", retry: "new_checkout" },
  "400ab105": { httpStatus: 422, reason: "bouquet_unavailable", retry: "new_checkout" },
  "400ab106": { httpStatus: 422, reason: "amount_mismatch", retry: "fix_request" },
  "400ab107": { httpStatus: 404, reason: "not_topped_up", retry: "query_status" },
  "400ab108": { httpStatus: 410, reason: "never_topped_up", retry: "new_checkout" },
  "400ae001": { httpStatus: 500, reason: "internal_error", retry: "query_status" },
  "400ae002": { httpStatus: 503, reason: "unavailable", retry: "same_request" },
} as const satisfies Readonly<Record<string, KnownFailure>>;

interface KnownFailure {
  readonly httpStatus: number;
  readonly reason: string;
  readonly retry: Retry;
}

export type FailureCode = keyof typeof KNOWN_FAILURES;
export type FailureReason = (typeof KNOWN_FAILURES)[FailureCode]["reason"];

export function isKnownCode(code: string | undefined): code is FailureCode {
  return code !== undefined && Object.hasOwn(KNOWN_FAILURES, code);
}

export function isRetry(value: unknown): value is Retry {
  return typeof value === "string" && RETRIES.includes(value);
}
