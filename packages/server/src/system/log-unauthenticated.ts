import { isoTime } from "../domain/wall-time.ts";

const COUNTED_EVERY_MS = 1_000;

/**
 * Logs requests without a valid token or log-in in one line a second at most, so that a flood of them cannot fill the
 * disk: the first request's own line, then how many followed, and their outcomes.
 * @param write takes one line of the log, its end included.
 * @returns logs one such request; `line` makes the request's own line, end included.
 */
export function logUnauthenticated(
  clock: () => number,
  write: (line: string) => void,
): (line: () => string, outcome: string) => void {
  const counts = new Map<string, number>();
  let isCounting = false;
  const writeCounts = () => {
    isCounting = counts.size > 0;
    if (!isCounting) return;
    const count = [...counts.values()].reduce((sum, each) => sum + each, 0);
    const outcomes = [...counts].map(([outcome, times]) => `${outcome} ${times}`).join(", ");
    const line = { level: "info", time: isoTime(clock()), count, outcomes };
    write(`${JSON.stringify({ ...line, msg: "more requests without a valid token" })}\n`);
    counts.clear();
    setTimeout(writeCounts, COUNTED_EVERY_MS).unref();
  };
  return (line, outcome) => {
    if (isCounting) {
      counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
      return;
    }
    isCounting = true;
    write(line());
    setTimeout(writeCounts, COUNTED_EVERY_MS).unref();
  };
}
