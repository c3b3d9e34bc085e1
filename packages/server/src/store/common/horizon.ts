import type { Calendar, Instant } from "../../domain/calendar.ts";
import type { CheckEvent } from "../store.ts";

/** What has gone is from before a day that is past: the tables let go of everything that is from before it. */
export function checkHorizon(prunedBefore: Instant | undefined, now: Instant, calendar: Calendar): CheckEvent {
  if (prunedBefore === undefined || prunedBefore <= now)
    return { kind: "checked", what: "history may have gone from before no day that is still to come", count: 1 };
  return {
    kind: "wrong",
    what: `history may have gone from before ${calendar.format(prunedBefore)}, which is still to come: nothing keeps a top-up from being deleted`,
  };
}
