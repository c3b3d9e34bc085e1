import { setTimeout as sleep } from "node:timers/promises";
import { expectBook, Told } from "./book.ts";
import { type Answer, makeProvider, PartnerClient } from "./partner.ts";
import { type Ground, signalProcess, startServing } from "./processes.ts";
import { Choices } from "./random.ts";

export interface RaceOptions extends Ground {
  readonly seed: number;
  readonly rounds: number;
  readonly processes?: number;
  readonly workers?: number;
  readonly callers?: number;
}

/** Number of times that a caller repeats a request that was cut off or unavailable. */
const TRIES = 500;
const PAUSE_MS = 20;

/**
 * Sends the same top-up to several processes on one database at once, round after round. Each round must make exactly
 * one transaction, and give every caller the same answer. If services have workers, one of their processes is killed in
 * every third round, and callers repeat their requests. In the end, every subscription must be extended exactly once.
 * @throws Error that names the round or customer with a violation.
 */
export async function race(options: RaceOptions): Promise<string> {
  const { seed, rounds, processes = 2, workers = 1, callers = 6, ...ground } = options;
  const choices = new Choices(seed);
  const token = await makeProvider(ground);
  const served = await Promise.all(Array.from({ length: processes }, () => startServing(ground, workers)));
  try {
    const told = new Told();
    const clients = served.map(({ url }) => new PartnerClient(url, token, told));
    let kills = 0;
    for (let round = 0; round < rounds; round += 1) {
      const client = choices.of(clients);
      const purchase = await insist(() => client.prepare(choices));
      const isKilling = workers > 1 && choices.below(3) === 0;
      const calls = Array.from({ length: callers }, (_, caller) =>
        insist(() => answered((clients[caller % processes] as PartnerClient).topUp(purchase))),
      );
      if (isKilling) {
        await sleep(choices.below(4));
        const victims = choices.of(served).children();
        if (victims.length > 0) kills += signalProcess(choices.of(victims), "SIGKILL");
      }
      const answers = await Promise.all(calls);
      const made = answers.filter(({ status, replayed }) => status === 200 && !replayed);
      const texts = new Set(answers.map(({ text }) => text));
      // A caller that was cut off by a kill may have made the transaction.
      if (made.length > 1 || (made.length === 0 && !isKilling) || texts.size !== 1)
        throw new Error(`round ${round}: ${made.length} transactions, ${texts.size} answers: ${[...texts].join("\n")}`);
      if (isKilling || round === rounds - 1) await expectBook(ground, told);
    }
    if (told.topUps.size !== rounds) throw new Error(`${told.topUps.size} transactions in ${rounds} rounds`);
    return `${rounds} rounds of ${callers} callers on ${processes} services, ${kills} kills: one transaction each`;
  } finally {
    await Promise.all(served.map(({ end }) => end("SIGTERM")));
  }
}

/** @throws Error if the service refused it. */
async function answered(call: Promise<Answer>): Promise<Answer> {
  const answer = await call;
  if (answer.status === 503) throw new Error(answer.text);
  return answer;
}

async function insist<Result>(call: () => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries += 1)
    try {
      return await call();
    } catch (error) {
      if (tries >= TRIES) throw error;
      await sleep(PAUSE_MS);
    }
}
