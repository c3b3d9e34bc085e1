import { type Clock, LONGEST_SLEEP_MS, systemClock } from "./clock.ts";
import type { Fetch } from "./exchange.ts";
import type { Version } from "./read-values.ts";

export interface ClientOptions {
  /** The provider's `BASE`: it ends with the version, `v1.0.1` or `v1.0.0`. */
  readonly base: string;
  /** The access token, without `Bearer`. */
  readonly token: string;
  /** Milliseconds to wait for one answer. Default 30,000: an interrupted top-up needs a query. */
  readonly timeoutMs?: number | undefined;
  /**
   * Whether the deployment answers a repeated top-up with the first one's result. topupd does, and is recognised. Ask the
   * provider of another deployment before you set it. Default false.
   */
  readonly repeatsAreSafe?: boolean | undefined;
  /** Replaces the platform's `fetch`. */
  readonly fetch?: Fetch | undefined;
  /** Replaces the system's clock. */
  readonly clock?: Clock | undefined;
  /** Replaces Math.random, from 0 to 1, without 1. Only spreads the waits. */
  readonly random?: (() => number) | undefined;
}

export interface Settings
  extends Required<{ readonly [Name in keyof ClientOptions]: NonNullable<ClientOptions[Name]> }> {
  /** The last part of `base`. */
  readonly version: Version;
}

/** Checks the options and adds the defaults. @throws TypeError that names the option, never its value. */
export function readOptions(options: ClientOptions): Settings {
  if (typeof options !== "object" || options === null) throw new TypeError("createClient takes an object of options");
  const { timeoutMs = 30_000, clock = systemClock } = options;
  // Looked up at each call, so that a later replacement, such as a tracer, is used.
  const { fetch = (url, init) => globalThis.fetch(url, init), random = Math.random } = options;
  if (typeof fetch !== "function") throw new TypeError("fetch must be a function");
  if (typeof random !== "function") throw new TypeError("random must be a function");
  if (typeof clock?.now !== "function" || typeof clock.sleep !== "function") {
    throw new TypeError("clock must have the functions now and sleep");
  }
  if (clock.monotonic !== undefined && typeof clock.monotonic !== "function") {
    throw new TypeError("clock.monotonic must be a function, or not be there");
  }
  return {
    ...readBase(options.base),
    token: requireToken(options.token),
    timeoutMs: requireMs("timeoutMs", timeoutMs),
    repeatsAreSafe: requireBoolean("repeatsAreSafe", options.repeatsAreSafe ?? false),
    fetch,
    clock,
    random,
  };
}

export function requireMs(name: string, value: unknown): number {
  if (typeof value === "number" && Number.isInteger(value) && value > 0 && value <= LONGEST_SLEEP_MS) return value;
  throw new TypeError(`${name} must be a whole number of milliseconds from 1 to ${LONGEST_SLEEP_MS}`);
}

export function requireBoolean(name: string, value: unknown): boolean {
  if (typeof value === "boolean") return value;
  throw new TypeError(`${name} must be true or false`);
}

function readBase(value: unknown): Pick<Settings, "base" | "version"> {
  const wrong = new TypeError("base must be an http or https address without user, query or fragment");
  if (typeof value !== "string" || !URL.canParse(value)) throw wrong;
  const { protocol, username, password, search, hash, origin, pathname } = new URL(value);
  if (!["http:", "https:"].includes(protocol) || `${username}${password}${search}${hash}` !== "") throw wrong;
  const path = pathname.replace(/\/+$/, "");
  const version = (["v1.0.1", "v1.0.0"] as const).find((each) => path.endsWith(`/${each}`));
  if (version === undefined) throw new TypeError("base must end with v1.0.1 or v1.0.0");
  return { base: origin + path, version };
}

function requireToken(value: unknown): string {
  // fetch would refuse any other text, with an error that quotes the header.
  if (typeof value === "string" && /^[!-~]+$/.test(value)) return value;
  throw new TypeError("token must be the access token alone: visible ASCII without blanks");
}
