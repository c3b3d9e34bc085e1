import { setTimeout as pause } from "node:timers/promises";
import { type Exchange, type Outgoing, send } from "./exchange.ts";
import type { Operation, Version } from "./facts.ts";
import { type ConformanceOptions, DEFAULT_PREFIX, DEFAULT_TIMEOUT_MS, readBaseUrl } from "./options.ts";

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

export function createCaller(options: ConformanceOptions, version: Version): Caller {
  const { token, prefix = DEFAULT_PREFIX, timeoutMs = DEFAULT_TIMEOUT_MS } = options;
  const base = readBaseUrl(options.baseUrl).href.replace(/\/+$/, "");
  const exchanges: Exchange[] = [];
  const call: Caller["call"] = async (operation, body, departure = {}) => {
    const exchange = await send({
      method: departure.method ?? "POST",
      url: new URL(`${base}${prefix}/${version}/${departure.operation ?? operation}`),
      headers: headersOf(token, departure),
      body: typeof body === "string" ? body : JSON.stringify(body),
      timeoutMs: operation === "subscription-package-topup" ? timeoutMs * TOP_UP_PATIENCE : timeoutMs,
    });
    exchanges.push(exchange);
    return exchange;
  };
  return { version, exchanges, call, wait: options.wait ?? ((durationMs) => pause(durationMs)) };
}

/** Interface, section 4: the two headers of every request. */
function headersOf(token: string, departure: Departure): Outgoing["headers"] {
  const { authorization = `Bearer ${token}`, contentType = "application/json" } = departure;
  const headers = { accept: "application/json", "content-type": contentType, "user-agent": "topupd-conformance" };
  return authorization === null ? headers : { ...headers, authorization };
}
