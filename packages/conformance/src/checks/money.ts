import { describeAnswer, type Exchange, unjudgeable } from "../exchange.ts";
import type { Spending } from "../facts.ts";
import { claimsTopUp, saysNo } from "../read.ts";
import { fails, HOLDS, money, must, noted, skipped, type Verdict, type VersionCheck } from "./check.ts";

const TRAITS = { needsTopUp: true };
const NOT_TRIED = "not tried: that needs --expiry, and nothing left open before it";

/** Top-ups that cost money if the service accepts them. */
export const MONEY_CHECKS: readonly VersionCheck[] = [
  money(
    "money-amount",
    "§4.3 subscription-package-topup",
    "Another amount than the price buys nothing.",
    ({ spending }) => judgeAttempt(spending, spending?.wrongAmount),
    TRAITS,
  ),
  money(
    "money-customer",
    "§4.3 subscription-package-topup",
    "Another customer's checkoutId buys nothing.",
    ({ spending }) => judgeAttempt(spending, spending?.wrongCuid),
    TRAITS,
  ),
  money(
    "money-token",
    "§5 Authentication",
    "Without an access token, nothing is bought.",
    ({ spending }) => judgeAttempt(spending, spending?.missingToken ?? spending?.refusedRepeats?.get("missingToken")),
    TRAITS,
  ),
  must(
    "checkout-expires",
    "§3 States and transitions",
    "A checkoutId of more than five minutes ago buys nothing.",
    ({ spending }) => {
      if (spending?.topUp !== undefined && spending.expired === undefined) return skipped(NOT_TRIED);
      return judgeAttempt(spending, spending?.expired, fails);
    },
    TRAITS,
  ),
];

function judgeAttempt(spending: Spending | undefined, answer: Exchange | undefined, blame = noted): Verdict {
  if (answer === undefined) return skipped("no such top-up was sent");
  const open = unjudgeable(answer);
  if (open !== undefined) return skipped(open);
  if (claimsTopUp(answer, spending?.topUp)) return blame("a refusal", describeAnswer(answer));
  // A refused top-up may still have been made.
  const isKnown = saysNo(answer, spending?.topUp) && spending?.isInDoubt !== true;
  return isKnown ? HOLDS : skipped(spending?.stopped ?? "it was neither taken nor refused");
}
