import { type DestinationStream, type Logger, pino } from "pino";
import type { LogLevel } from "./log.ts";

/**
 * The only fields that are logged, besides an error in `err`. Others are dropped, so that no token, name or mobile
 * number reaches a log by mistake.
 */
export const LOG_FIELDS: ReadonlySet<string> = new Set([
  "address",
  "cause",
  "checkoutId",
  "count",
  "cuid",
  "currencyExponent",
  "database",
  "environment",
  "file",
  "method",
  "ms",
  "outcome",
  "outcomes",
  "partner",
  "partnerName",
  "requestId",
  "route",
  "setUpCode",
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
