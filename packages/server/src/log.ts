import { type DestinationStream, type Logger, pino } from "pino";

export const LOG_LEVELS = ["debug", "info", "warn", "error", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/**
 * The only fields that are ever logged, beside an error in `err`. What is not on this list is dropped, so that no token,
 * name or mobile number reaches a log by a careless line somewhere.
 */
export const LOG_FIELDS: ReadonlySet<string> = new Set([
  "cause",
  "checkoutId",
  "currencyExponent",
  "database",
  "environment",
  "ms",
  "outcome",
  "partner",
  "partnerName",
  "requestId",
  "route",
  "signal",
  "status",
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
