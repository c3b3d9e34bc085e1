/* The one customer of the fake provider, and what can be bought. */

export const TOKEN = "topup_trial_of-the-wallet-7f3a";
export const CODE = "4400017";
export const MOBILE = "9812345678";

export const CUSTOMER = { cuid: CODE, first_name: "Mayadevi", last_name: "Gurungseni", status: "active" };

export const CONNECTIONS = {
  tv: [
    { stb: "000700000000011", status: "active" },
    { stb: "000700000000012", status: "inactive" },
  ],
  internet: [{ username: "maya.net", status: "active" }],
  iptv: [{ username: "maya-iptv", status: "active" }],
};

export const BOUQUETS: Readonly<Record<string, readonly { code: string; name: string; price: number }[]>> = {
  tv: [
    { code: "TV-1M", name: "Family (MONTHLY)", price: 450 },
    { code: "TV-12M", name: "Family (YEARLY)", price: 4950.5 },
  ],
  internet: [
    { code: "NET-3M", name: "Fiber 60 (QUARTERLY)", price: 2500.5 },
    { code: "NET-1M", name: "Fiber 60 (MONTHLY)", price: 900 },
    { code: "IP-1M", name: "Static IP [AddOn] (MONTHLY)", price: 150 },
  ],
  iptv: [{ code: "ITV-6M", name: "Streams (HALF YEARLY)", price: 1620 }],
};

/** [code, HTTP status, retry] of topupd's failures, as docs/failures.md has them. */
export const FAILURES: Readonly<Record<string, readonly [string, number, string]>> = {
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
  checkout_mismatch: ["400ab104", 422, "new_checkout"],
  checkout_used: ["400ab103", 409, "query_status"],
  bouquet_unavailable: ["400ab105", 422, "new_checkout"],
  amount_mismatch: ["400ab106", 422, "fix_request"],
  not_topped_up: ["400ab107", 404, "query_status"],
  never_topped_up: ["400ab108", 410, "new_checkout"],
  insufficient_balance: ["400ab109", 402, "new_checkout"],
  limit_reached: ["400ab110", 403, "no"],
  unavailable: ["400ae002", 503, "query_status"],
};
