import { setTimeout as pause } from "node:timers/promises";
import type { Allowance } from "./allowance.ts";
import type { Exchange } from "./exchange.ts";
import type { Operation, Version } from "./facts.ts";
import { type ConformanceOptions, DEFAULT_PREFIX, DEFAULT_TIMEOUT_MS, readBaseUrl } from "./options.ts";
import { type Outgoing, send } from "./send.ts";

/** A request that differs from what the interface asks for, to see what the service says to it. */
export interface Departure {
  readonly method?: "GET";
  /** Another last part of the path. */
  readonly operation?: string;
  /** In place of the right value; null leaves the header out. */
  readonly authorization?: string | null;
  readonly contentType?: string;
}

/** Calls one version, and remembers every answer. */
export interface Caller {
  readonly version: Version;
  readonly exchanges: readonly Exchange[];
  /** @param body an object, or a text that is sent as it is. */
  readonly call: (operation: Operation, body: object | string, departure?: Departure) => Promise<Exchange>;
  readonly wait: (durationMs: number) => Promise<void>;
}

/** A top-up that is given up early tells nothing, and its money may be gone. */
const TOP_UP_PATIENCE = 4;

const TOP_UP = "subscription-package-topup";

export function createCaller(options: ConformanceOptions, version: Version, allowance: Allowance): Caller {
  const { token, prefix = DEFAULT_PREFIX, timeoutMs = DEFAULT_TIMEOUT_MS } = options;
  const { wait = (durationMs) => pause(durationMs) } = options;
  const base = readBaseUrl(options.baseUrl).href.replace(/\/+$/, "");
  const exchanges: Exchange[] = [];
  const sendOnce = async (operation: Operation, body: object | string, departure: Departure) => {
    const exchange = await send({
      method: departure.method ?? "POST",
      url: new URL(`${base}${prefix}/${version}/${departure.operation ?? operation}`),
      headers: headersOf(token, departure),
      body: typeof body === "string" ? body : JSON.stringify(body),
      timeoutMs: operation === TOP_UP ? timeoutMs * TOP_UP_PATIENCE : timeoutMs,
      maxBytes: allowance.maxBytes(),
    });
    if (exchange.answered) allowance.take(exchange.sizeBytes);
    exchanges.push(exchange);
    return exchange;
  };
  const call: Caller["call"] = async (operation, body, departure = {}) => {
    let exchange = await sendOnce(operation, body, departure);
    for (let again = 0; again < RETRIES; again += 1) {
      const pauseMs = operation === TOP_UP ? undefined : pauseAskedFor(exchange);
      if (pauseMs === undefined) break;
      await wait(pauseMs);
      exchange = await sendOnce(operation, body, departure);
    }
    return exchange;
  };
  return { version, exchanges, call, wait };
}

/** How often a request is sent again that the service had no time for. A top-up never is: it could be made twice. */
const RETRIES = 5;
const LONGEST_PAUSE_MS = 30_000;
const USUAL_PAUSE_MS = 1000;

/** What 429 asks for, in milliseconds; undefined if it is no 429, or asks for too much. */
function pauseAskedFor(exchange: Exchange): number | undefined {
  if (!exchange.answered || exchange.status !== 429) return undefined;
  const { "retry-after": text = "" } = exchange.headers;
  const askedMs = /^\d{1,9}$/.test(text) ? Number(text) * 1000 : USUAL_PAUSE_MS;
  return askedMs <= LONGEST_PAUSE_MS ? askedMs : undefined;
}

/** Interface, section 4: the two headers of every request. */
function headersOf(token: string, departure: Departure): Outgoing["headers"] {
  const { authorization = `Bearer ${token}`, contentType = "application/json" } = departure;
  const headers = {
    accept: "application/json",
    // A service may compress what it is not asked to leave as it is, and the kit reads nothing compressed.
    "accept-encoding": "identity",
    "content-type": contentType,
    "user-agent": "topupd-conformance",
  };
  return authorization === null ? headers : { ...headers, authorization };
}
