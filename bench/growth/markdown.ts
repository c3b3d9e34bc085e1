import type { Machine } from "../report/machine.ts";
import { table } from "../report/markdown.ts";
import { comparisonTable, figureTable } from "../report/rows.ts";
import type { Results } from "../results.ts";
import type { RoundOptions } from "../rounds.ts";

/** The page of a run. */
export function markdownOf({ comparisons, figures }: Results, machine: Machine, options: RoundOptions): string {
  const { rounds, seconds } = options;
  const parts = [
    "# Growth",
    `Written by \`npm run bench -- growth\` on ${new Date().toISOString().slice(0, 10)}: what becomes of topupd on SQLite as customers and transactions come to be many.`,
    "A customer has an internet username with a subscription, every other one a set-top box too, and two top-ups on average, which lie up to 90 days back. Mobile numbers and set-top boxes are in no order, as real ones. The customers came by `topupd import customers`; the top-ups were written into the file while no service ran, and `topupd check` finds nothing wrong with the smallest of the databases.",
    "## Under load",
    `All databases are in the memory of the machine, as far as they fit, and are served at the same time, each by a process of its own, and 64 connections take turns with them: ${rounds} rounds, in each of which every database had ${seconds} ${seconds === 1 ? "second" : "seconds"} of each operation. Requests are spread over all customers, and those of txn-status over all transactions. The numbers are medians of the rounds; a ratio is the median of the ratios of rounds next to each other. Where a cell holds two numbers, the first is that of the larger database.`,
    table(comparisonTable(comparisons)),
    "## By itself",
    "Before a cold start, the database is dropped from the machine's memory; the program is not. Each start is the median of several.",
    table(figureTable(figures)),
    "## Where",
    table({ columns: [NAMELESS, NAMELESS], rows: machine }),
  ];
  return `${parts.join("\n\n")}\n`;
}

const NAMELESS = { title: "", align: "left" } as const;
