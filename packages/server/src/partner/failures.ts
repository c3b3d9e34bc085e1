import type { LimitName } from "../domain/account.ts";
import type { Refusal, Result } from "../domain/failure.ts";
import { type FieldProblem, IDENTIFIER_MAX_LENGTH } from "../domain/fields.ts";
import type { WallTime } from "../domain/wall-time.ts";
import type { Answer } from "./answer.ts";

export const BODY_MAX_BYTES = 4096;
export const JSON_TYPE = "application/json; charset=utf-8";
/** `Cache-Control` of every answer to a partner. */
export const NEVER_KEPT = "no-store";

const RETRY_AFTER_SECONDS = 1;

/** Actions that the partner should take next. */
export const RETRIES = ["fix_request", "same_request", "new_checkout", "query_status", "no"] as const;
type Retry = (typeof RETRIES)[number];

interface FailureKind {
  readonly code: string;
  readonly status: number;
  readonly retry: Retry;
}

/** All failures of the interface. A test compares docs/failures.md with this table. */
export const FAILURES = {
  missing_token: { code: "400ac001", status: 401, retry: "fix_request" },
  unknown_token: { code: "400ac002", status: 401, retry: "no" },
  expired_token: { code: "400ac003", status: 401, retry: "no" },
  revoked_token: { code: "400ac004", status: 401, retry: "no" },
  partner_suspended: { code: "400ac005", status: 403, retry: "no" },
  rate_limited: { code: "400ac006", status: 429, retry: "same_request" },
  address_not_allowed: { code: "400ac007", status: 403, retry: "no" },
  malformed_json: { code: "400ad001", status: 400, retry: "fix_request" },
  invalid_field: { code: "400ad002", status: 400, retry: "fix_request" },
  unknown_operation: { code: "400ad003", status: 404, retry: "fix_request" },
  method_not_allowed: { code: "400ad004", status: 405, retry: "fix_request" },
  body_too_large: { code: "400ad005", status: 413, retry: "fix_request" },
  unsupported_media_type: { code: "400ad006", status: 415, retry: "fix_request" },
  customer_not_found: { code: "400aa101", status: 404, retry: "no" },
  ambiguous_code: { code: "400aa102", status: 409, retry: "fix_request" },
  connection_not_found: { code: "400aa103", status: 404, retry: "no" },
  customer_inactive: { code: "400aa104", status: 422, retry: "no" },
  connection_blocked: { code: "400aa105", status: 422, retry: "no" },
  checkout_unknown: { code: "400ab101", status: 404, retry: "fix_request" },
  checkout_expired: { code: "400ab102", status: 410, retry: "new_checkout" },
  checkout_used: { code: "400ab103", status: 409, retry: "query_status" },
  checkout_mismatch: { code: "400ab104", status: 422, retry: "new_checkout" },
  bouquet_unavailable: { code: "400ab105", status: 422, retry: "new_checkout" },
  amount_mismatch: { code: "400ab106", status: 422, retry: "fix_request" },
  not_topped_up: { code: "400ab107", status: 404, retry: "query_status" },
  never_topped_up: { code: "400ab108", status: 410, retry: "new_checkout" },
  insufficient_balance: { code: "400ab109", status: 402, retry: "new_checkout" },
  limit_reached: { code: "400ab110", status: 403, retry: "no" },
  internal_error: { code: "400ae001", status: 500, retry: "query_status" },
  unavailable: { code: "400ae002", status: 503, retry: "same_request" },
} as const satisfies Readonly<Record<Refusal, FailureKind> & Record<string, FailureKind>>;

export type FailureReason = keyof typeof FAILURES;

