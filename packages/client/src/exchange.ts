import type { Clock } from "./clock.ts";
import { type AnswerHeaders, type Cause, isReport, type NoAnswer, type OperationName } from "./failures.ts";
import { isObject } from "./read-json.ts";
import type { Redact } from "./redact.ts";

/** A function with the signature of the platform's `fetch`. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export interface Line {
  readonly url: (operation: OperationName) => string;
  readonly token: string;
  readonly fetch: Fetch;
  readonly clock: Clock;
  readonly redact: Redact;
}

export interface Limits {
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

/** A whole answer of any kind. */
export interface Exchange {
  readonly kind: "exchange";
  readonly httpStatus: number;
  readonly headers: AnswerHeaders;
  /** Undefined if the bytes are no UTF-8, or too many. */
  readonly text: string | undefined;
}

/** Larger than any listing. */
const MAX_ANSWER_BYTES = 8 * 2 ** 20;

const HELPFUL_HEADERS = [
  "content-type",
  "date",
  "idempotent-replayed",
  "retry-after",
  "www-authenticate",
  "x-request-id",
];

/** Sends one request and waits for its whole answer. Never rejects. */
export async function exchange(
  line: Line,
  operation: OperationName,
  body: object,
  { timeoutMs, signal }: Limits,
): Promise<Exchange | NoAnswer> {
  if (signal?.aborted === true) return noAnswer(line, operation, "aborted", signal.reason);
  const ending = new AbortController();
  const cut = new Promise<NoAnswer>((resolve) => {
    const abort = () => resolve(noAnswer(line, operation, "aborted", signal?.reason));
    signal?.addEventListener("abort", abort, { once: true, signal: ending.signal });
    sleepThen(line.clock, timeoutMs, ending.signal, () => resolve(noAnswer(line, operation, "timeout", undefined)));
  });
  const whole = fetchWhole(line, operation, body, ending.signal).catch((error: unknown) =>
    noAnswer(line, operation, "network", error),
  );
  try {
    return await Promise.race([whole, cut]);
  } finally {
    ending.abort();
  }
}

/** An aborted sleep or a failing clock must not interrupt a top-up. */
function sleepThen(clock: Clock, ms: number, signal: AbortSignal, then: () => void): void {
  Promise.resolve()
    .then(() => clock.sleep(ms, signal))
    .then(then, () => {});
}

async function fetchWhole(line: Line, operation: OperationName, body: object, signal: AbortSignal): Promise<Exchange> {
  const { fetch } = line;
  const isGet = isReport(operation);
  const query = isGet ? new URLSearchParams({ ...body }).toString() : "";
  const response = await fetch(line.url(operation) + (query === "" ? "" : `?${query}`), {
    method: isGet ? "GET" : "POST",
    headers: { authorization: `Bearer ${line.token}`, "content-type": "application/json", accept: "application/json" },
    ...(isGet ? {} : { body: JSON.stringify(body) }),
    // The token is for one host, and a redirected POST may arrive changed, or twice.
    redirect: "error",
    credentials: "omit",
    signal,
  });
  if (response.redirected === true) throw new TypeError("the answer comes from another address");
  const headers = HELPFUL_HEADERS.flatMap((name) => {
    const value: unknown = response.headers.get(name);
    return typeof value === "string" ? [[name, line.redact(value)]] : [];
  });
  const { status } = response;
  if (!Number.isInteger(status) || status < 100 || status > 599) throw new TypeError("the answer has no HTTP status");
  return { kind: "exchange", httpStatus: status, headers: Object.fromEntries(headers), text: await readText(response) };
}

async function readText(response: Response): Promise<string | undefined> {
  const reader = response.body?.getReader?.();
  if (reader === undefined) {
    const text: unknown = await response.text();
    return typeof text === "string" ? text : undefined;
  }
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let [text, bytes] = ["", 0];
  for (;;) {
    const { done, value } = await reader.read();
    bytes += value?.length ?? 0;
    if (bytes > MAX_ANSWER_BYTES) {
      await reader.cancel();
      return undefined;
    }
    try {
      text += decoder.decode(value, { stream: !done });
    } catch {
      // Cancel, so that the rest does not occupy the connection.
      if (!done) await reader.cancel();
      return undefined;
    }
    if (done) return text;
  }
}

const WORDS = {
  timeout: "No answer came in time.",
  network: "The connection failed before a whole answer came.",
  aborted: "The caller stopped waiting for the answer.",
} as const;

function noAnswer(line: Line, operation: OperationName, why: NoAnswer["why"], error: unknown): NoAnswer {
  const cause = error === undefined ? undefined : line.redact(describe(error));
  return { kind: "no_answer", operation, why, message: WORDS[why], cause };
}

/** The reason is often one or two causes deep in an error of fetch. */
function describe(error: unknown, depth = 0): Cause {
  if (!isObject(error)) return { name: "Error", message: String(error), code: undefined };
  const inner = error["cause"];
  if (isObject(inner) && depth < 3) return describe(inner, depth + 1);
  const text = (name: string) => (typeof error[name] === "string" ? (error[name] as string) : undefined);
  return { name: text("name") ?? "Error", message: text("message") ?? "", code: text("code") };
}
