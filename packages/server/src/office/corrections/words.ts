import type { Static } from "typebox";
import type { BlockOutcome, GoodwillOutcome, GoodwillReversalOutcome, PlanUnclear } from "../../domain/correction.ts";
import { Refused } from "../../domain/refused.ts";
import { runLines } from "../common.ts";
import { type ConnectionInput, noConnection } from "../customers/find.ts";
import type { Shown } from "../operation.ts";
import { count, fieldLines } from "../text.ts";
import type { TransactionReversalSchema } from "../transactions/schemas.ts";
import type { GoodwillEffectSchema } from "./schemas.ts";

/** Domain's reason to refuse a correction. */
export const REFUSALS = {
  history_gone: "nothing was reversed: the history before it was deleted (topupd prune)",
  no_goodwill: "there is no goodwill that is not reversed yet: topupd why shows the entries",
  too_long: "the subscription would end after the year 9999: give fewer days",
  blocked_by_records: "the provider's own records block it, not staff: correct the records and import them",
} as const;

type Undone = Exclude<
  GoodwillOutcome | GoodwillReversalOutcome | BlockOutcome,
  { readonly kind: "granted" | "reversed" | "done" }
>;

interface Asked {
  readonly plan?: string | undefined;
  /** Time or day at which the plan must have run. */
  readonly runningAt?: string | undefined;
}

/** Words why a connection is not corrected. */
export function notCorrected(outcome: Undone, input: ConnectionInput & Asked): Refused {
  switch (outcome.kind) {
    case "not_found":
      return noConnection(input);
    case "history_gone":
    case "no_goodwill":
    case "too_long":
    case "blocked_by_records":
      return new Refused("conflict", REFUSALS[outcome.kind]);
    default:
      return planUnclear(outcome, input);
  }
}

function planUnclear({ kind, plans }: PlanUnclear, { plan, runningAt, service }: Asked & ConnectionInput): Refused {
  const all = plans.join(", ");
  const known = plans.length === 0 ? "it has none" : `it has ${all}`;
  const which = plan === undefined ? "base subscription" : `subscription of the plan ${plan}`;
  if (kind === "second_base")
    return new Refused(
      "conflict",
      `a second base plan would start beside ${all}: the provider allows one base plan of ${service}`,
    );
  if (kind === "not_running")
    return new Refused("conflict", `no ${which} ${runningAt === undefined ? "runs" : `ran at ${runningAt}`}`);
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
