import type { LimitName } from "../../domain/account.ts";
import type { Refusal } from "../../domain/failure.ts";
import type { Detailed } from "../../partner/failures.ts";
import { Problem, type ProblemCode } from "../staff-api/problems.ts";

/** Refusals of a partner's requests, in words for a seller: what is wrong, and what to do. */
const WORDS: Readonly<Record<Refusal, string>> = {
  unknown_token: "Your account may not sell any more. Ask your provider.",
  expired_token: "Your account may not sell any more. Ask your provider.",
  revoked_token: "Your account may not sell any more. Ask your provider.",
  partner_suspended: "The provider has suspended your shop. Nothing can be sold. Ask the provider.",
  address_not_allowed: "The provider does not accept sales from here. Ask the provider.",
  rate_limited: "You have looked up too many new customers. Wait, or look up a customer whom you sold to before.",
  customer_not_found: "No customer has this number. Check it with the customer.",
  ambiguous_code: "Several customers have this number. Ask for the customer id, the box number or the username.",
  connection_not_found: "The customer does not have this connection any more. Look the customer up again.",
  customer_inactive: "The customer is inactive. The customer should ask the provider.",
  connection_blocked: "The provider has blocked this connection. The customer should ask the provider.",
  checkout_unknown: "This sale is not one of your shop. Begin a new one.",
  checkout_expired: "This sale was begun more than five minutes ago, and nothing was sold. Begin it again.",
  checkout_used: "This sale was made already, with another bouquet. See Sales.",
  checkout_mismatch: "This sale was begun for another connection. Begin it again.",
  bouquet_unavailable: "The bouquet cannot be sold for this connection now. Begin the sale again.",
  amount_mismatch: "The price has changed, and nothing was sold. Begin the sale again.",
  insufficient_balance: "The balance of your shop is too low, and nothing was sold.",
  limit_reached: "A limit of your shop is reached, and nothing was sold.",
  not_topped_up: "Nothing is sold yet.",
  never_topped_up: "Nothing was sold, and nothing will be. Begin the sale again.",
};

const LIMITS: Readonly<Record<LimitName, string>> = {
  top_up_amount: "The price is above the limit of your shop for one sale, and nothing was sold.",
  day_amount: "Your shop has reached its amount of this day, and nothing was sold.",
  day_top_ups: "Your shop has reached its number of sales of this day, and nothing was sold.",
  paid_ahead: "The connection would be paid too far ahead, and nothing was sold.",
};

const CODES: Readonly<Partial<Record<Refusal, ProblemCode>>> = {
  customer_not_found: "not_found",
  connection_not_found: "not_found",
  checkout_unknown: "not_found",
  unknown_token: "forbidden",
  expired_token: "forbidden",
  revoked_token: "forbidden",
  partner_suspended: "forbidden",
  rate_limited: "too_many_look_ups",
};

export function wordsOf(refusal: Refusal): string {
  return WORDS[refusal];
}

/** The problem of a refusal. @param currency the code of amounts; undefined if it is not set. */
export function refusedSale({ refusal, detail }: Refused, currency: string | undefined): Problem {
  const { limit, limitEndsAt, missing, retryAfterSeconds } = detail ?? {};
  const words = limit === undefined ? WORDS[refusal] : LIMITS[limit];
  const more = [
    ...(missing === undefined ? [] : [`${currency === undefined ? "" : `${currency} `}${missing} is missing.`]),
    ...(limitEndsAt === undefined ? [] : [`You can sell again from ${limitEndsAt}.`]),
  ];
  return new Problem(CODES[refusal] ?? "conflict", [words, ...more].join(" "), undefined, retryAfterSeconds);
}

type Refused = Pick<Extract<Detailed<never>, { ok: false }>, "refusal" | "detail">;
