import type { BlockAnswer } from "./connections.ts";
import type { GoodwillAnswer, GoodwillReversalAnswer } from "./subscriptions.ts";

/** Why a correction of a connection was not made. */
export type CorrectionRefusal =
  | Exclude<GoodwillAnswer, { kind: "granted" }>
  | Exclude<GoodwillReversalAnswer, { kind: "reversed" }>
  | Exclude<BlockAnswer, { kind: "done" }>;

/** In words, wherever it was asked for. @param plan that was named. */
export function refusalWords(refusal: CorrectionRefusal, plan?: string): string {
  switch (refusal.kind) {
    case "no_connection":
      return "there is no such connection";
    case "several_connections":
      return "there are several such connections";
    case "blocked_by_records":
      return "the provider's own records say that it is blocked: correct them, and import them. Staff have not blocked it";
    case "too_long":
      return "no calendar goes as far as the subscription would then last";
    case "ambiguous":
      return `several subscriptions may be meant: ${refusal.plans.join(", ")}`;
    case "no_subscription": {
      const known = refusal.plans.length === 0 ? "it has none" : `it has ${refusal.plans.join(", ")}`;
      const which = plan === undefined ? "base subscription" : `subscription of the plan ${plan}`;
      return `there is no ${which} to give days to: ${known}`;
    }
    case "not_found":
    case "already_reversed":
      return "no days were given that are not reversed yet";
    case "not_last":
      return "these are not the days that were given last any more: look again";
    case "history_gone":
      return "what there was before these days were given was let go (topupd prune), so they stay";
  }
}
