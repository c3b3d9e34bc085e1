import type { Caller, Departure } from "./caller.ts";
import type { Exchange } from "./exchange.ts";
import type { Operation } from "./facts.ts";
import { UNKNOWN_TOKEN } from "./repeats.ts";

/** More than the 4096 bytes that topupd takes. */
const TOO_LARGE_BYTES = 5000;
const UNKNOWN_CHECKOUT_ID = "A".repeat(64);

interface Known {
  readonly code: string;
  readonly cuid: string | undefined;
  /** Whether the customer can be listed: otherwise topupd says that first, and not that there is no connection. */
  readonly isActive: boolean;
  readonly checkoutId: string | undefined;
  /** What was listed before. */
  readonly asked: object | undefined;
}

type Probe = readonly [name: string, operation: Operation, body: object | string, departure?: Departure];

/** Sends requests that topupd refuses, or takes although they look odd. None of them is a top-up. */
export async function probe(caller: Caller, known: Known): Promise<Map<string, Exchange>> {
  const answers = new Map<string, Exchange>();
  for (const [name, operation, body, departure] of probesFor(known)) {
    answers.set(name, await caller.call(operation, body, departure));
  }
  return answers;
}

function probesFor({ code, cuid, isActive, checkoutId, asked }: Known): readonly Probe[] {
  const lookUp = "get-customer-information";
  const quoted = JSON.stringify(code);
  const always: readonly Probe[] = [
    ["missing_token", lookUp, { code }, { authorization: null }],
    ["unknown_token", lookUp, { code }, { authorization: UNKNOWN_TOKEN }],
    ["malformed_json", lookUp, `{"code": ${quoted}`],
    ["duplicate_key", lookUp, `{"code": ${quoted}, "code": ${quoted}}`],
    ["duplicate_key_escaped", lookUp, `{"code": ${quoted}, "c\\u006fde": ${quoted}}`],
    ["invalid_field", "get-subscription-package", { cuid: true, service: "radio" }],
    ["unknown_operation", lookUp, { code }, { operation: "no-such-operation" }],
    ["method_not_allowed", lookUp, { code }, { method: "GET" }],
    ["body_too_large", lookUp, { code, filling: "x".repeat(TOO_LARGE_BYTES) }],
    ["unsupported_media_type", lookUp, { code }, { contentType: "text/plain" }],
    ["customer_not_found", lookUp, { code: "no-such-customer" }],
    ["checkout_unknown", "txn-status", { checkoutId: UNKNOWN_CHECKOUT_ID }],
    ["code_trimmed", lookUp, { code: ` ${code.trim()} ` }],
    ["extra_fields", lookUp, { code, "x-of-no-meaning": { a: [1] } }],
  ];
  const ofCustomer: readonly Probe[] = cuid === undefined ? [] : [["leading_zero", lookUp, { code: `0${cuid}` }]];
  const nobody = { cuid, service: "internet", reqId: "no-such-connection" };
  const ofActive: readonly Probe[] = isActive ? [["connection_not_found", "get-subscription-package", nobody]] : [];
  const ofCheckout: readonly Probe[] =
    checkoutId === undefined ? [] : [["checkout_altered", "txn-status", { checkoutId: alter(checkoutId) }]];
  const elsewhere = [
    ["listing", "get-subscription-package", asked],
    ["query", "txn-status", checkoutId === undefined ? undefined : { checkoutId }],
  ] as const;
  const ofOthers = elsewhere.flatMap(([name, operation, body]): Probe[] =>
    body === undefined
      ? []
      : [
          [`missing_token ${name}`, operation, body, { authorization: null }],
          [`unknown_token ${name}`, operation, body, { authorization: UNKNOWN_TOKEN }],
          [`unsupported_media_type ${name}`, operation, body, { contentType: "text/plain" }],
        ],
  );
  return [...always, ...ofCustomer, ...ofActive, ...ofCheckout, ...ofOthers];
}

/** One character in the middle is another one; the last could hold bits that no one reads. */
function alter(checkoutId: string): string {
  const middle = Math.floor(checkoutId.length / 2);
  const other = checkoutId[middle] === "a" ? "b" : "a";
  return checkoutId.slice(0, middle) + other + checkoutId.slice(middle + 1);
}
