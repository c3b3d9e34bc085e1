import type { Failure, Refused } from "./failures.ts";
import type { TransactionResult } from "./values.ts";

/** What became of a top-up. Switch on `outcome`: there are these four. */
export type TopUpOutcome = ToppedUp | TopUpRefused | NeverToppedUp | TopUpUnknown;

/**
 * The purchase is on record.
 *
 * **Look at `result.status`.** `success` is a top-up that stands. `reversed` is one that was made and that the
 * provider has taken back since: the customer does not have it.
 */
export interface ToppedUp {
  readonly outcome: "topped_up";
  readonly result: TransactionResult;
  /** Whether it had been recorded before the answer that told so: a repeat, or found by txn-status. */
  readonly replayed: boolean;
}

/**
 * Nothing was recorded by this purchase, and nothing of it is under way. `failure` says why.
 *
 * At topupd txn-status has borne it out: no refusal names the checkoutId, and one alone may have been another's. Of
 * another deployment it is its own word, which txn-status has borne out twice, half a minute apart. With `failure.kind`
 * `used_otherwise`, another purchase is on record with this checkoutId.
 */
export interface TopUpRefused {
  readonly outcome: "refused";
  readonly failure: Failure;
}

/**
 * Nothing was recorded with this checkoutId, and nothing ever will be: give the money back, or begin anew.
 *
 * txn-status has said so twice. An answer that says so does not name the checkoutId, and one alone may have been another's.
 */
export interface NeverToppedUp {
  readonly outcome: "never";
  readonly failure: Refused;
}

/** It cannot be told. Do not give the money back and do not top up with another checkoutId: do what `next` says. */
export interface TopUpUnknown {
  readonly outcome: "unknown";
  readonly next: Next;
  readonly failure: Failure | undefined;
}

/**
 * What to do about a top-up of which the outcome is unknown.
 *
 * - `query_again`: call topUp with the same purchase and `resumed: true`, after `afterMs`.
 * - `mend_call`: the deployment does not answer this caller at present. Mend the access token or the address, then
 *   do the same.
 * - `ask_provider`: no program can settle it. A person asks the provider what became of the checkoutId.
 */
export interface Next {
  readonly do: "query_again" | "mend_call" | "ask_provider";
  readonly checkoutId: string;
  /** Not before so many milliseconds. */
  readonly afterMs: number;
}
