import type { Machine } from "../report/machine.ts";
import { table } from "../report/markdown.ts";
import { comparisonTable, figureTable, number } from "../report/rows.ts";
import type { Results } from "../results.ts";
import type { ReportsOptions } from "./options.ts";

/** The page of a run. */
export function markdownOf({ comparisons, figures }: Results, machine: Machine, options: ReportsOptions): string {
  const { transactions, rounds, seconds } = options;
  const parts = [
    "# Reports",
    `Written by \`npm run bench -- reports\` on ${new Date().toISOString().slice(0, 10)}: what a back office asks of a month of ${number(transactions)} transactions, and what that costs the top-ups beside it.`,
    "## How long it takes",
    `From the start of the command to its end: medians of ${rounds} runs. A list that finds nothing looks at all of the day.`,
    table(figureTable(figures)),
    "## What it costs the top-ups",
    `64 connections top up, in turn by themselves and while the settlement of a day is reported beside them every five seconds: ${rounds} rounds of ${seconds} seconds each. A ratio is the median of the ratios of rounds next to each other. All of it shares the processors of one machine, the program that sends the requests as well.`,
    table(comparisonTable(comparisons)),
    "## Where",
    table({ columns: [NAMELESS, NAMELESS], rows: machine }),
  ];
  return `${parts.join("\n\n")}\n`;
}

const NAMELESS = { title: "", align: "left" } as const;
