import { randomBytes } from "node:crypto";
import { type CheckoutSecret, issueCheckout } from "../packages/server/src/domain/checkout.ts";
import { connectionOf, PRICE } from "./world.ts";

/** What is known of a filled database to whoever sends requests to it. */
export interface Target {
  readonly customers: number;
  readonly partnerId: number;
  readonly revision: number;
  readonly secret: CheckoutSecret;
}

/** The customers of a load, spread over all of them, and not one after the other as they were stored. */
function* indexes(customers: number, count: number): Generator<number> {
  // A step that shares no factor with the count comes by everybody.
  const step = 7919;
  const first = randomBytes(4).readUInt32BE(0) % customers;
  for (let turn = 0; turn < count; turn += 1) yield (first + turn * step) % customers;
}

const json = JSON.stringify;

export function lookUps({ customers }: Target, count: number): string[] {
  return [...indexes(customers, count)].map((index) => json({ code: connectionOf(index).reqId }));
}

export function listings({ customers }: Target, count: number): string[] {
  return [...indexes(customers, count)].map((index) => json(connectionOf(index)));
}

/** Top-ups with checkouts of their own, issued now: they are good for five minutes. */
export function topUps({ customers, partnerId, revision, secret }: Target, count: number): string[] {
  const holder = { partnerId, environment: "production" } as const;
  return [...indexes(customers, count)].map((index, turn) => {
    const connection = connectionOf(index);
    const quote = { revision, issuedAt: Date.now(), nonce: randomBytes(16) };
    const checkoutId = issueCheckout(secret, holder, { ...connection, environment: "production" }, quote);
    return json({ ...connection, checkoutId, bouquetId: "NET-1M", amt: PRICE, udf1: `order-${turn}` });
  });
}

export function queries(sent: readonly string[], count: number): string[] {
  const ids = sent.map((body) => (JSON.parse(body) as { checkoutId: string }).checkoutId);
  return Array.from({ length: count }, (_, turn) => json({ checkoutId: ids[(turn * 7919) % ids.length] }));
}
