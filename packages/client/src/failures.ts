import type { FailureCode, FailureReason, Retry } from "./known-failures.ts";
import type { TransactionResult } from "./values.ts";

/**
 * All that can be in the way of a value. A closed union: switch on `kind`. None of them ever holds the access
 * token, and each can be logged as JSON.
 */
export type Failure = Refused | RefusedOtherwise | UsedOtherwise | Unsettled | NoAnswer | Unreadable;

export type OperationName =
  | "get-customer-information"
  | "get-subscription-package"
  | "subscription-package-topup"
  | "txn-status";

/** The headers that help with an answer, by their names in lower case. */
export type AnswerHeaders = Readonly<Record<string, string>>;

interface Said {
  readonly operation: OperationName;
  /** A sentence for the log. Its wording may change. */
  readonly message: string;
}

interface Answered extends Said {
  readonly httpStatus: number;
  readonly headers: AnswerHeaders;
  /** What the provider finds the request by. */
  readonly requestId: string | undefined;
  /** How long the deployment asks to wait, in milliseconds. */
  readonly retryAfterMs: number | undefined;
}

/** One of the failures that topupd documents. */
export interface Refused extends Answered {
  readonly kind: "refused";
  readonly code: FailureCode;
  readonly reason: FailureReason;
  readonly retry: Retry;
  /** With `invalid_field`: everything that is wrong with the request. */
  readonly fields: readonly FieldProblem[] | undefined;
}

export interface FieldProblem {
  readonly field: string;
  readonly problem: string;
}

/** An answer that says no in a shape of its own: another deployment's, a later topupd's, or a proxy's. */
export interface RefusedOtherwise extends Answered {
  readonly kind: "refused_otherwise";
  /** Whether it is the interface's envelope, with `success` false: the deployment's own word, and not a proxy's. */
  readonly inEnvelope: boolean;
  /** The envelope's code, if there is one. */
  readonly code: string | undefined;
  /** What to do next, where the answer says it in topupd's words. */
  readonly retry: Retry | undefined;
  /** The whole answer: the parsed JSON, or the text, of which at most 4,000 characters are kept. */
  readonly body: unknown;
}

/** The checkoutId has a result, but of a purchase with other values. */
export interface UsedOtherwise extends Said {
  readonly kind: "used_otherwise";
  readonly recorded: TransactionResult;
  /** The names of the fields in which the recorded top-up differs from the purchase. */
  readonly differs: readonly string[];
}

/** There is a result, but with a status of which nobody can say whether it is a top-up. */
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

/** What was thrown, in words only: an error object may hold the request's headers. */
export interface Cause {
  readonly name: string;
  readonly message: string;
  readonly code: string | undefined;
}

/** An answer that cannot be trusted: broken JSON, a page of a proxy, a success of the wrong shape. */
export interface Unreadable extends Answered {
  readonly kind: "unreadable";
  /** At most 4,000 characters of it. */
  readonly text: string;
}
