import type { Entry } from "./ledger.ts";
import { isRunning } from "./subscription.ts";
import type { Moment } from "./wall-time.ts";

/**
 * The entries that stay when history before the horizon is deleted: younger ones, or else the last one, the run at the
 * horizon, and all entries that these are calculated from (docs/ledger.md#retention). Later results are the
 * same.
 */
export function keptEntries(entries: readonly Entry[], horizon: Moment): readonly Entry[] {
  const young = entries.findIndex(({ at }) => at.instant >= horizon.instant);
  const last = (young === -1 ? entries.length : young) - 1;
  // A later file, as of a moment after the horizon, may apply to the run at the horizon.
  let first = Math.max(0, young === -1 || isRunning(entries[last]?.after, horizon.wall) ? last : young);
  for (let index = entries.length - 1; index >= first; index -= 1) {
    const needed = oldestNeeded(entries[index] as Entry);
    while (first > 0 && (entries[first] as Entry).seq > needed) first -= 1;
  }
  return entries.slice(first);
}

/**
 * Oldest entry that an entry is calculated from: the first of its run, a reversed entry, or the first that an import
 * uses.
 */
function oldestNeeded(entry: Entry): number {
  const run = entry.after?.since ?? entry.seq;
  if (entry.kind === "reversal") return Math.min(run, entry.of);
  return entry.kind === "import" ? Math.min(run, entry.since) : run;
}
