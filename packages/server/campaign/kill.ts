import { setTimeout as sleep } from "node:timers/promises";
import { type Ground, runThere } from "./ground.ts";
import { PartnerClient } from "./partner-client.ts";
import { expectTopupd, startServing } from "./processes.ts";
import { CUSTOMERS, makeProvider } from "./provider.ts";
import { Choices } from "./random.ts";
import { type Sent, verifySent, verifyTotals } from "./sent.ts";

export interface KillOptions extends Ground {
  readonly seed: number;
  readonly rounds: number;
  readonly partners?: number;
  readonly longestLoadMs?: number;
}

/**
 * Kills the service with SIGKILL in the middle of a load of top-ups, and starts it again, round after
 * round. Every acknowledged top-up must be there once, and what was not acknowledged must have a clear
 * status and be completed by sending it again.
 * @throws Error that names the round in which it was otherwise.
 */
export async function kill({
  seed,
  rounds,
  partners = 8,
  longestLoadMs = 400,
  ...ground
}: KillOptions): Promise<string> {
  const choices = new Choices(seed);
  const there = runThere(ground);
  const token = await makeProvider(ground);
  const all: Sent[] = [];
  let acknowledged = 0;
  let interrupted = 0;
  for (let round = 0; round < rounds; round += 1) {
    const served = await startServing([], there);
    const sent: Sent[] = [];
    const load = Array.from({ length: partners }, () =>
      topUpUntilKilled(new PartnerClient(served.url, token), new Choices(choices.seed()), sent),
    );
    await sleep(50 + choices.below(longestLoadMs));
    const end = await served.end("SIGKILL");
    if (end !== "SIGKILL")
      throw new Error(`round ${round}: the service ended by itself with ${end}: ${served.stderr()}`);
    await Promise.all(load);
    const unanswered = sent.filter((one) => one.acknowledged === undefined);
    acknowledged += sent.length - unanswered.length;
    interrupted += unanswered.length;

    const again = await startServing([], there);
    try {
      const client = new PartnerClient(again.url, token);
      for (const one of sent) await verifySent(client, one, `round ${round}`);
    } finally {
      await again.end("SIGTERM");
    }
    await expectTopupd(["check"], there);
    all.push(...sent);
  }
  await verifyTotals(ground, token, all);
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
