/** Meaning of each outcome on the wire, for the provider's staff. */
const reasons: Readonly<Record<string, string>> = {
  missing_token: "No access token was sent",
  unknown_token: "The access token is unknown",
  expired_token: "The access token has expired",
  revoked_token: "The access token was revoked",
  partner_suspended: "The partner is suspended",
  rate_limited: "Too many calls",
  address_not_allowed: "Sent from an IP address that is not allowed",
  malformed_json: "The body was not a JSON object",
  invalid_field: "Fields were missing or wrong",
  unknown_operation: "There is no such operation",
  method_not_allowed: "Not sent with POST",
  body_too_large: "The body was too large",
  unsupported_media_type: "The content type was not JSON",
  customer_not_found: "No such customer",
  ambiguous_code: "Several customers have this code",
  connection_not_found: "The customer has no such connection",
  customer_inactive: "The customer is inactive",
  connection_blocked: "The connection is blocked",
  checkout_unknown: "The checkoutId is unknown",
  checkout_expired: "The checkoutId had expired",
  checkout_used: "The checkoutId was used already, with other values",
  checkout_mismatch: "The checkoutId was for another connection",
  bouquet_unavailable: "The bouquet cannot be bought for this connection",
  amount_mismatch: "The amount is not the price",
  insufficient_balance: "The partner's balance was too low",
  limit_reached: "A limit of the partner was reached",
  not_topped_up: "Asked for a top-up that is not recorded yet",
  never_topped_up: "Asked for a top-up that was never made",
  internal_error: "topupd failed",
  unavailable: "topupd was unavailable",
  gave_up: "The caller left before the answer",
};

/** Limits that refuse calls. */
const details = {
  calls: "Too many calls a second",
  "look-ups": "Too many look-ups",
  top_up_amount: "Above the limit of one top-up",
  day_amount: "Above the amount of a day",
  day_top_ups: "Above the number of top-ups of a day",
  paid_ahead: "Paid too far ahead",
};

/** Partners' operations, by their names on the wire. */
const operations: Readonly<Record<string, string>> = {
  "get-customer-information": "Look a customer up",
  "get-subscription-package": "List packages",
  "subscription-package-topup": "Top up",
  "txn-status": "Query a top-up",
  "partner/account": "Show its account",
  "partner/account/entries": "List its entries",
  "partner/top-ups": "List its top-ups",
};

export const refusedCalls = {
  list: "Refused calls of partners",
  lead: "Calls of partners that were refused in the last 30 days.",
  at: "Time",
  partner: "Partner",
  filters: {
    partner: { label: "Partner" },
    reason: { label: "Reason", options: Object.entries(reasons) },
  },
  operation: "Call",
  reason: "Reason",
  code: "Asked for",
  requestId: "Request id",
  emptyTitle: "No call was refused in the last 30 days",
  empty: "If a partner disagrees, ask for the answer's request id.",
  emptyFiltered: "No refused call fits these filters",
  reasons,
  /** The outcome of every call, refused or not. */
  outcomes: {
    ...reasons,
    ...{ success: "Done", replayed: "Done before", no_answer: "No answer", proxy_error: "The proxy failed" },
  } as Readonly<Record<string, string>>,
  details,
  operations,
} as const;
