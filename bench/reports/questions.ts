import { runTopupd } from "../processes.ts";
import { say } from "../progress.ts";
import type { Reported } from "../reports.ts";
import type { Figure } from "../results.ts";
import { median, type RoundOptions } from "../rounds.ts";

const LONGEST_S = 1;

/** What is asked of a day. A list that finds nothing looks at all of it, so it is the longest there can be. */
const QUESTIONS: readonly (readonly [what: string, words: (day: string) => readonly string[]])[] = [
  ["report settlement", (day) => settlementOf(day)],
  ["transaction list, the first 1000", (day) => [...listOf(day), "--limit", "1000"]],
  ["transaction list by an amount that nobody paid", (day) => [...listOf(day), "--amount", "77"]],
  ["transaction list by an unknown udf1", (day) => [...listOf(day), "--udf1", "nobody's", "--partner", "bench"]],
];

export function settlementOf(day: string): readonly string[] {
  return ["report", "settlement", "--from", day, "--to", day, "--json"];
}

function listOf(day: string): readonly string[] {
  return ["transaction", "list", "--from", day, "--to", day, "--json"];
}

/** Each as an operator asks it: from the start of the command to its end. */
export async function measureQuestions(reported: Reported, { rounds }: RoundOptions): Promise<Figure[]> {
  const { store, grown, env, day } = reported;
  const options = { cwd: grown.folder, env };
  const figures: Figure[] = [];
  for (const [what, wordsOf] of QUESTIONS) {
    say(`${what} on ${store}`);
    const times: number[] = [];
    await runTopupd(wordsOf(day), options);
    for (let round = 0; round < rounds; round += 1) {
      const begun = performance.now();
      await runTopupd(wordsOf(day), options);
      times.push(performance.now() - begun);
    }
    figures.push({
      measured: `${what}, ${store}`,
      value: median(times) / 1000,
      unit: "s",
      decimals: 2,
      target: { atMost: LONGEST_S },
      detail: `of a day of ${await topUpsOf(reported)}, the start of the command included`,
    });
  }
  return figures;
}

async function topUpsOf({ grown, env, day }: Reported): Promise<string> {
  const said = await runTopupd(settlementOf(day), { cwd: grown.folder, env });
  const topUps = said
    .split("\n")
    .filter((line) => line !== "")
    .reduce((sum, line) => sum + (JSON.parse(line) as { topUps: number }).topUps, 0);
  return `${topUps.toLocaleString("en")} top-ups`;
}
