import { describeAnswer, type Exchange, unjudgeable } from "../exchange.ts";
import type { Spending } from "../facts.ts";
import { claimsTopUp, saysNo } from "../read.ts";
import { fails, HOLDS, noted, skipped, type Verdict } from "../verdict.ts";
import { money, must, type VersionCheck } from "./check.ts";

const NOT_TRIED = "not tried: that needs --expiry, and nothing left open before it";

/** What costs somebody money where a service takes it. */
export const MONEY_CHECKS: readonly VersionCheck[] = [
  money("money-amount", "§4.3 subscription-package-topup", "Another amount than the price buys nothing.", (facts) =>
    judgeAttempt(facts.spending, facts.spending?.wrongAmount),
  ),
  money("money-customer", "§4.3 subscription-package-topup", "Another customer's checkoutId buys nothing.", (facts) =>
    judgeAttempt(facts.spending, facts.spending?.wrongCuid),
  ),
  money("money-token", "§5 Authentication", "Without an access token, nothing is bought.", ({ spending }) =>
    judgeAttempt(spending, spending?.missingToken ?? spending?.refusedRepeats?.get("missingToken")),
  ),
  must(
    "checkout-expires",
    "§3 States and transitions",
    "A checkoutId of more than five minutes ago buys nothing.",
    ({ spending }) => {
      if (spending?.topUp !== undefined && spending.expired === undefined) return skipped(NOT_TRIED);
      return judgeAttempt(spending, spending?.expired, fails);
    },
    { needsTopUp: true },
  ),
];

function judgeAttempt(spending: Spending | undefined, answer: Exchange | undefined, blame = noted): Verdict {
  if (answer === undefined) return skipped("no such top-up was sent");
  const open = unjudgeable(answer);
  if (open !== undefined) return skipped(open);
  if (claimsTopUp(answer, spending?.topUp)) return blame("a refusal", describeAnswer(answer));
  // A refusal may have bought all the same.
  const isKnown = saysNo(answer, spending?.topUp) && spending?.isInDoubt !== true;
  return isKnown ? HOLDS : skipped(spending?.stopped ?? "it was neither taken nor refused");
}
