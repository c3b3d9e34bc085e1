import type { IncomingHttpHeaders } from "node:http";
import { asObject, describe, describeCode, type JsonObject, member } from "./shape.ts";

export interface Answer {
  readonly answered: true;
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** What the body holds as JSON in UTF-8, or undefined where it is none. */
  readonly json: unknown;
  /** The length of the body. */
  readonly sizeBytes: number;
}

export interface NoAnswer {
  readonly answered: false;
  /** Whether there was a connection at all. */
  readonly connected: boolean;
  readonly problem: string;
  /** It was cut off, so that nothing can be said of it. */
  readonly isTooLarge: boolean;
}

export type Exchange = Answer | NoAnswer;

/** The envelope, if the answer is a JSON object at all. */
export function envelopeOf(exchange: Exchange | undefined): JsonObject | undefined {
  return exchange?.answered === true ? asObject(exchange.json) : undefined;
}

/** The payload of an answer that claims success; how well it says so is for other checks. */
export function bodyOf(exchange: Exchange | undefined): JsonObject | undefined {
  const envelope = envelopeOf(exchange);
  return isSuccess(exchange) ? asObject(member(envelope, "body")) : undefined;
}

export const ASKS_TO_WAIT = "the service asks to wait";
export const TOO_LONG = "an answer of more than";
/** The interface has no limit on the time of an answer: this one is the kit's. */
export const TIME_LIMIT = "no whole answer within the kit's own time limit of";
export const HTML_PAGE = "an HTML page, not an answer of the interface";
export const COMPRESSED = "a compressed answer, not asked for";

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

/**
 * Why an answer is nobody's mistake: rate limits, and how long or in which coding answers come, are not shown
 * (interface, section 8).
 * Undefined where it can be judged.
 */
export function unjudgeable(exchange: Exchange | undefined): string | undefined {
  if (exchange === undefined) return undefined;
  if (!exchange.answered) return exchange.isTooLarge ? exchange.problem : undefined;
  if (exchange.status === 429) return ASKS_TO_WAIT;
  const { "content-encoding": encoding = "identity" } = exchange.headers;
  return exchange.json === undefined && encoding !== "identity" ? COMPRESSED : undefined;
}

/** Whether the header Content-Type says that the body is JSON. */
export function saysJson(exchange: Exchange): boolean {
  if (!exchange.answered) return false;
  const { "content-type": type = "" } = exchange.headers;
  return /^application\/json\s*(;|$)/i.test(type);
}

/** What a web server answers by itself, such as at an address where the service is not. */
export function isHtmlPage(exchange: Exchange): boolean {
  if (!exchange.answered || exchange.json !== undefined) return false;
  return /^text\/html\b/i.test(exchange.headers["content-type"] ?? "");
}

/** An answer in a few words, without what may be personal in it. */
export function describeAnswer(exchange: Exchange): string {
  if (!exchange.answered) return exchange.problem;
  const envelope = asObject(exchange.json);
  if (envelope === undefined) {
    const page = isHtmlPage(exchange) ? HTML_PAGE : "no JSON";
    return `HTTP ${exchange.status} with ${exchange.json === undefined ? page : describe(exchange.json)}`;
  }
  const [success, code] = [member(envelope, "success"), member(envelope, "code")];
  return `HTTP ${exchange.status}, success ${describe(success)}, code ${describeCode(code)}`;
}
