import type { TransactionResult } from "./values.ts";

/**
 * All failures. Switch on `kind`. A failure never contains the access token. Log it without `body` and `text`, which may
 * contain a customer's name.
 */
export type Failure = Refused | RefusedOtherwise | UsedOtherwise | Unsettled | NoAnswer | Unreadable;

export type OperationName =
  | "get-customer-information"
  | "get-subscription-package"
  | "subscription-package-topup"
  | "txn-status"
  | ReportName;

/** topupd's reports for partners: no version of the interface has them. */
export type ReportName = "partner/account" | "partner/account/entries" | "partner/top-ups";

/** The useful headers of an answer, by their lower-case names. */
export type AnswerHeaders = Readonly<Record<string, string>>;

interface Said {
  readonly operation: OperationName;
  /** A sentence for the log. Its wording may change. */
  readonly message: string;
}

interface Answered extends Said {
  readonly httpStatus: number;
  readonly headers: AnswerHeaders;
  /** Request id for the provider's support. */
  readonly requestId: string | undefined;
  /** Milliseconds that the deployment asks to wait. */
  readonly retryAfterMs: number | undefined;
}

/** One of the failures that topupd documents. */
export interface Refused extends Answered {
  readonly kind: "refused";
  readonly code: FailureCode;
  readonly reason: FailureReason;
  readonly retry: Retry;
  /** All problems of the request, if the reason is `invalid_field`. */
  readonly fields: readonly FieldProblem[] | undefined;
  /** The amount that your account lacks, if the reason is `insufficient_balance`. */
  readonly missing: string | undefined;
  /** The limit, if the reason is `limit_reached`: `top_up_amount`, `day_amount`, `day_top_ups` or `paid_ahead`. */
  readonly limit: string | undefined;
  /** `YYYY-MM-DD HH:MM:SS` by the provider's clock, if time ends that limit. */
  readonly limitEndsAt: string | undefined;
}

export interface FieldProblem {
  readonly field: string;
  readonly problem: string;
}

/** A refusal in an unknown form: from another deployment, a later topupd, or a proxy. */
export interface RefusedOtherwise extends Answered {
  readonly kind: "refused_otherwise";
  /** Whether it is in the envelope with `success` false, and so from the deployment, not from a proxy. */
  readonly inEnvelope: boolean;
  /** The envelope's code, if there is one. */
  readonly code: string | undefined;
  /** The next action, if the answer gives it in topupd's terms. */
  readonly retry: Retry | undefined;
  /** The parsed JSON, or the first 4,000 characters of the text. */
  readonly body: unknown;
}

/** The checkoutId was used for a purchase with other values. */
export interface UsedOtherwise extends Said {
  readonly kind: "used_otherwise";
  readonly recorded: TransactionResult;
  /** Names of the fields that differ between the recorded top-up and the purchase. */
  readonly differs: readonly string[];
}

/** There is a result with an unknown status: it may or may not be a top-up. */
export interface Unsettled extends Said {
  readonly kind: "unsettled";
  readonly recorded: TransactionResult;
}

/** No whole answer came. The request may have been carried out. */
export interface NoAnswer extends Said {
  readonly kind: "no_answer";
  readonly why: "timeout" | "network" | "aborted";
  readonly cause: Cause | undefined;
}

/** The error as text: an error object may contain the request's headers. */
export interface Cause {
  readonly name: string;
  readonly message: string;
  readonly code: string | undefined;
}

/** An answer that cannot be trusted: broken JSON, a page of a proxy, a success of the wrong shape. */
export interface Unreadable extends Answered {
  readonly kind: "unreadable";
  /** The first 4,000 characters. */
  readonly text: string;
}

/** The next action that a failure asks for. */
export type Retry = "fix_request" | "same_request" | "new_checkout" | "query_status" | "no";

const RETRIES: readonly string[] = ["fix_request", "same_request", "new_checkout", "query_status", "no"];

/**
 * The failures that topupd documents. Other deployments may have their own: an answer counts as one of these only if code,
 * reason and HTTP status agree.
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
  "400ab109": { httpStatus: 402, reason: "insufficient_balance", retry: "new_checkout" },
  "400ab110": { httpStatus: 403, reason: "limit_reached", retry: "no" },
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

export function isReport(operation: OperationName): operation is ReportName {
  return operation.startsWith("partner/");
}

export function isRetry(value: unknown): value is Retry {
  return typeof value === "string" && RETRIES.includes(value);
}
