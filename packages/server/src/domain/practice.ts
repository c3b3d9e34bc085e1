import type { ConnectionKey } from "./customer.ts";

/*
 * The practice customer of the trial environment. Each of its internet connections has one fault, so that partners can
 * practise what their program does when an answer is lost, late or misleading.
 */

export const PRACTICE_CUID = "1000010";

/** How the answer to a top-up goes wrong. */
export type Answering = "nothing" | "half" | "late" | "busy" | "proxy_page" | "limited";

/** The fault of one practice connection. The texts complete the table of the partner's guide. */
export interface Fault {
  /** The username of the connection. */
  readonly name: string;
  /** The answer to a top-up. */
  readonly sent: string;
  readonly recorded: string;
  /** The next step of a correct program. */
  readonly next: string;
  /** Age of a checkoutId when it is issued, in milliseconds (default 0). */
  readonly issuedAgeMs?: number;
  /** The calls of each checkoutId that fail, before it is served normally. */
  readonly failing?: { readonly calls: number; readonly answering: Answering; readonly records: boolean };
  /** Time after the top-up in which txn-status is unavailable, in milliseconds. */
  readonly askFailsMs?: number;
  /** The refusal of each of its top-ups. */
  readonly refusal?: "checkout_expired" | "bouquet_unavailable" | "insufficient_balance" | "limit_reached";
  /** Time after which the provider reverses the top-up, in milliseconds. */
  readonly reversedAfterMs?: number;
}

/** Seconds in `Retry-After` of a practice connection. */
export const PRACTICE_RETRY_SECONDS = 2;
/** Age of a late answer. */
export const LATE_MS = 40_000;

const CLOSED = "the socket closes";
const ASKS = "asks, or sends it again";
const FINDS_SUCCESS = `${ASKS}; finds success`;

export const FAULTS: readonly Fault[] = [
  {
    name: "lost-before",
    sent: CLOSED,
    recorded: "no",
    next: ASKS,
    failing: { calls: 1, answering: "nothing", records: false },
  },
  {
    name: "lost-after",
    sent: CLOSED,
    recorded: "yes",
    next: FINDS_SUCCESS,
    failing: { calls: 1, answering: "nothing", records: true },
  },
  {
    name: "half-answer",
    sent: "half of the answer",
    recorded: "yes",
    next: FINDS_SUCCESS,
    failing: { calls: 1, answering: "half", records: true },
  },
  {
    name: "slow",
    sent: `the answer after ${LATE_MS / 1000} seconds`,
    recorded: "yes",
    next: "stops waiting and asks; never starts a new top-up",
    failing: { calls: 1, answering: "late", records: true },
  },
  {
    name: "busy-before",
    sent: "503 with Retry-After 2, twice",
    recorded: "by the third request",
    next: "sends it again after Retry-After",
    failing: { calls: 2, answering: "busy", records: false },
  },
  {
    name: "busy-after",
    sent: "503 with Retry-After 2, once",
    recorded: "yes",
    next: FINDS_SUCCESS,
    failing: { calls: 1, answering: "busy", records: true },
  },
  {
    name: "proxy-error",
    sent: "502 with an HTML page",
    recorded: "yes",
    next: FINDS_SUCCESS,
    failing: { calls: 1, answering: "proxy_page", records: true },
  },
  {
    name: "limited",
    sent: "429 with Retry-After 2, once",
    recorded: "by the second request",
    next: "sends it again after Retry-After",
    failing: { calls: 1, answering: "limited", records: false },
  },
  {
    name: "ask-fails",
    sent: `${CLOSED}; txn-status answers 503 for 10 seconds`,
    recorded: "yes",
    next: "keeps asking",
    failing: { calls: 1, answering: "nothing", records: true },
    askFailsMs: 10_000,
  },
  {
    name: "expired",
    sent: "410 checkout_expired: its checkoutIds are 361 seconds old; txn-status says never_topped_up",
    recorded: "never",
    next: "refunds after never_topped_up",
    issuedAgeMs: 361_000,
    refusal: "checkout_expired",
  },
  {
    name: "undecided",
    sent: `${CLOSED}; its checkoutIds are 300 seconds old, so txn-status says not_topped_up for a minute, then never_topped_up`,
    recorded: "never",
    next: "waits for never_topped_up, then refunds",
    // A millisecond too old for a top-up, whenever the request comes.
    issuedAgeMs: 300_001,
    failing: { calls: 1, answering: "nothing", records: false },
  },
  {
    name: "withdrawn",
    sent: "422 bouquet_unavailable",
    recorded: "no",
    next: "lists again, or refunds",
    refusal: "bouquet_unavailable",
  },
  {
    name: "short",
    sent: "402 insufficient_balance; txn-status says never_topped_up at once",
    recorded: "never",
    next: "refunds, or lists again after a deposit",
    refusal: "insufficient_balance",
  },
  {
    name: "day-limit",
    sent: "403 limit_reached; txn-status says never_topped_up at once",
    recorded: "never",
    next: "refunds, or lists again after limitEndsAt",
    refusal: "limit_reached",
  },
  {
    name: "reversed",
    sent: "success; the provider reverses it 10 seconds later",
    recorded: "yes, then reversed",
    next: "shows the reversal in its reconciliation",
    reversedAfterMs: 10_000,
  },
];

const BY_NAME: ReadonlyMap<string, Fault> = new Map(FAULTS.map((fault) => [fault.name, fault]));

/** The fault of a connection; undefined in production, and for all other customers. */
export function faultOf({ environment, cuid, service, reqId }: ConnectionKey): Fault | undefined {
  if (environment !== "trial" || cuid !== PRACTICE_CUID || service !== "internet") return undefined;
  return BY_NAME.get(reqId);
}

/** The operation that tops up, as paths name it. */
export const TOP_UP_OPERATION = "subscription-package-topup";

/** A call in the trial environment, for the practice report. */
export interface TrialCall {
  /** Time of arrival. */
  readonly at: number;
  /** Milliseconds until the answer was written, or the caller left. */
  readonly ms: number;
  readonly partnerId: number;
  /** Version of the interface. */
  readonly version: string;
  readonly operation: string;
  readonly cuid: string | undefined;
  readonly service: string | undefined;
  readonly reqId: string | undefined;
  readonly checkoutId: string | undefined;
  readonly bouquetId: string | undefined;
  /** The amount as it was sent. */
  readonly amount: string | undefined;
  /** `success`, `replayed`, the reason of a failure, `no_answer`, or `proxy_error`. */
  readonly outcome: string;
  /** Seconds in `Retry-After`. */
  readonly retryAfter: number | undefined;
  readonly requestId: string;
}
