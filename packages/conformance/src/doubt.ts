import { type Exchange, isRefusal, isSuccess, type NoAnswer, TIME_LIMIT } from "./exchange.ts";
import type { Plan, Spending } from "./facts.ts";
import { countGrowths } from "./reach.ts";
import { claimsTopUp, readResult, saysNo, txnIdOf } from "./read.ts";

/*
 * Decides whether something may have been bought that was not announced. Each function returns the reason to send nothing
 * more, or undefined. An unknown outcome counts as bought.
 */

type Seen = Spending & { readonly plan: Plan; readonly listings: readonly Exchange[] };

/** The doubt after a top-up that had to be refused. @param what its fault, such as "a wrong amount". */
export function doubtAfterProbe(seen: Seen, what: string, answer: Exchange, status: Exchange): string | undefined {
  if (!answer.answered) return unanswered(`a top-up with ${what}`, answer);
  if (!isRefusal(answer)) return `a top-up with ${what} was not refused`;
  const isBought = readResult(status) !== undefined || countGrowths(seen.listings, seen.plan.connection.service) > 0;
  if (isBought) return `a top-up with ${what} was refused, and made all the same`;
  return isRefusal(status) ? undefined : `txn-status left open what a top-up with ${what} has done`;
}

/** The doubt after a costly top-up with its own checkoutId. @param listings the listings before and after it. */
export function doubtAfterAttempt(
  { topUp, plan, listings }: Seen,
  what: string,
  answer: Exchange,
  status: Exchange,
): string | undefined {
  if (!answer.answered) return unanswered(`a top-up with ${what}`, answer);
  if (!saysNo(answer, topUp)) return `a top-up with ${what} was not refused`;
  // Another service may answer for an unused checkoutId with a result without txnId.
  const isBought = (txnIdOf(status) ?? "") !== "" || countGrowths(listings, plan.connection.service) > 0;
  return isBought ? `a top-up with ${what} was refused, and made all the same` : undefined;
}

/** The doubt after the announced top-up. */
export function doubtAfterTopUp({ topUp, status }: Spending): string | undefined {
  if (topUp === undefined || isSuccess(topUp)) return undefined;
  if (!topUp.answered) return unanswered("the top-up", topUp);
  if (readResult(status) !== undefined) return "the top-up did not succeed, and was made all the same";
  return isRefusal(topUp) ? undefined : "the top-up was neither made nor refused";
}

/** The doubt after a repeat with the same checkoutId. */
export function doubtAfterRepeat(seen: Seen, repeat: Exchange, status: Exchange): string | undefined {
  if (!repeat.answered) return unanswered("a repeated top-up", repeat);
  const isAnother =
    (claimsTopUp(repeat, seen.topUp) && differ(txnIdOf(repeat), txnIdOf(seen.topUp))) ||
    differ(txnIdOf(status), txnIdOf(seen.status)) ||
    countGrowths(seen.listings, seen.plan.connection.service) > 1;
  if (isAnother) return "the checkoutId bought twice: nothing more was sent";
  return status.answered ? undefined : `${unanswered("txn-status", status)}, after a repeated top-up`;
}

/** The doubt after the last listing. */
export function doubtAfterLateLook({ listings, plan }: Seen): string | undefined {
  return countGrowths(listings, plan.connection.service) > 1
    ? "the checkoutId extended twice, and showed it late"
    : undefined;
}

/** The words show if the kit's own time limit ended the call. */
function unanswered(what: string, { problem }: NoAnswer): string {
  return problem.startsWith(TIME_LIMIT) ? `${what} had ${problem}` : `${what} was not answered`;
}

function differ(one: string | undefined, other: string | undefined): boolean {
  return one !== undefined && other !== undefined && one !== other;
}
