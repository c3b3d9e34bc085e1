import type { FastifyBaseLogger } from "fastify";

/**
 * A logger whose children come to be when something is logged with them: fastify makes one for every request,
 * and most have nothing to say.
 */
export class LazyLogger implements FastifyBaseLogger {
  readonly #make: () => FastifyBaseLogger;
  #made: FastifyBaseLogger | undefined;

  constructor(make: () => FastifyBaseLogger) {
    this.#make = make;
  }

  get level(): string {
    return this.#logger.level;
  }

  set level(level: string) {
    this.#logger.level = level;
  }

  child(...bindings: Parameters<FastifyBaseLogger["child"]>): FastifyBaseLogger {
    return new LazyLogger(() => this.#logger.child(...bindings));
  }

  trace(...line: unknown[]): void {
    this.#log("trace", line);
  }

  debug(...line: unknown[]): void {
    this.#log("debug", line);
  }

  info(...line: unknown[]): void {
    this.#log("info", line);
  }

  warn(...line: unknown[]): void {
    this.#log("warn", line);
  }

  error(...line: unknown[]): void {
    this.#log("error", line);
  }

  fatal(...line: unknown[]): void {
    this.#log("fatal", line);
  }

  silent(...line: unknown[]): void {
    this.#log("silent", line);
  }

  #log(method: "trace" | "debug" | "info" | "warn" | "error" | "fatal" | "silent", line: unknown[]): void {
    const logger = this.#logger;
    Reflect.apply(logger[method], logger, line);
  }

  get #logger(): FastifyBaseLogger {
    this.#made ??= this.#make();
    return this.#made;
  }
}
