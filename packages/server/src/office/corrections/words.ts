import type { Static } from "typebox";
import type { BlockOutcome, GoodwillOutcome } from "../../domain/correction.ts";
import { Refused } from "../../domain/refused.ts";
import { runLines } from "../common.ts";
import { type ConnectionInput, noConnection } from "../customers/find.ts";
import type { Shown } from "../operation.ts";
import { count, fieldLines } from "../text.ts";
import type { TransactionReversalSchema } from "../transactions/schemas.ts";
import type { GoodwillEffectSchema } from "./schemas.ts";

const NO_GOODWILL = "there is no goodwill that is not reversed yet: topupd why shows the entries";

/** Domain's reason to refuse a correction. */
export const REFUSALS = {
  history_gone: "nothing was reversed: the history before this top-up was deleted (topupd prune)",
  too_long: "the subscription would end after the year 9999: give fewer days",
  blocked_by_records: "the provider's own records block it, not staff: correct the records and import them",
  goodwill: {
    not_found: NO_GOODWILL,
    already_reversed: NO_GOODWILL,
    not_last: "this is not the last goodwill any more: look again",
    history_gone: "nothing was reversed: the history before this goodwill was deleted (topupd prune)",
  },
} as const;

type Undone = Exclude<GoodwillOutcome | BlockOutcome, { readonly kind: "granted" | "done" }>;

/** Words why a connection is not corrected. */
export function notCorrected(
  outcome: Undone,
  input: ConnectionInput & { readonly plan?: string | undefined },
): Refused {
  switch (outcome.kind) {
    case "not_found":
      return noConnection(input);
    case "too_long":
    case "blocked_by_records":
      return new Refused("conflict", REFUSALS[outcome.kind]);
    default:
      return planUnclear(outcome, input.plan);
  }
}

export function planUnclear(
  { kind, plans }: { readonly kind: string; readonly plans: readonly string[] },
  plan: string | undefined,
): Refused {
  const known = plans.length === 0 ? "it has none" : `it has ${plans.join(", ")}`;
  const which = plan === undefined ? "base subscription" : `subscription of the plan ${plan}`;
  if (kind === "no_subscription") return new Refused("conflict", `there is no ${which} to give days to: ${known}`);
  return new Refused("conflict", (naming) => {
    return `several subscriptions fit: say which, with ${plans.map((each) => naming("plan", each)).join(" or ")}`;
  });
}

export function goodwillLines(done: string) {
  return (effect: Static<typeof GoodwillEffectSchema>): Shown => {
    const { cuid, service, reqId, plan, days } = effect;
    const which = `${service} ${reqId} of customer ${cuid}`;
    return {
      out: fieldLines([[done, count(days, "day")], ["connection", which], ["plan", plan], ...runLines(effect)]),
    };
  };
}

export function reversalLines(reversal: Static<typeof TransactionReversalSchema>): Shown {
  const { txnId, amount, partner, cuid, service, reqId, plan, before, after } = reversal;
  const out = fieldLines([
    ["reversed", txnId],
    ["amount", amount],
    ["partner", partner],
    ["connection", `${service} ${reqId} of customer ${cuid}`],
    ["plan", plan],
    ...runLines(reversal),
  ]);
  return before === null || before.end !== after?.end ? { out } : { out, note: NOT_MOVED };
}

const NOT_MOVED =
  "The end has not moved: the time of this top-up was used up before, or later records of the provider hold it. See topupd why.\n";
