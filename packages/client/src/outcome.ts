import type { Failure, Refused } from "./failures.ts";
import type { TransactionResult } from "./values.ts";

/** The outcome of a top-up. Switch on `outcome`. */
export type TopUpOutcome = ToppedUp | TopUpRefused | NeverToppedUp | TopUpUndecided;

/**
 * The purchase is recorded.
 *
 * **Check `result.status`.** `success` is a valid top-up. `reversed` is a top-up that the provider has reversed: the
 * customer does not have it.
 */
export interface ToppedUp {
  readonly outcome: "topped_up";
  readonly result: TransactionResult;
  /** Whether it was recorded before this answer: a repeat, or found by txn-status. */
  readonly replayed: boolean;
}

/**
 * Nothing was recorded for this purchase, and no request is open. `failure` gives the reason.
 *
 * With topupd, txn-status confirmed it: a refusal names no checkoutId, so it may belong to another request. With another
 * deployment, txn-status confirmed the refusal twice, half a minute apart. If `failure.kind` is `used_otherwise`, another
 * purchase is recorded with this checkoutId.
 */
export interface TopUpRefused {
  readonly outcome: "refused";
  readonly failure: Failure;
}

/**
 * Nothing was recorded with this checkoutId, and nothing ever will be: return the money, or start again.
 *
 * txn-status said so twice: such an answer names no checkoutId, so one alone may belong to another request.
 */
export interface NeverToppedUp {
  readonly outcome: "never_topped_up";
  readonly failure: Refused;
}

/** The outcome is undecided. Do not return the money, and do not use another checkoutId: do what `next` says. */
export interface TopUpUndecided {
  readonly outcome: "undecided";
  readonly next: Next;
  readonly failure: Failure | undefined;
}

/**
 * The next action for an undecided top-up.
 *
 * - `query_again`: call topUp with the same purchase and `resumed: true`, after `afterMs`.
 * - `fix_request`: the deployment refuses all your calls now. Fix the access token, IP address or `base`, then do the same.
 * - `ask_provider`: no program can decide it. A person asks the provider about the checkoutId.
 */
export interface Next {
  readonly do: "query_again" | "fix_request" | "ask_provider";
  readonly checkoutId: string;
  /** Milliseconds to wait at least. */
  readonly afterMs: number;
}
