/** Why the rules refuse a partner's request. partner/failures.ts maps each to its HTTP answer. */
export type Refusal =
  | "unknown_token"
  | "expired_token"
  | "revoked_token"
  | "partner_suspended"
  | "address_not_allowed"
  | "rate_limited"
  | "customer_not_found"
  | "ambiguous_code"
  | "connection_not_found"
  | "customer_inactive"
  | "connection_blocked"
  | "checkout_unknown"
  | "checkout_expired"
  | "checkout_used"
  | "checkout_mismatch"
  | "bouquet_unavailable"
  | "amount_mismatch"
  | "insufficient_balance"
  | "limit_reached"
  | "not_topped_up"
  | "never_topped_up";

/** The value of an operation, or why it was refused. */
export type Result<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly refusal: Refusal };

export function done<Value>(value: Value): Result<Value> {
  return { ok: true, value };
}

export function refused(refusal: Refusal): { readonly ok: false; readonly refusal: Refusal } {
  return { ok: false, refusal };
}
