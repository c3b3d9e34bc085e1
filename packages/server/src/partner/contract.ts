import type { Refusal } from "../domain/failure.ts";
import type { Transaction } from "../domain/top-up.ts";
import type { Packages, PackagesRequest } from "./list-packages.ts";
import type { CustomerInformation, LookUpRequest } from "./look-up-customer.ts";
import type { TransactionQuery } from "./query-transaction.ts";
import type { RequestForm } from "./requests.ts";
import { LISTING, LOOK_UP, TRANSACTION_QUERY } from "./requests.ts";
import type { TopUpAnswer, TopUpRequest } from "./top-up.ts";
import type { Rendering, Version } from "./versions/version.ts";

/** Success codes (interface, section 7). */
const LOOKED_UP = "400aa010";
const SETTLED = "400ab001";

export const TOP_UP_OPERATION = "subscription-package-topup";
export const QUERY_OPERATION = "txn-status";

/** What partners are told of one operation of one version: routes and OpenAPI documents are made of it. */
export interface OperationContract<Request, Answer> {
  /** The last part of the path. */
  readonly name: string;
  readonly tag: "Customers" | "Top-ups";
  readonly summary: string;
  readonly description: string;
  /** Of a success. */
  readonly code: string;
  readonly request: RequestForm<Request>;
  readonly rendering: Rendering<Answer>;
  /** What the rules may refuse it for; what can go wrong with every request is not listed again. */
  readonly refusals: readonly Refusal[];
}

export interface Contract {
  readonly lookUp: OperationContract<LookUpRequest, CustomerInformation>;
  readonly listing: OperationContract<PackagesRequest, Packages>;
  readonly topUp: OperationContract<TopUpRequest, TopUpAnswer>;
  readonly query: OperationContract<TransactionQuery, Transaction>;
}

/** The four operations of a version (interface, section 4). */
export function contractOf(version: Version): Contract {
  return {
    lookUp: {
      name: "get-customer-information",
      tag: "Customers",
      summary: "Find a customer",
      description: "Finds a customer with all connections by one code that the customer gives.",
      code: LOOKED_UP,
      request: LOOK_UP,
      rendering: version.customerInformation,
      refusals: ["partner_suspended", "customer_not_found", "ambiguous_code"],
    },
    listing: {
      name: "get-subscription-package",
      tag: "Customers",
      summary: "List packages, and get a checkoutId",
      description:
        "Lists what runs on one connection and what can be bought for it, and issues a checkoutId that is good for one top-up within five minutes.",
      code: LOOKED_UP,
      request: LISTING,
      rendering: version.packages,
      refusals: [
        "partner_suspended",
        "customer_not_found",
        "connection_not_found",
        "customer_inactive",
        "connection_blocked",
      ],
    },
    topUp: {
      name: TOP_UP_OPERATION,
      tag: "Top-ups",
      summary: "Top up",
      description:
        "Buys one bouquet for the connection, and answers when that is safely on disk. The same request sent again with the same checkoutId is answered with the same result, and tops up nothing more. When no answer comes, ask txn-status.",
      code: SETTLED,
      request: version.topUp,
      rendering: {
        schema: version.transaction.schema,
        render: ({ transaction }, exponent) => version.transaction.render(transaction, exponent),
      },
      refusals: [
        "partner_suspended",
        "customer_not_found",
        "connection_not_found",
        "customer_inactive",
        "connection_blocked",
        "checkout_unknown",
        "checkout_expired",
        "checkout_used",
        "checkout_mismatch",
        "bouquet_unavailable",
        "amount_mismatch",
      ],
    },
    query: {
      name: QUERY_OPERATION,
      tag: "Top-ups",
      summary: "Ask what became of a top-up",
      description:
        "Tells the result of the top-up that was made with a checkoutId, or that there is none so far, or that there never will be one.",
      code: SETTLED,
      request: TRANSACTION_QUERY,
      rendering: version.transaction,
      refusals: ["checkout_unknown", "not_topped_up", "never_topped_up"],
    },
  };
}
