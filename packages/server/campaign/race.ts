import { makeProvider, PartnerClient, type Purchase, verifyTotals } from "./partner.ts";
import { expectTopupd, type Ground, startServing } from "./processes.ts";
import { Choices } from "./random.ts";

export interface RaceOptions extends Ground {
  readonly seed: number;
  readonly rounds: number;
  readonly processes?: number;
  readonly workers?: number;
  readonly callers?: number;
}

/**
 * Sends the same top-up to several processes on one database at once, round after round. Each round must make exactly
 * one transaction, and give every caller the same answer. In the end, every subscription must have grown by what was
 * bought, once.
 * @throws Error that says in which round, or for which customer, it was otherwise.
 */
export async function race(options: RaceOptions): Promise<string> {
  const { seed, rounds, processes = 2, workers = 1, callers = 6, ...ground } = options;
  const choices = new Choices(seed);
  const token = await makeProvider(ground);
  const served = await Promise.all(Array.from({ length: processes }, () => startServing(ground, workers)));
  try {
    const clients = served.map(({ url }) => new PartnerClient(url, token));
    const transactions = new Set<string>();
    const all: Purchase[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const purchase = await choices.of(clients).prepare(choices);
      const calls = Array.from({ length: callers }, (_, caller) =>
        (clients[caller % processes] as PartnerClient).topUp(purchase),
      );
      const answers = await Promise.all(calls);
      const made = answers.filter(({ status, replayed }) => status === 200 && !replayed);
      const texts = new Set(answers.map(({ text }) => text));
      if (made.length !== 1 || texts.size !== 1)
        throw new Error(`round ${round}: ${made.length} transactions, ${texts.size} answers: ${[...texts].join("\n")}`);
      transactions.add([...texts].join());
      all.push(purchase);
    }
    if (transactions.size !== rounds) throw new Error(`${transactions.size} transactions in ${rounds} rounds`);
    await verifyTotals((index) => choices.of(clients).list(index), all);
    await expectTopupd(["check"], ground);
    return `${rounds} rounds of ${callers} callers on ${processes} processes: one transaction each`;
  } finally {
    await Promise.all(served.map(({ end }) => end("SIGTERM")));
  }
}
