// BASE_URL=https://... TOKEN=... node top-up.mjs ORDER MOBILE BOUQUET tops up the customer's first internet connection.
// Was it stopped in the middle? Start it again with the same ORDER: it finds out what happened, and goes on.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createClient } from "@topupd/client";

const [order, mobile, bouquetId] = process.argv.slice(2);
const client = createClient({ baseUrl: process.env.BASE_URL, token: process.env.TOKEN });
const file = `order-${order}.json`;
const resumed = existsSync(file);
const purchase = resumed ? JSON.parse(readFileSync(file, "utf8")) : await prepare();
const done = await client.topUp(purchase, { resumed });
if (done.outcome === "topped_up") console.log(`${done.result.status}: transaction ${done.result.txnId}`);
if (done.outcome === "refused") console.log(`not topped up, give the money back: ${done.failure.message}`);
if (done.outcome === "never") console.log("never topped up, give the money back");
if (done.outcome === "unknown") console.log(`not known yet, keep the money and: ${done.next.do} (same ORDER)`);

async function prepare() {
  const customer = valueIn(await client.lookUpCustomer(mobile));
  const connection = { cuid: customer.cuid, service: "internet", reqId: customer.connections.internet[0].reqId };
  const { checkoutId, bouquets } = valueIn(await client.listPackages(connection));
  const { price } = bouquets.find(({ code }) => code === bouquetId); // what the customer pays
  const prepared = { ...connection, checkoutId, bouquetId, amt: price, udf1: order };
  writeFileSync(file, JSON.stringify(prepared), { flag: "wx", flush: true }); // saved before it is sent
  return prepared;
}
function valueIn(answer) {
  if (answer.ok) return answer.value;
  throw new Error(`${answer.failure.kind}: ${answer.failure.message}`);
}
