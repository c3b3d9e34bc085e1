import { type IncomingHttpHeaders, type IncomingMessage, request as openHttp } from "node:http";
import { request as openHttps } from "node:https";
import { asObject, describe, describeCode, type JsonObject, member } from "./shape.ts";

/** More than any listing needs; a service that never stops sending is cut off here. In bytes. */
const ANSWER_MAX_BYTES = 4 * 1024 * 1024;

export interface Outgoing {
  readonly method: "POST" | "GET";
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** From the first byte sent to the last one read. */
  readonly timeoutMs: number;
}

export interface Answer {
  readonly answered: true;
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** What the body holds as JSON in UTF-8, or undefined where it is none. */
  readonly json: unknown;
}

export interface NoAnswer {
  readonly answered: false;
  /** Whether there was a connection at all. */
  readonly connected: boolean;
  readonly problem: string;
}

export type Exchange = Answer | NoAnswer;

/**
 * Sends one request on a connection of its own, so that nothing a service does to one answer spoils the next.
 * Redirects are not followed: the token is for one address. Never rejects.
 */
export function send({ method, url, headers, body, timeoutMs }: Outgoing): Promise<Exchange> {
  return new Promise((resolve) => {
    let connected = false;
    const isSecure = url.protocol === "https:";
    const length = method === "POST" ? { "content-length": String(Buffer.byteLength(body)) } : {};
    const outgoing = (isSecure ? openHttps : openHttp)(url, {
      method,
      headers: { ...headers, ...length },
      agent: false,
    });
    const timer = setTimeout(() => fail(`no whole answer within ${timeoutMs / 1000} s`), timeoutMs);
    const finish = (exchange: Exchange) => {
      clearTimeout(timer);
      resolve(exchange);
      outgoing.destroy();
    };
    const fail = (problem: string) => finish({ answered: false, connected, problem });
    outgoing.on("socket", (socket) => {
      socket.once(isSecure ? "secureConnect" : "connect", () => {
        connected = true;
      });
    });
    // An error may come after the end, too; it is then of no interest, but must have a listener.
    outgoing.on("error", (error: NodeJS.ErrnoException) => fail(problemOf(error)));
    const onClose = () => fail("the connection ended without an answer");
    outgoing.on("close", onClose);
    outgoing.on("response", (incoming) => {
      // From here on the request may close before the answer has been read to its end.
      outgoing.off("close", onClose);
      collect(incoming, finish, fail);
    });
    outgoing.end(method === "POST" ? body : undefined);
  });
}

function collect(incoming: IncomingMessage, finish: (answer: Answer) => void, fail: (problem: string) => void): void {
  const chunks: Buffer[] = [];
  let bytes = 0;
  incoming.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > ANSWER_MAX_BYTES) fail(`an answer of more than ${ANSWER_MAX_BYTES} bytes`);
    else chunks.push(chunk);
  });
  incoming.on("error", (error: NodeJS.ErrnoException) => fail(problemOf(error)));
  incoming.on("close", () => fail("the connection ended within an answer"));
  incoming.on("end", () => {
    const { statusCode = 0, headers } = incoming;
    finish({ answered: true, status: statusCode, headers, json: parse(Buffer.concat(chunks)) });
  });
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)) as unknown;
  } catch {
    return undefined;
  }
}

/** The system's code alone: messages may repeat what was sent. */
function problemOf({ code }: NodeJS.ErrnoException): string {
  return code === undefined ? "the connection failed" : `the connection failed (${code})`;
}

/** The envelope, if the answer is a JSON object at all. */
export function envelopeOf(exchange: Exchange | undefined): JsonObject | undefined {
  return exchange?.answered === true ? asObject(exchange.json) : undefined;
}

/** The payload of an answer that claims success; how well it says so is for other checks. */
export function bodyOf(exchange: Exchange | undefined): JsonObject | undefined {
  const envelope = envelopeOf(exchange);
  return isSuccess(exchange) ? asObject(member(envelope, "body")) : undefined;
}

/** What one of the four operations brings when it succeeds (interface, section 2). */
const PAYLOADS = ["customer", "checkoutId", "result"];

/**
 * Whether the call claims to have succeeded. How a failure looks is not shown (interface, section 7): without
 * `success` as `true`, only HTTP 2xx with an operation's payload is such a claim.
 */
export function isSuccess(exchange: Exchange | undefined): boolean {
  const envelope = envelopeOf(exchange);
  const success = member(envelope, "success");
  if (success === true || success === false || exchange?.answered !== true) return success === true;
  const body = member(envelope, "body");
  return isWithin(exchange.status, 200, 299) && PAYLOADS.some((name) => member(body, name) !== undefined);
}

/** Whether the call was refused for certain, so that nothing was done. HTTP 5xx leaves that open. */
export function isRefusal(exchange: Exchange): boolean {
  if (!exchange.answered || isSuccess(exchange)) return false;
  if (isWithin(exchange.status, 400, 499)) return true;
  return member(envelopeOf(exchange), "success") === false && exchange.status < 500;
}

function isWithin(status: number, from: number, to: number): boolean {
  return status >= from && status <= to;
}

/** An answer in a few words, without what may be personal in it. */
export function describeAnswer(exchange: Exchange): string {
  if (!exchange.answered) return exchange.problem;
  const envelope = asObject(exchange.json);
  if (envelope === undefined) {
    return `HTTP ${exchange.status} with ${exchange.json === undefined ? "no JSON" : describe(exchange.json)}`;
  }
  const [success, code] = [member(envelope, "success"), member(envelope, "code")];
  return `HTTP ${exchange.status}, success ${describe(success)}, code ${describeCode(code)}`;
}
