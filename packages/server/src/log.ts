import { type DestinationStream, type Logger, pino } from "pino";

export const LOG_LEVELS = ["debug", "info", "warn", "error", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/**
 * The only fields that are ever logged. What is not on this list is dropped, so that no token, name or
 * mobile number reaches a log by a careless line somewhere.
 */
const ALLOWED = new Set([
  "cause",
  "database",
  "environment",
  "err",
  "ms",
  "outcome",
  "partner",
  "route",
  "signal",
  "status",
  "url",
  "version",
]);

/** JSON lines. The bindings that fastify adds hold the request's id alone. */
export function createLogger(level: LogLevel, destination: DestinationStream): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: {
        level: (label) => ({ level: label }),
        log: (fields) => Object.fromEntries(Object.entries(fields).filter(([name]) => ALLOWED.has(name))),
      },
    },
    destination,
  );
}
