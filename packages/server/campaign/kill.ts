import { setTimeout as sleep } from "node:timers/promises";
import { addMonths } from "./months.ts";
import { PartnerClient, type Purchase } from "./partner-client.ts";
import { expectTopupd, startServing } from "./processes.ts";
import { CUSTOMERS, makeProvider } from "./provider.ts";
import { Choices } from "./random.ts";

export interface KillOptions {
  readonly seed: number;
  readonly rounds: number;
  /** An empty folder for the database. */
  readonly cwd: string;
  readonly partners?: number;
  readonly longestLoadMs?: number;
}

/** A top-up that was sent, and the answer if one came before the kill. */
interface Sent {
  readonly purchase: Purchase;
  acknowledged?: string;
}

/**
 * Kills the service with SIGKILL in the middle of a load of top-ups, and starts it again, round after
 * round. Every acknowledged top-up must be there once, and what was not acknowledged must have a clear
 * status and be completed by sending it again.
 * @throws Error that names the round in which it was otherwise.
 */
export async function kill({ seed, rounds, cwd, partners = 8, longestLoadMs = 400 }: KillOptions): Promise<string> {
  const choices = new Choices(seed);
  const token = await makeProvider(cwd);
  const all: Sent[] = [];
  let acknowledged = 0;
  let interrupted = 0;
  for (let round = 0; round < rounds; round += 1) {
    const served = await startServing([], { cwd });
    const sent: Sent[] = [];
    const load = Array.from({ length: partners }, () =>
      topUpUntilKilled(new PartnerClient(served.url, token), choices, sent),
    );
    await sleep(50 + choices.below(longestLoadMs));
    const end = await served.end("SIGKILL");
    if (end !== "SIGKILL")
      throw new Error(`round ${round}: the service ended by itself with ${end}: ${served.stderr()}`);
    await Promise.all(load);
    const unanswered = sent.filter((one) => one.acknowledged === undefined);
    acknowledged += sent.length - unanswered.length;
    interrupted += unanswered.length;

    const again = await startServing([], { cwd });
    try {
      const client = new PartnerClient(again.url, token);
      for (const one of sent) await verify(client, one, `round ${round}`);
    } finally {
      await again.end("SIGTERM");
    }
    await expectTopupd(["check"], { cwd });
    all.push(...sent);
  }
  await verifyTotals(cwd, token, all);
  if (acknowledged === 0) throw new Error("no top-up was acknowledged: the campaign has shown nothing");
  return `${rounds} kills: ${acknowledged} acknowledged top-ups all there once, ${interrupted} interrupted ones settled`;
}

/** Tops up one customer after the other until the connection breaks. */
async function topUpUntilKilled(client: PartnerClient, choices: Choices, sent: Sent[]): Promise<void> {
  for (;;) {
    let one: Sent | undefined;
    try {
      one = { purchase: await client.prepare(choices.below(CUSTOMERS), choices) };
      sent.push(one);
      const { status, text } = await client.topUp(one.purchase);
      if (status !== 200) throw new Error(`a top-up was refused: ${text}`);
      one.acknowledged = text;
    } catch (error) {
      // fetch says so with a TypeError when the connection is refused or breaks.
      if (error instanceof TypeError) return;
      throw error;
    }
  }
}

async function verify(client: PartnerClient, { purchase, acknowledged }: Sent, where: string): Promise<void> {
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
async function verifyTotals(cwd: string, token: string, all: readonly Sent[]): Promise<void> {
  const served = await startServing([], { cwd });
  try {
    const client = new PartnerClient(served.url, token);
    for (let index = 0; index < CUSTOMERS; index += 1) {
      const bought = all.filter(({ purchase }) => purchase.cuid === `c${index}`);
      const months = bought.reduce((sum, { purchase }) => sum + (purchase.bouquetId === "NET-3M" ? 3 : 1), 0);
      const [subscription] = (await client.list(index)).subscriptions;
      const expected = subscription === undefined ? undefined : addMonths(subscription.startdate, months);
      if (expected !== subscription?.enddate || (months > 0 && subscription === undefined)) {
        throw new Error(`customer ${index} bought ${months} months, but has ${JSON.stringify(subscription)}`);
      }
    }
  } finally {
    await served.end("SIGTERM");
  }
}
