// node top-up.mjs ORDER CODE BOUQUET, with BASE and TOKEN set. Stopped? Start it again, one at a time for each ORDER.
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { createClient } from "@topupd/client";
export async function topUpOrder(client, file, code, bouquetId, options) {
  const saved = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : undefined;
  if (saved?.done) return saved.done; // what has ended stays so, whoever asks again
  const purchase = saved?.purchase ?? (await prepare(client, code, bouquetId));
  if (!saved) save(file, { purchase }); // before it is sent
  const done = await client.topUp(purchase, { ...options, resumed: saved !== undefined });
  if (done.outcome !== "undecided") save(file, { purchase, done }); // before anybody acts on it
  return done;
}
function save(file, order) {
  writeFileSync(`${file}.new`, JSON.stringify(order), { flush: true });
  renameSync(`${file}.new`, file); // as a whole, or not at all
  if (process.platform === "win32") return; // where a folder cannot be flushed
  const folder = openSync(dirname(file), "r");
  fsyncSync(folder); // or a power cut may undo the renaming
  closeSync(folder);
}
async function prepare(client, code, bouquetId) {
  const found = await client.lookUpCustomer(code);
  if (!found.ok) throw new Error(found.failure.message);
  const { cuid, connections } = found.value;
  const service = ["internet", "tv", "iptv"].find((each) => connections[each].length > 0);
  if (!service) throw new Error("The customer has no connection.");
  const connection = { cuid, service, reqId: connections[service][0].reqId }; // the customer chooses one
  const listed = await client.listPackages(connection);
  if (!listed.ok) throw new Error(listed.failure.message);
  const bouquet = listed.value.bouquets.find((each) => each.code === bouquetId);
  if (!bouquet) throw new Error(`${bouquetId} is not on sale for this ${service} connection.`);
  return { ...connection, checkoutId: listed.value.checkoutId, bouquetId, amt: bouquet.price }; // and pays this
}
if (process.argv[1]?.endsWith("top-up.mjs")) {
  const client = createClient({ base: process.env.BASE, token: process.env.TOKEN });
  console.log(await topUpOrder(client, `order-${process.argv[2]}.json`, process.argv[3], process.argv[4]));
}
