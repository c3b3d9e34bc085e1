import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { topUps } from "./bodies.ts";
import { pathOf } from "./calls.ts";
import { temporaryFolder } from "./clean-up.ts";
import { appendHistory } from "./history.ts";
import { CONNECTIONS } from "./operations.ts";
import { readCount } from "./options.ts";
import { runTopupd, SERVE, startServer } from "./processes.ts";
import { report } from "./report.ts";
import { type Comparison, type Figure, say } from "./results.ts";
import { type Contestant, median, overHttp, type RoundOptions, runRounds } from "./rounds.ts";
import { type Filled, fill } from "./world.ts";

const DEFAULTS = { customers: "500000", rounds: "5", seconds: "5" } as const;
/** A month of transactions: two for each customer, in thirty days. */
const PAST = { each: 2, days: 30 } as const;
const DAY_MS = 86_400_000;
/** Time between the starts of two reports, as in a busy back office. */
const REPORT_EVERY_MS = 5_000;

type Question = readonly [what: string, words: readonly string[]];

/** `npm run bench -- reports`: how long a back office waits for a day of a month of transactions, and what that costs top-ups. */
export async function measureReports(words: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...words],
    options: {
      customers: { type: "string", default: DEFAULTS.customers },
      rounds: { type: "string", default: DEFAULTS.rounds },
      seconds: { type: "string", default: DEFAULTS.seconds },
    },
  });
  const options = { rounds: readCount("rounds", values.rounds), seconds: readCount("seconds", values.seconds) };
  const filled = await fill(join(temporaryFolder("reports"), "reported"), readCount("customers", values.customers));
  const transactions = appendHistory(join(filled.folder, "topupd.db"), PAST);
  const day = new Date(Date.now() - 10 * DAY_MS).toISOString().slice(0, 10);
  const figures: Figure[] = [];
  for (const question of questionsOf(day)) figures.push(await measureQuestion(question, filled, options));
  const comparisons = [await measureBeside(questionsOf(day)[0], filled, options)];
  await report({ comparisons, figures }, words.length === 0 ? "REPORTS.md" : undefined, [
    "Reports",
    `\`npm run bench -- reports\`: a day of a month of ${transactions.toLocaleString("en")} transactions, asked for on the`,
    "command line; and top-ups by 64 connections, in turn by themselves and while the day's settlement is reported beside",
    "them every five seconds.",
  ]);
}

function questionsOf(day: string): readonly [Question, ...Question[]] {
  const ofDay = ["--from", day, "--to", day, "--json"];
  return [
    ["report settlement", ["report", "settlement", ...ofDay]],
    ["transaction list, the first 1000", ["transaction", "list", ...ofDay, "--limit", "1000"]],
    ["transaction list by an amount that nobody paid", ["transaction", "list", ...ofDay, "--amount", "77"]],
  ];
}

async function measureQuestion(
  [measured, words]: Question,
  { folder }: Filled,
  { rounds }: RoundOptions,
): Promise<Figure> {
  say(measured);
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const begun = performance.now();
    await runTopupd(words, { cwd: folder });
    times.push((performance.now() - begun) / 1000);
  }
  const detail = "the start of the command included";
  return { measured, value: median(times), unit: "s", decimals: 2, target: { atMost: 1 }, detail };
}

async function measureBeside([, words]: Question, filled: Filled, options: RoundOptions): Promise<Comparison> {
  const operation = "subscription-package-topup";
  const { folder, token, target } = filled;
  const server = await startServer(SERVE, {}, folder);
  try {
    const alone = overHttp({
      ...{ server, path: pathOf(operation), token, mustBeNew: true, connections: CONNECTIONS },
      bodies: (count) => topUps(target, count),
    });
    const others = beside(alone, () => runTopupd(words, { cwd: folder }));
    const [theirs = [], ours = []] = await runRounds([alone, others], options);
    const names = { measured: `${operation} while a day is reported`, baseline: "the same by itself" };
    return { ...names, target: { throughputAtLeast: 0.9 }, ours, theirs };
  } finally {
    await server.stop();
  }
}

/** Does the same, while something else is done again and again. */
function beside(contestant: Contestant, other: () => Promise<unknown>): Contestant {
  return {
    ...contestant,
    run: async (seconds) => {
      let isOver = false;
      const others = (async () => {
        while (!isOver) await Promise.all([other(), sleep(REPORT_EVERY_MS)]);
      })();
      try {
        return await contestant.run(seconds);
      } finally {
        isOver = true;
        await others;
      }
    },
  };
}
