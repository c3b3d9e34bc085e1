// node reconcile.mjs DAY, such as 2026-11-20, with BASE and TOKEN set, in the folder with the orders of top-up.mjs.
import { readdirSync, readFileSync } from "node:fs";
import { createClient } from "@topupd/client";
/** Returns a line for each thing to do. Run it on the next day: a day is complete 30 seconds after its end. */
export async function reconcile(client, day, orders) {
  const days = { from: day, to: day };
  const sold = itemsOf(await client.listTopUps(days));
  const entries = itemsOf(await client.listAccountEntries(days));
  const orderOf = new Map(orders.map((order) => [order.purchase.checkoutId, order]));
  const isSold = new Set(sold.map(({ orderId }) => orderId));
  const isPaid = ({ done }) => done?.outcome === "topped_up";
  const missing = orders.filter(({ purchase: { checkoutId }, done }) => {
    return done?.result?.txnDate.startsWith(day) && !isSold.has(checkoutId);
  });
  return [
    ...sold.flatMap(({ orderId, txnId, amt, status }) => {
      const order = orderOf.get(orderId);
      if (order?.purchase.amt !== amt) return `${txnId}: no order has this top-up of ${amt}. Ask the provider.`;
      return isPaid(order) || status === "reversed"
        ? []
        : `${txnId}: recorded for ${orderId}. Take the customer's money.`;
    }),
    ...missing.map(({ done }) => `${done.result.txnId}: not in the list. Ask the provider.`),
    ...entries.flatMap(({ kind, reference, amount, orderId, txnId, gross }) => {
      if (kind === "reversal") return `${txnId}: reversed. Give back the ${gross} of ${orderId}, if you took it.`;
      return kind === "top_up" ? [] : `${kind} ${reference}: ${amount}. Compare it with your books.`;
    }),
  ];
}
function itemsOf(answer) {
  if (!answer.ok) throw new Error(answer.failure.message); // a part of a list proves nothing
  return answer.value.items;
}
if (process.argv[1]?.endsWith("reconcile.mjs")) {
  const client = createClient({ base: process.env.BASE, token: process.env.TOKEN });
  const files = readdirSync(".").filter((name) => /^order-.*\.json$/.test(name));
  const orders = files.map((name) => JSON.parse(readFileSync(name, "utf8")));
  for (const line of await reconcile(client, process.argv[2], orders)) console.log(line);
}
