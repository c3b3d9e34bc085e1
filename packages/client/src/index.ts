export { fromMinorUnits, toMinorUnits } from "./amounts.ts";
export type { Answer } from "./answers.ts";
export { type CallOptions, type Client, createClient, type ListRequest, type TopUpOptions } from "./client.ts";
export type { Clock } from "./clock.ts";
export type { Fetch } from "./exchange.ts";
export {
  type AnswerHeaders,
  type Cause,
  type Failure,
  type FailureCode,
  type FailureReason,
  type FieldProblem,
  KNOWN_FAILURES,
  type NoAnswer,
  type OperationName,
  type Refused,
  type RefusedOtherwise,
  type ReportName,
  type Retry,
  type Unreadable,
  type Unsettled,
  type UsedOtherwise,
} from "./failures.ts";
export type { ClientOptions } from "./options.ts";
export type { NeverToppedUp, Next, ToppedUp, TopUpOutcome, TopUpRefused, TopUpUndecided } from "./outcome.ts";
export type { MinorUnits, Purchase } from "./purchase.ts";
export type { Version } from "./read-values.ts";
export type {
  Account,
  AccountEntries,
  AccountEntry,
  AccountLimits,
  Bouquet,
  CommissionRule,
  Connection,
  Customer,
  CustomerProfile,
  Days,
  Listed,
  OwnTopUp,
  PackageListing,
  Service,
  Subscription,
  TransactionResult,
} from "./values.ts";
