import type { Departure } from "./caller.ts";
import { type Plan, SERVICES } from "./facts.ts";

/** A repeat of the top-up that topupd refuses, and that buys nothing where it is taken: its checkoutId is used. */
export type RefusedRepeat =
  | "otherReqId"
  | "otherCuid"
  | "otherService"
  | "otherBouquet"
  | "exponent"
  | "rounded"
  | "missingToken"
  | "unknownToken"
  | "plainText";

export const UNKNOWN_BOUQUET = "no-such-bouquet";
export const UNKNOWN_CONNECTION = "no-such-connection";
export const UNKNOWN_CUSTOMER = "no-such-customer";
export const UNKNOWN_TOKEN = "Bearer not-an-access-token";

/** Each of them, with what differs from the top-up that was made. */
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
    // With other decimals, what it is rounded to depends on the currency.
    ...(/^\d+$/.test(amt) ? [["rounded", { ...sent, amt: `${amt}.4` }] as const] : []),
    ["missingToken", sent, { authorization: null }],
    ["unknownToken", sent, { authorization: UNKNOWN_TOKEN }],
    ["plainText", sent, { contentType: "text/plain" }],
  ];
}
