import { randomBytes } from "node:crypto";
import { issueCheckout } from "../packages/server/src/domain/checkout.ts";
import { connectionOf, PRICE, type Target } from "./world.ts";

/** Indexes of customers, spread over the whole database. */
function* indexes(customers: number, count: number): Generator<number> {
  // The step shares no factor with the number of customers, so it reaches all of them.
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

/** Top-ups with new checkouts, which are valid for five minutes. */
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
