import { type DestinationStream, type Logger, pino } from "pino";
import { isoTime } from "../domain/wall-time.ts";

export const LOG_LEVELS = ["debug", "info", "warn", "error", "silent"] as const;
type LogLevel = (typeof LOG_LEVELS)[number];

/**
 * The only fields that are ever logged, beside an error in `err`. What is not on this list is dropped, so that no token,
 * name or mobile number reaches a log by a careless line somewhere.
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

/** Errors that caused others, counted from the one that was met. */
const MOST_CAUSES = 3;
const MOST_FRAMES = 10;

/** As much of a line of a stack as tells where it was. */
const FRAME = /^ +at .*?((?:node:|\b(?:dist|src|test|node_modules)\/)[\w./@-]+:\d+:\d+)\)?$/;
/** Of Node, of PostgreSQL, or of a library. */
const CODE = /^(?:[A-Z][A-Z_]{2,}[A-Z0-9_]*|[0-9A-Z]{5})$/;

/** JSON lines, of listed fields. Every line has a message of topupd's own: a library is not given the logger. */
export function createLogger(level: LogLevel, destination: DestinationStream): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      // Pino's own would describe the description.
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

/** An error that promises to say nothing of what is stored or was sent. */
interface Discreet {
  readonly isDiscreet: true;
}

/**
 * What helps to find a defect, and cannot hold what was sent or stored: an error's message often quotes it, and so is
 * left out unless the error promises otherwise.
 */
function describe(error: Error, causes: number): Record<string, unknown> {
  const { code, errcode, isDiscreet, cause } = error as Error & Partial<Discreet> & Record<string, unknown>;
  return {
    type: error.constructor?.name,
    ...(isDiscreet === true ? { message: error.message } : {}),
    ...(typeof code === "string" && CODE.test(code) ? { code } : {}),
    ...(Number.isInteger(errcode) ? { errcode } : {}),
    at: framesOf(error),
    ...(cause instanceof Error && causes > 0 ? { cause: describe(cause, causes - 1) } : {}),
  };
}

/** Where it was thrown, and who had called. A stack begins with the message, which may look like a stack itself. */
function framesOf({ message, stack = "" }: Error): string[] {
  const lines = stack.replace(message, "").split("\n");
  return lines.flatMap((line) => FRAME.exec(line)?.[1] ?? []).slice(0, MOST_FRAMES);
}

/** For how long, in milliseconds, a line may wait for others: nobody reads a log faster. */
const LONGEST_WAIT_MS = 100;
/** As much as is worth a write of its own. */
export const ENOUGH_BYTES = 64 * 1024;
/** As much as goes into a pipe in one piece, whoever else writes into it. */
export const WHOLE_IN_A_PIPE_BYTES = 4 * 1024;

const MAY_WAIT = /^\{"level":"(?:debug|info)"/;

/** Where lines are gathered. */
interface GatheredLines extends DestinationStream {
  /** Takes a line that may wait, and does not look at it. */
  readonly hold: (line: string) => void;
}

/**
 * Lets log lines go on together: under load, to write a line costs many times what it costs to make one. A
 * warning or an error waits for nothing, and takes along what came before it. The process does not end while
 * lines wait.
 * @param most bytes of lines that are written together.
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
      // By itself: where there is room for little more, it is not dropped with what it came after.
      destination.write(line);
    },
  };
}

/** Hands on what a child process writes to its stderr, in whole lines: those of several children are not mixed. */
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
