import { asObject, describe, describeCode, type JsonObject, member } from "./shape.ts";

/** Headers by names in lower case. Not a type of node:http, because programs that import the kit may have no types of Node. */
export interface ReceivedHeaders {
  readonly [name: string]: string | readonly string[] | undefined;
  readonly "content-encoding"?: string | undefined;
  readonly "content-type"?: string | undefined;
  readonly "retry-after"?: string | undefined;
}

export interface Answer {
  readonly answered: true;
  readonly status: number;
  readonly headers: ReceivedHeaders;
  /** The body as JSON; undefined if it is no JSON in UTF-8. */
  readonly json: unknown;
  readonly sizeBytes: number;
}

export interface NoAnswer {
  readonly answered: false;
  /** Whether a connection was made. */
  readonly connected: boolean;
  readonly problem: string;
  /** Whether it was cut off, so that it cannot be judged. */
  readonly isTooLarge: boolean;
}

export type Exchange = Answer | NoAnswer;

/** The envelope, if the answer is a JSON object. */
export function envelopeOf(exchange: Exchange | undefined): JsonObject | undefined {
  return exchange?.answered === true ? asObject(exchange.json) : undefined;
}

/** The body of an answer that claims success. Other checks judge the form of the claim. */
export function bodyOf(exchange: Exchange | undefined): JsonObject | undefined {
  const envelope = envelopeOf(exchange);
  return isSuccess(exchange) ? asObject(member(envelope, "body")) : undefined;
}

export const ASKS_TO_WAIT = "the service asks to wait";
export const TOO_LONG = "an answer of more than";
/** The kit's own limit: the interface has none. */
export const TIME_LIMIT = "no whole answer within the kit's own time limit of";
/** The answer began. */
export const CUT_OFF = "the connection ended within an answer";
export const HTML_PAGE = "an HTML page, not an answer of the interface";
export const COMPRESSED = "a compressed answer, not asked for";

/** Result fields: a success of an operation has one of them. */
const PAYLOADS = ["customer", "checkoutId", "result"];

/**
 * Whether the answer claims success: `success` is true; or it is missing, with HTTP 2xx and an operation's payload. The
 * interface does not show failures.
 */
export function isSuccess(exchange: Exchange | undefined): boolean {
  const envelope = envelopeOf(exchange);
  const success = member(envelope, "success");
  if (success === true || success === false || exchange?.answered !== true) return success === true;
  const body = member(envelope, "body");
  return isWithin(exchange.status, 200, 299) && PAYLOADS.some((name) => member(body, name) !== undefined);
}

/** Whether the call was certainly refused, so that nothing was done. HTTP 5xx is uncertain. */
export function isRefusal(exchange: Exchange): boolean {
  if (!exchange.answered || isSuccess(exchange)) return false;
  if (isWithin(exchange.status, 400, 499)) return true;
  return member(envelopeOf(exchange), "success") === false && exchange.status < 500;
}

function isWithin(status: number, from: number, to: number): boolean {
  return status >= from && status <= to;
}

/** Why an answer cannot be judged: the interface states no rate limit, length or coding. Undefined if it can be. */
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

/** Whether a web server itself answered, for example at a wrong URL. */
export function isHtmlPage(exchange: Exchange): boolean {
  if (!exchange.answered || exchange.json !== undefined) return false;
  return /^text\/html\b/i.test(exchange.headers["content-type"] ?? "");
}

/** A short description of an answer without personal data. */
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
