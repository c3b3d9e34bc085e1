import type { Caller, Departure } from "./caller.ts";
import type { Exchange } from "./exchange.ts";
import { type Operation, type Plan, type RefusedRepeat, SERVICES } from "./facts.ts";

/** Larger than the 4096 bytes that topupd accepts. */
const TOO_LARGE_BYTES = 5000;
export const UNKNOWN_BOUQUET = "no-such-bouquet";
export const UNKNOWN_CONNECTION = "no-such-connection";
export const UNKNOWN_CUSTOMER = "no-such-customer";
export const UNKNOWN_TOKEN = "Bearer not-an-access-token";
const UNKNOWN_CHECKOUT_ID = "A".repeat(64);

interface Known {
  readonly code: string;
  readonly cuid: string | undefined;
  /** Whether the customer can be listed; otherwise topupd refuses the customer before the connection. */
  readonly isActive: boolean;
  readonly checkoutId: string | undefined;
  /** The request of an earlier listing. */
  readonly asked: object | undefined;
}

type Probe = readonly [name: string, operation: Operation, body: object | string, departure?: Departure];

/** Sends wrong requests that topupd refuses, and others that only topupd accepts. None is a top-up. */
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
    ["account", lookUp, "", { method: "GET", operation: "partner/account" }],
    ["own_top_ups", lookUp, "", { method: "GET", operation: "partner/top-ups" }],
    ["extra_fields", lookUp, { code, "x-of-no-meaning": { a: [1] } }],
  ];
  const ofCustomer: readonly Probe[] = cuid === undefined ? [] : [["leading_zero", lookUp, { code: `0${cuid}` }]];
  const unknown = { cuid, service: "internet", reqId: "no-such-connection" };
  const ofActive: readonly Probe[] = isActive ? [["connection_not_found", "get-subscription-package", unknown]] : [];
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

/** The repeats with their changes from the original top-up. */
export function refusedRepeats(
  sent: Readonly<Record<string, string>>,
  { amt }: Plan,
): readonly (readonly [name: RefusedRepeat, body: object, departure?: Departure])[] {
  const service = SERVICES.find((each) => each !== sent["service"]);
  return [
    ["otherReqId", { ...sent, reqId: UNKNOWN_CONNECTION }],
    ["otherCuid", { ...sent, cuid: UNKNOWN_CUSTOMER }],
    ["otherService", { ...sent, service }],
    ["otherBouquet", { ...sent, bouquetId: UNKNOWN_BOUQUET }],
    ["exponent", { ...sent, amt: `${amt}e0` }],
    // Only for whole amounts: the rounding of other amounts depends on the currency.
    ...(/^\d+$/.test(amt) ? [["rounded", { ...sent, amt: `${amt}.4` }] as const] : []),
    ["missingToken", sent, { authorization: null }],
    ["unknownToken", sent, { authorization: UNKNOWN_TOKEN }],
    ["plainText", sent, { contentType: "text/plain" }],
  ];
}
