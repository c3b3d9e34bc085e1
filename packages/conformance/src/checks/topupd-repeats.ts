import type { RefusedRepeat, Spending, VersionFacts } from "../facts.ts";
import { both, decided, every, fails, HOLDS, skipped, type Verdict, type VersionCheck } from "./check.ts";
import { judgeFailure, type Reason } from "./failure.ts";

const TOP_UPS = "Top-ups";
const FAILURES = "Failures and requests";
const TRAITS = { needsTopUp: true };

/** Top-ups that topupd does not accept as repeats. */
export const TOPUPD_REPEAT_CHECKS: readonly VersionCheck[] = [
  decided("first-not-replayed", TOP_UPS, "A first top-up is not marked Idempotent-Replayed.", judgeFirst, TRAITS),
  decided(
    "checkout-used-each",
    TOP_UPS,
    "With another reqId, cuid, service or bouquetId it is no repeat.",
    ofRepeats("checkout_used", "otherReqId", "otherCuid", "otherService", "otherBouquet"),
    TRAITS,
  ),
  decided("amt-exact", "Money", "amt with an exponent, or rounded, is not the price.", judgeAmounts, TRAITS),
  decided(
    "missing-token-topup",
    FAILURES,
    "Without an access token, a top-up is refused.",
    ofRepeats("missing_token", "missingToken"),
    TRAITS,
  ),
  decided(
    "unknown-token-topup",
    FAILURES,
    "With an access token never issued, a top-up is refused.",
    ofRepeats("unknown_token", "unknownToken"),
    TRAITS,
  ),
  decided(
    "media-type-topup",
    FAILURES,
    "A top-up in text/plain is refused.",
    ofRepeats("unsupported_media_type", "plainText"),
    TRAITS,
  ),
];

function judgeFirst({ spending }: VersionFacts): Verdict {
  const { topUp } = spending ?? {};
  if (topUp?.answered !== true) return skipped("no top-up was answered");
  const mark = topUp.headers["idempotent-replayed"];
  return mark === undefined ? HOLDS : fails("no Idempotent-Replayed", "that header");
}

function ofRepeats(reason: Reason, ...names: readonly RefusedRepeat[]): VersionCheck["judge"] {
  return ({ spending }) =>
    every(names, "nothing was sent again", (name) => judgeFailure(repeatOf(spending, name), reason));
}

function judgeAmounts({ spending }: VersionFacts): Verdict {
  const rounded = repeatOf(spending, "rounded");
  return both(
    () => judgeFailure(repeatOf(spending, "exponent"), "invalid_field"),
    () => {
      if (rounded === undefined) return HOLDS;
      const verdict = judgeFailure(rounded, "checkout_used");
      // A currency without decimals refuses the field.
      return verdict.outcome === "fails" && judgeFailure(rounded, "invalid_field").outcome === "holds"
        ? HOLDS
        : verdict;
    },
  );
}

function repeatOf(spending: Spending | undefined, name: RefusedRepeat) {
  return spending?.refusedRepeats?.get(name);
}
