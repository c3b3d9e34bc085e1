import { readAmount } from "./amounts.ts";
import { readRetryAfter } from "./clock.ts";
import type { Exchange } from "./exchange.ts";
import {
  type Failure,
  type FieldProblem,
  isKnownCode,
  isRetry,
  KNOWN_FAILURES,
  type OperationName,
  type Refused,
  type RefusedOtherwise,
  type Unreadable,
} from "./failures.ts";
import { isObject, type JsonObject, own, readJson } from "./read-json.ts";
import { WrongShape } from "./read-values.ts";
import type { Redact } from "./redact.ts";

/** The result of an operation. */
export type Answer<Value> =
  | {
      readonly ok: true;
      readonly value: Value;
      /** Request id for the provider's support. */
      readonly requestId: string | undefined;
      /** Whether an earlier request recorded this, according to the deployment. */
      readonly replayed: boolean;
    }
  | { readonly ok: false; readonly failure: Failure };

/** Describes how to read the answers of one operation. */
export interface Reading<Value> {
  readonly operation: OperationName;
  /** Reads the body of a success. @throws WrongShape */
  readonly read: (body: JsonObject) => Value;
  readonly redact: Redact;
  /** Milliseconds since 1970: a Retry-After may be a date. */
  readonly now: number;
}

const SUCCESS_CODES: Readonly<Record<OperationName, string>> = {
  "get-customer-information": "400aa010",
  "get-subscription-package": "400aa010",
  "subscription-package-topup": "400ab001",
  "txn-status": "400ab001",
  "partner/account": "400ac010",
  "partner/account/entries": "400ac010",
  "partner/top-ups": "400ac010",
};

const KEPT_CHARACTERS = 4_000;

/**
 * Turns an answer into a value or a failure. It is a value only if HTTP status, `success`, `code` and every field agree.
 * An answer that says no is a refusal, and any other answer is unreadable.
 */
export function readAnswer<Value>(answer: Exchange, reading: Reading<Value>): Answer<Value> {
  const json = answer.text === undefined ? undefined : tryJson(answer.text);
  const isGood = answer.httpStatus >= 200 && answer.httpStatus < 300;
  if (isObject(json) && own(json, "success") === true) {
    if (isGood) return readSuccess(json, answer, reading);
    return failed(unreadable("The answer says success, but its HTTP status does not.", answer, reading));
  }
  const saysNo = isObject(json) && own(json, "success") === false;
  if (saysNo) return failed(readKnown(json, answer, reading) ?? refusedOtherwise(json, json, answer, reading));
  if (answer.httpStatus < 400) return failed(unreadable("The answer is not in the envelope.", answer, reading));
  if (json === undefined && isJson(answer)) return failed(unreadable("The answer is broken JSON.", answer, reading));
  return failed(refusedOtherwise(json ?? answer.text, isObject(json) ? json : {}, answer, reading));
}

function readSuccess<Value>(json: JsonObject, answer: Exchange, reading: Reading<Value>): Answer<Value> {
  const body = own(json, "body");
  if (own(json, "code") !== SUCCESS_CODES[reading.operation] || !isObject(body)) {
    return failed(unreadable("The answer says success, but with another code or without a body.", answer, reading));
  }
  try {
    const requestId = answer.headers["x-request-id"];
    const replayed = answer.headers["idempotent-replayed"] === "true";
    return { ok: true, value: reading.read(body), requestId, replayed };
  } catch (error) {
    if (!(error instanceof WrongShape)) throw error;
    return failed(unreadable(`The answer has another shape than the interface: ${error.message}.`, answer, reading));
  }
}

/** The reason and the status must agree: another deployment may use topupd's codes with another meaning. */
function readKnown(json: JsonObject, answer: Exchange, reading: Reading<unknown>): Refused | undefined {
  const [code, body] = [own(json, "code"), own(json, "body")];
  if (typeof code !== "string" || !isKnownCode(code) || !isObject(body)) return undefined;
  const { reason, httpStatus, retry } = KNOWN_FAILURES[code];
  if (own(body, "reason") !== reason || answer.httpStatus !== httpStatus) return undefined;
  const said = own(body, "retry");
  const textOf = (name: string) => {
    const text = own(body, name);
    return typeof text === "string" ? reading.redact(text) : undefined;
  };
  return {
    kind: "refused",
    ...answered(answer, reading, body),
    message: textOf("message") ?? reason,
    code,
    reason,
    retry: isRetry(said) ? said : retry,
    fields: reading.redact(readFields(own(body, "fields"))),
    missing: readAmount(own(body, "missing")),
    limit: textOf("limit"),
    limitEndsAt: textOf("limitEndsAt"),
  };
}

function refusedOtherwise(
  body: unknown,
  envelope: JsonObject,
  answer: Exchange,
  reading: Reading<unknown>,
): RefusedOtherwise {
  const inner = own(envelope, "body");
  const details = isObject(inner) ? inner : {};
  const [code, retry, message] = [own(envelope, "code"), own(details, "retry"), own(details, "message")];
  const hidden = reading.redact(body);
  return {
    kind: "refused_otherwise",
    inEnvelope: own(envelope, "success") === false,
    ...answered(answer, reading, details),
    message: reading.redact(typeof message === "string" ? message : `The answer says no: HTTP ${answer.httpStatus}.`),
    code: typeof code === "string" ? reading.redact(code) : undefined,
    retry: isRetry(retry) ? retry : undefined,
    body: typeof hidden === "string" ? hidden.slice(0, KEPT_CHARACTERS) : hidden,
  };
}

function unreadable(message: string, answer: Exchange, reading: Reading<unknown>): Unreadable {
  const text = reading.redact(answer.text ?? "").slice(0, KEPT_CHARACTERS);
  return { kind: "unreadable", ...answered(answer, reading, {}), message, text };
}

function answered({ httpStatus, headers }: Exchange, { operation, redact, now }: Reading<unknown>, body: JsonObject) {
  const said = own(body, "requestId");
  return {
    operation,
    httpStatus,
    headers,
    requestId: headers["x-request-id"] ?? (typeof said === "string" ? redact(said) : undefined),
    retryAfterMs: readRetryAfter(headers["retry-after"], now),
  };
}

function readFields(value: unknown): readonly FieldProblem[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const text = (of: unknown) => (typeof of === "string" ? of : "");
  return value.filter(isObject).map((item) => ({ field: text(item["field"]), problem: text(item["problem"]) }));
}

function isJson({ headers }: Exchange): boolean {
  return /\bjson\b/i.test(headers["content-type"] ?? "");
}

function tryJson(text: string): unknown {
  try {
    return readJson(text);
  } catch {
    return undefined;
  }
}

function failed(failure: Failure): { readonly ok: false; readonly failure: Failure } {
  return { ok: false, failure };
}
