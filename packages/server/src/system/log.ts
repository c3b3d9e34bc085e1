import type { DestinationStream } from "pino";
import { isoTime } from "../domain/wall-time.ts";

export const LOG_LEVELS = ["debug", "info", "warn", "error", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Longest delay of a line, in milliseconds. */
const LONGEST_WAIT_MS = 100;
/** Number of bytes that are worth one write. */
export const ENOUGH_BYTES = 64 * 1024;
/** Number of bytes that a pipe takes in one piece, even with several writers. */
export const WHOLE_IN_A_PIPE_BYTES = 4 * 1024;

const MAY_WAIT = /^\{"level":"(?:debug|info)"/;

interface GatheredLines extends DestinationStream {
  /** Delays a line without checking its level. */
  readonly hold: (line: string) => void;
}

/**
 * Writes log lines in groups: under load, writing a line costs many times more than making it. Warnings and errors are
 * written at once, after all delayed lines. Delayed lines keep the process alive.
 * @param most bytes of one group.
 */
export function gatherLines(destination: DestinationStream, most: number): GatheredLines {
  let lines: string[] = [];
  let bytes = 0;
  let timer: NodeJS.Timeout | undefined;
  const release = () => {
    clearTimeout(timer);
    timer = undefined;
    if (lines.length > 0) destination.write(lines.join(""));
    lines = [];
    bytes = 0;
  };
  const hold = (line: string) => {
    const more = Buffer.byteLength(line);
    if (bytes + more > most) release();
    lines.push(line);
    bytes += more;
    timer ??= setTimeout(release, LONGEST_WAIT_MS);
  };
  return {
    hold,
    write(line) {
      if (MAY_WAIT.test(line)) {
        hold(line);
        return;
      }
      release();
      // The line is written alone, so that a full buffer does not drop it with the lines before.
      destination.write(line);
    },
  };
}

/** Passes on a child's stderr in whole lines, so that lines of several children do not mix. */
export function relayLines(from: NodeJS.ReadableStream, write: (lines: string) => void): void {
  let rest = "";
  from.setEncoding("utf8");
  from.on("data", (text: string) => {
    const end = text.lastIndexOf("\n") + 1;
    if (end > 0) write(rest + text.slice(0, end));
    rest = end > 0 ? text.slice(end) : rest + text;
  });
  from.on("end", () => {
    if (rest !== "") write(`${rest}\n`);
  });
}

const COUNTED_EVERY_MS = 1_000;

/**
 * Logs requests without a valid token or log-in, at most one line a second, so that a flood cannot fill the disk: the
 * first request's own line, then a count of the others by outcome.
 * @param write takes one log line, newline included.
 * @returns logs one such request; `line` makes its own line, newline included.
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