/** Each message says what is wrong and what to do. */
const MESSAGES: Readonly<Record<FailureReason, string>> = {
  missing_token: "The request does not carry one access token. Send one header Authorization: Bearer <ACCESS_TOKEN>.",
  unknown_token: "The access token is not one of this service. Ask the provider for a valid one.",
  expired_token: "The access token has expired. Ask the provider for a new one.",
  revoked_token: "The access token has been revoked. Ask the provider for a new one.",
  partner_suspended: "The provider has suspended this partner. Only txn-status still answers. Contact the provider.",
  rate_limited: "Too many requests or look-ups. Send the same request again after the seconds in Retry-After.",
  address_not_allowed: "The provider does not accept your requests from this IP address. Contact the provider.",
  malformed_json:
    "The request body is not a JSON object in UTF-8 that has each key once. Correct it and send it again.",
  invalid_field: "Fields of the request are missing or wrong. Correct those listed in fields and send it again.",
  unknown_operation: "There is no such operation. Check the version and the name of the operation in the path.",
  method_not_allowed: "The path has other methods. Send the request with a method of the header Allow.",
  body_too_large: `The request is too large: a body may have ${BODY_MAX_BYTES} bytes. Send only the documented fields.`,
  unsupported_media_type: "The body must be plain JSON. Send the header Content-Type: application/json.",
  customer_not_found: "No customer has this code. Check it with the customer.",
  ambiguous_code: "More than one customer has this code. Ask for the customer id, a set-top box number or a username.",
  connection_not_found:
    "The customer has no such connection. Look the customer up and send a service and reqId listed there.",
  customer_inactive: "The customer is inactive and cannot be topped up. The customer should contact the provider.",
  connection_blocked: "The provider has blocked this connection. The customer should contact the provider.",
  checkout_unknown:
    "This checkoutId was not issued to you. This does not prove that no top-up was made with it. Check the checkoutId, the access token and the URL.",
  checkout_expired: "The checkoutId has expired unused. Call get-subscription-package for a new one.",
  checkout_used: "The checkoutId was used for a top-up with other values. Call txn-status to see it.",
  checkout_mismatch:
    "The checkoutId was issued for another customer, service or reqId. Call get-subscription-package for this one.",
  bouquet_unavailable:
    "The bouquet cannot be bought for this connection. Call get-subscription-package and choose one listed there.",
  amount_mismatch: "The amt is not the price of the bouquet. Send the price that get-subscription-package listed.",
  insufficient_balance:
    "The balance of your account was too low. No top-up will be made with this checkoutId. Deposit the amount, then call get-subscription-package for a new one.",
  limit_reached:
    "The top-up would exceed the limit that is named in limit. No top-up will be made with this checkoutId. Wait until limitEndsAt, or contact the provider.",
  not_topped_up:
    "No top-up is recorded with this checkoutId so far. Query again, or send the top-up while the checkoutId is valid.",
  never_topped_up:
    "No top-up was made with this checkoutId, and none will be. Call get-subscription-package to start again.",
  internal_error:
    "The service failed. Call txn-status to learn whether a top-up was recorded, and tell the provider the requestId.",
  unavailable: "The service is unavailable. Try again after the seconds in Retry-After.",
};

const UNAVAILABLE_TOP_UP = {
  message: "It is not known whether the top-up was recorded. Call txn-status after the seconds in Retry-After.",
  retry: "query_status",
} as const;

/** A limit in the words of draft-ietf-httpapi-ratelimit-headers. */
interface Policy {
  readonly name: string;
  readonly quota: number;
  readonly windowMs: number;
}

export interface FailureDetail {
  readonly fields?: readonly FieldProblem[];
  /** The limit of `limit_reached`. */
  readonly limit?: LimitName;
  /** When time ends that limit. */
  readonly limitEndsAt?: WallTime | undefined;
  /** The missing amount of `insufficient_balance`, in major units. */
  readonly missing?: number;
  /** Whether the request was a top-up: its outcome may be unknown. */
  readonly isTopUp?: boolean;
  /** Methods of the path (default POST). */
  readonly allow?: string;
  /** Default 1. */
  readonly retryAfterSeconds?: number;
  /** The limit that refuses the request. */
  readonly policy?: Policy;
}

/** The answer for a failure, in the envelope. */
/** A result, and more about its failure. */
export type Detailed<Value> = Result<Value> & { readonly detail?: FailureDetail };

export function renderFailure(
  reason: FailureReason,
  requestId: string,
  detail: FailureDetail = {},
): Answer & { readonly body: string } {
  const { code, status, retry } = FAILURES[reason];
  const isUncertain = reason === "unavailable" && detail.isTopUp === true;
  const advice = isUncertain ? UNAVAILABLE_TOP_UP : { message: MESSAGES[reason], retry };
  const fields = detail.fields === undefined ? {} : { fields: detail.fields.map(shorten) };
  const { limit, limitEndsAt, missing } = detail;
  const body = { reason, ...advice, requestId, ...fields, limit, limitEndsAt, missing };
  return {
    status,
    headers: headersOf(reason, detail),
    body: JSON.stringify({ success: false, code, body }),
  };
}

const JSON_HEADERS = ["content-type", JSON_TYPE, "cache-control", NEVER_KEPT];
const UNAUTHORIZED_HEADERS = [...JSON_HEADERS, "www-authenticate", "Bearer"];
const laterHeaders = (seconds: number) => [...JSON_HEADERS, "retry-after", String(seconds)];
const LATER_HEADERS = laterHeaders(RETRY_AFTER_SECONDS);

function headersOf(
  reason: FailureReason,
  { allow = "POST", retryAfterSeconds, policy }: FailureDetail,
): readonly string[] {
  if (FAILURES[reason].status === 401) return UNAUTHORIZED_HEADERS;
  if (reason === "method_not_allowed") return [...JSON_HEADERS, "allow", allow];
  if (reason !== "unavailable" && reason !== "rate_limited") return JSON_HEADERS;
  if (retryAfterSeconds === undefined) return LATER_HEADERS;
  const headers = laterHeaders(retryAfterSeconds);
  if (policy === undefined) return headers;
  const { name, quota, windowMs } = policy;
  const [said, left] = [`"${name}";q=${quota};w=${windowMs / 1000}`, `"${name}";r=0;t=${retryAfterSeconds}`];
  return [...headers, "ratelimit-policy", said, "ratelimit", left];
}

/** Names of unknown fields come from the caller: cut them to the length of our longest. */
function shorten({ field, problem }: FieldProblem): FieldProblem {
  return { field: field.slice(0, IDENTIFIER_MAX_LENGTH), problem };
}
