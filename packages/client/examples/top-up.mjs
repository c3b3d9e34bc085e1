// BASE_URL=https://... TOKEN=... node top-up.mjs ORDER MOBILE BOUQUET tops up the customer's first internet connection.
// Was it stopped in the middle? Start it again with the same ORDER: it finds out what happened, and goes on.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createClient } from "@topupd/client";

export async function topUpOrder(client, file, mobile, bouquetId, options) {
  const resumed = existsSync(file);
  const purchase = resumed ? JSON.parse(readFileSync(file, "utf8")) : await prepare(client, mobile, bouquetId);
  if (!resumed) writeFileSync(file, JSON.stringify(purchase), { flag: "wx", flush: true }); // before it is sent
  return client.topUp(purchase, { ...options, resumed });
}
async function prepare(client, mobile, bouquetId) {
  const { cuid, connections } = valueIn(await client.lookUpCustomer(mobile));
  const connection = { cuid, service: "internet", reqId: connections.internet[0].reqId };
  const { checkoutId, bouquets } = valueIn(await client.listPackages(connection));
  const { price } = bouquets.find(({ code }) => code === bouquetId); // what the customer pays
  return { ...connection, checkoutId, bouquetId, amt: price };
}
function valueIn({ ok, value, failure }) {
  if (ok) return value;
  throw new Error(`${failure.kind}: ${failure.message}`);
}
if (process.argv[1]?.endsWith("top-up.mjs")) {
  const [order, ...what] = process.argv.slice(2);
  const client = createClient({ baseUrl: process.env.BASE_URL, token: process.env.TOKEN });
  const done = await topUpOrder(client, `order-${order}.json`, ...what);
  const back = "give the money back";
  const advice = { topped_up: "see its status", refused: back, never: back, unknown: "keep the money, start me again" };
  console.log(`${done.outcome}: ${advice[done.outcome]}`, done.result ?? done.next ?? done.failure.message);
}
