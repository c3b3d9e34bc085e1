import { type DestinationStream, type Logger, pino } from "pino";
import { isoTime } from "../domain/wall-time.ts";

export const LOG_LEVELS = ["debug", "info", "warn", "error", "silent"] as const;
type LogLevel = (typeof LOG_LEVELS)[number];

/**
 * The only fields that are logged, besides an error in `err`. Others are dropped, so that no token, name or mobile
 * number reaches a log by mistake.
 */
export const LOG_FIELDS: ReadonlySet<string> = new Set([
  "address",
  "cause",
  "checkoutId",
  "count",
  "currencyExponent",
  "database",
  "environment",
  "method",
  "ms",
  "outcome",
  "outcomes",
  "partner",
  "partnerName",
  "requestId",
  "route",
  "signal",
  "staff",
  "status",
  "target",
  "timeZone",
  "url",
  "version",
  "workers",
]);

/** Longest chain of causes of an error that is logged. */
const MOST_CAUSES = 3;
const MOST_FRAMES = 10;

/** The location in one line of a stack. */
const FRAME = /^ +at .*?((?:node:|\b(?:dist|src|test|node_modules)\/)[\w./@-]+:\d+:\d+)\)?$/;
/** An error code of Node, PostgreSQL or a library. */
const CODE = /^(?:[A-Z][A-Z_]{2,}[A-Z0-9_]*|[0-9A-Z]{5})$/;

/** JSON lines with the listed fields. Libraries do not get the logger, so that every message is topupd's own. */
export function createLogger(level: LogLevel, destination: DestinationStream): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      // Pino's own serializer would change the description.
      serializers: { err: (described: unknown) => described },
      formatters: { level: (label) => ({ level: label }), log: chosen },
    },
    destination,
  );
}

function chosen(fields: Record<string, unknown>): Record<string, unknown> {
  const kept = Object.entries(fields).filter(([name, value]) => LOG_FIELDS.has(name) && typeof value !== "object");
  const { err } = fields;
  return Object.fromEntries(err instanceof Error ? [...kept, ["err", describe(err, MOST_CAUSES)]] : kept);
}

/**
 * The facts of an error that help to find a defect. Its message often quotes received or stored data, so it is omitted
 * unless the error has `isDiscreet`: a promise that the message contains no such data.
 */
function describe(error: Error, causes: number): Record<string, unknown> {
  const { code, errcode, isDiscreet, cause } = error as Error & Record<string, unknown>;
  return {
    type: error.constructor?.name,
    ...(isDiscreet === true ? { message: error.message } : {}),
    ...(typeof code === "string" && CODE.test(code) ? { code } : {}),
    ...(Number.isInteger(errcode) ? { errcode } : {}),
    at: framesOf(error),
    ...(cause instanceof Error && causes > 0 ? { cause: describe(cause, causes - 1) } : {}),
  };
}

/** The locations of a stack. The message is removed first, because it may look like a stack. */
function framesOf({ message, stack = "" }: Error): string[] {
  const lines = stack.replace(message, "").split("\n");
  return lines.flatMap((line) => FRAME.exec(line)?.[1] ?? []).slice(0, MOST_FRAMES);
}

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
