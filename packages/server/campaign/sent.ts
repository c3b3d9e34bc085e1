import { type Ground, runThere } from "./ground.ts";
import { addMonths } from "./months.ts";
import { PartnerClient, type Purchase } from "./partner-client.ts";
import { startServing } from "./processes.ts";
import { CUSTOMERS } from "./provider.ts";

/** A top-up that was sent, and the answer if one came before the kill. */
export interface Sent {
  readonly purchase: Purchase;
  acknowledged?: string;
}

/**
 * An acknowledged top-up must be there as it was acknowledged; any other must have a clear status. Sent again,
 * it is replayed or made.
 */
export async function verifySent(
  client: PartnerClient,
  { purchase, acknowledged }: Sent,
  where: string,
): Promise<void> {
  const before = await client.query(purchase.checkoutId);
  if (acknowledged !== undefined && before.text !== acknowledged) {
    throw new Error(`${where}: acknowledged as ${acknowledged}, but now ${before.text}`);
  }
  if (before.status !== 200 && before.code !== "400ab107") throw new Error(`${where}: no clear status: ${before.text}`);
  const again = await client.topUp(purchase);
  if (again.status !== 200 || again.replayed !== (before.status === 200)) {
    throw new Error(`${where}: sent again after ${before.text}, answered ${again.text}`);
  }
}

/** By now every top-up that was ever sent has been made, once: the subscriptions must say so. */
export async function verifyTotals(ground: Ground, token: string, all: readonly Sent[]): Promise<void> {
  const served = await startServing([], runThere(ground));
  try {
    const client = new PartnerClient(served.url, token);
    for (let index = 0; index < CUSTOMERS; index += 1) {
      const bought = all.filter(({ purchase }) => purchase.cuid === `c${index}`);
      const months = bought.reduce((sum, { purchase }) => sum + (purchase.bouquetId === "NET-3M" ? 3 : 1), 0);
      const [subscription] = (await client.list(index)).subscriptions;
      const expected = subscription === undefined ? undefined : addMonths(subscription.startdate, months);
      if (expected !== subscription?.enddate || (months > 0 && subscription === undefined))
        throw new Error(`customer ${index} bought ${months} months, but has ${JSON.stringify(subscription)}`);
    }
  } finally {
    await served.end("SIGTERM");
  }
}
