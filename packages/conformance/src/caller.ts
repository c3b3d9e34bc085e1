import { setTimeout as pause } from "node:timers/promises";
import type { Exchange } from "./exchange.ts";
import type { Operation, Version } from "./facts.ts";
import { type ConformanceOptions, DEFAULT_TIMEOUT_MS, readBase } from "./options.ts";
import { type Outgoing, send } from "./send.ts";

/** Changes to a request, to test the answer to a wrong one. */
export interface Departure {
  readonly method?: "GET";
  /** Another last part of the path. */
  readonly operation?: string;
  /** Replaces the correct value; null omits the header. */
  readonly authorization?: string | null;
  readonly contentType?: string;
}

/** Calls one version and stores every answer. */
export interface Caller {
  readonly version: Version;
  readonly exchanges: readonly Exchange[];
  /** @param body an object, or a text that is sent unchanged. */
  readonly call: (operation: Operation, body: object | string, departure?: Departure) => Promise<Exchange>;
  readonly wait: (durationMs: number) => Promise<void>;
}

/** Factor of the time-out for top-ups: an interrupted one proves nothing and may cost money. */
const TOP_UP_PATIENCE = 4;

const TOP_UP = "subscription-package-topup";

export function createCaller(options: ConformanceOptions, version: Version, allowance: Allowance): Caller {
  const { token, timeoutMs = DEFAULT_TIMEOUT_MS } = options;
  const { wait = (durationMs) => pause(durationMs) } = options;
  const base = new URL(version, readBase(options.base)).href;
  const exchanges: Exchange[] = [];
  const sendOnce = async (operation: Operation, body: object | string, departure: Departure) => {
    const exchange = await send({
      method: departure.method ?? "POST",
      url: new URL(`${base}/${departure.operation ?? operation}`),
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

/** Most repeats after a 429. A top-up is never repeated: it could be made twice. */
const RETRIES = 5;
const LONGEST_PAUSE_MS = 30_000;
const USUAL_PAUSE_MS = 1000;

/** The wait that a 429 asks for, in milliseconds; undefined without a 429, or if it is too long. */
function pauseAskedFor(exchange: Exchange): number | undefined {
  if (!exchange.answered || exchange.status !== 429) return undefined;
  const { "retry-after": text = "" } = exchange.headers;
  const askedMs = /^\d{1,9}$/.test(text) ? Number(text) * 1000 : USUAL_PAUSE_MS;
  return askedMs <= LONGEST_PAUSE_MS ? askedMs : undefined;
}

function headersOf(token: string, departure: Departure): Outgoing["headers"] {
  const { authorization = `Bearer ${token}`, contentType = "application/json" } = departure;
  const headers = {
    accept: "application/json",
    // The kit cannot read compressed answers.
    "accept-encoding": "identity",
    "content-type": contentType,
    "user-agent": "topupd-conformance",
  };
  return authorization === null ? headers : { ...headers, authorization };
}

/** Larger than any listing; a longer answer is cut off. */
const ANSWER_MAX_BYTES = 4 * 1024 * 1024;
/** Answers stay in memory until they are judged, at twenty times their size or more. */
const RUN_MAX_BYTES = 4 * ANSWER_MAX_BYTES;
/** Always allowed, so that a run can read its top-ups. */
const ALWAYS_MAX_BYTES = 64 * 1024;

/** The memory limit for all answers of a run. */
export interface Allowance {
  /** The limit for the next answer, in bytes. */
  readonly maxBytes: () => number;
  readonly take: (sizeBytes: number) => void;
}

export function createAllowance(): Allowance {
  let left = RUN_MAX_BYTES;
  return {
    maxBytes: () => Math.max(ALWAYS_MAX_BYTES, Math.min(ANSWER_MAX_BYTES, left)),
    take: (sizeBytes) => {
      left -= sizeBytes;
    },
  };
}
