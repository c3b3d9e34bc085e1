import type { Calendar, Instant } from "../../../domain/calendar.ts";
import type { CheckEvent } from "../../store.ts";

/** What the audit trail says of the horizon's last move. */
export const HORIZON_MOVED = `SELECT after FROM audit_entry WHERE action = 'history.prune' AND subject = 'horizon'
  ORDER BY seq DESC LIMIT 1`;

/**
 * Holds the horizon against the clock, since the tables let go of everything that is from before it, and against the audit
 * trail, since whoever asks for what is from before it is told that nobody can tell.
 * @param retention the row of the table; undefined where there is none.
 * @param moved as {@link HORIZON_MOVED} finds it; undefined where nothing was ever let go.
 */
export function checkHorizon(
  retention: { readonly pruned_before: Instant } | undefined,
  moved: unknown,
  { now, calendar }: { readonly now: Instant; readonly calendar: Calendar },
): CheckEvent {
  const horizon = retention?.pruned_before;
  const audited = moved === undefined ? undefined : auditedHorizon(moved as { after: string });
  if (audited !== undefined && (horizon === undefined || horizon < audited))
    return {
      kind: "wrong",
      what: `history from before ${calendar.format(audited)} was let go, and the table retention does not know it: what went counts as never having been`,
    };
  if (horizon === undefined || horizon <= now)
    return { kind: "checked", what: "history may have gone from before no day that is still to come", count: 1 };
  return {
    kind: "wrong",
    what: `history may have gone from before ${calendar.format(horizon)}, which is still to come: nothing keeps a top-up from being deleted`,
  };
}

function auditedHorizon({ after }: { readonly after: string }): Instant {
  return Date.parse((JSON.parse(after) as { prunedBefore: string }).prunedBefore);
}
