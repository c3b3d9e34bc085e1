import { type IncomingMessage, request as openHttp } from "node:http";
import { request as openHttps } from "node:https";
import { type Answer, CUT_OFF, type Exchange, TIME_LIMIT, TOO_LONG } from "./exchange.ts";

export interface Outgoing {
  readonly method: "POST" | "GET";
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Time from the first byte sent to the last byte read. */
  readonly timeoutMs: number;
  /** A longer answer is cut off. */
  readonly maxBytes: number;
}

/**
 * Sends one request on its own connection, so that one broken answer does not affect the next. Redirects are not followed:
 * the token is for one host. Never rejects.
 */
export function send({ method, url, headers, body, timeoutMs, maxBytes }: Outgoing): Promise<Exchange> {
  return new Promise((resolve) => {
    let connected = false;
    const isSecure = url.protocol === "https:";
    const length = method === "POST" ? { "content-length": String(Buffer.byteLength(body)) } : {};
    const outgoing = (isSecure ? openHttps : openHttp)(url, {
      method,
      headers: { ...headers, ...length },
      agent: false,
    });
    const timer = setTimeout(() => fail(`${TIME_LIMIT} ${timeoutMs / 1000} s`), timeoutMs);
    const finish = (exchange: Exchange) => {
      clearTimeout(timer);
      resolve(exchange);
      outgoing.destroy();
    };
    const fail = (problem: string, isTooLarge = false) => finish({ answered: false, connected, problem, isTooLarge });
    outgoing.on("socket", (socket) => {
      socket.once(isSecure ? "secureConnect" : "connect", () => {
        connected = true;
      });
    });
    // An error after the end is ignored, but needs a listener.
    outgoing.on("error", (error: NodeJS.ErrnoException) => fail(problemOf(error)));
    const onClose = () => fail("the connection ended without an answer");
    outgoing.on("close", onClose);
    outgoing.on("response", (incoming) => {
      // The request may close before the whole answer has been read.
      outgoing.off("close", onClose);
      collect(incoming, maxBytes, finish, fail);
    });
    outgoing.end(method === "POST" ? body : undefined);
  });
}

function collect(
  incoming: IncomingMessage,
  maxBytes: number,
  finish: (answer: Answer) => void,
  fail: (problem: string, isTooLarge?: boolean) => void,
): void {
  const chunks: Buffer[] = [];
  let bytes = 0;
  incoming.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > maxBytes) fail(`${TOO_LONG} ${maxBytes} bytes`, true);
    else chunks.push(chunk);
  });
  incoming.on("error", () => fail(CUT_OFF));
  incoming.on("close", () => fail(CUT_OFF));
  incoming.on("end", () => {
    const { statusCode = 0, headers } = incoming;
    finish({ answered: true, status: statusCode, headers, json: parse(Buffer.concat(chunks)), sizeBytes: bytes });
  });
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)) as unknown;
  } catch {
    return undefined;
  }
}

/** The system's error code only: its message may quote the request. */
function problemOf({ code }: NodeJS.ErrnoException): string {
  return code === undefined ? "the connection failed" : `the connection failed (${code})`;
}
