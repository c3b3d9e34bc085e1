import { type Exchange, isRefusal, isSuccess, type NoAnswer, TIME_LIMIT } from "./exchange.ts";
import type { Plan, Spending } from "./facts.ts";
import { countGrowths } from "./reach.ts";
import { claimsTopUp, readResult, saysNo, txnIdOf } from "./read.ts";

/*
 * Whether something may have been bought that nobody announced. Each answers with the reason to send nothing more, or
 * with undefined. What is not known counts as bought: it is somebody's money.
 */

type Seen = Spending & { readonly plan: Plan; readonly listings: readonly Exchange[] };

/** After a top-up that should have been refused. @param what was wrong with it, such as "a wrong amount". */
export function doubtAfterProbe(seen: Seen, what: string, answer: Exchange, status: Exchange): string | undefined {
  if (!answer.answered) return unanswered(`a top-up with ${what}`, answer);
  if (!isRefusal(answer)) return `a top-up with ${what} was not refused`;
  const isBought = readResult(status) !== undefined || countGrowths(seen.listings, seen.plan.connection.service) > 0;
  if (isBought) return `a top-up with ${what} was refused, and made all the same`;
  return isRefusal(status) ? undefined : `txn-status left open what a top-up with ${what} has done`;
}

/** After a top-up that had better be refused, with a checkoutId of its own. @param listings those before and after it. */
export function doubtAfterAttempt(
  { topUp, plan, listings }: Seen,
  what: string,
  answer: Exchange,
  status: Exchange,
): string | undefined {
  if (!answer.answered) return unanswered(`a top-up with ${what}`, answer);
  if (!saysNo(answer, topUp)) return `a top-up with ${what} was not refused`;
  // Another service may tell of an unused checkoutId in a result without a name.
  const isBought = (txnIdOf(status) ?? "") !== "" || countGrowths(listings, plan.connection.service) > 0;
  return isBought ? `a top-up with ${what} was refused, and made all the same` : undefined;
}

/** After the top-up that was announced. */
export function doubtAfterTopUp({ topUp, status }: Spending): string | undefined {
  if (topUp === undefined || isSuccess(topUp)) return undefined;
  if (!topUp.answered) return unanswered("the top-up", topUp);
  if (readResult(status) !== undefined) return "the top-up did not succeed, and was made all the same";
  return isRefusal(topUp) ? undefined : "the top-up was neither made nor refused";
}

/** After the same checkoutId was sent again. */
export function doubtAfterRepeat(seen: Seen, repeat: Exchange, status: Exchange): string | undefined {
  if (!repeat.answered) return unanswered("a repeated top-up", repeat);
  const isAnother =
    (claimsTopUp(repeat, seen.topUp) && differ(txnIdOf(repeat), txnIdOf(seen.topUp))) ||
    differ(txnIdOf(status), txnIdOf(seen.status)) ||
    countGrowths(seen.listings, seen.plan.connection.service) > 1;
  if (isAnother) return "the checkoutId bought twice: nothing more was sent";
  return status.answered ? undefined : `${unanswered("txn-status", status)}, after a repeated top-up`;
}

/** After the last look at what was topped up and sent again. */
export function doubtAfterLateLook({ listings, plan }: Seen): string | undefined {
  return countGrowths(listings, plan.connection.service) > 1
    ? "the checkoutId extended twice, and showed it late"
    : undefined;
}

/** The kit's own time limit is not the service's doing. */
function unanswered(what: string, { problem }: NoAnswer): string {
  return problem.startsWith(TIME_LIMIT) ? `${what} had ${problem}` : `${what} was not answered`;
}

function differ(one: string | undefined, other: string | undefined): boolean {
  return one !== undefined && other !== undefined && one !== other;
}
