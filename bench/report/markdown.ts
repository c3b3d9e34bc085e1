import type { BenchOptions } from "../options.ts";
import type { Results } from "../results.ts";
import type { Machine } from "./machine.ts";
import { comparisonTable, figureTable, number, type Table } from "./rows.ts";

/** The page of a run. @param chart the name of the picture beside it. */
export function markdownOf(results: Results, machine: Machine, options: BenchOptions, chart: string): string {
  const { comparisons, figures, skipped } = results;
  const { customers, rounds, seconds } = options;
  const parts = [
    "# Results",
    `Written by \`npm run bench\` on ${new Date().toISOString().slice(0, 10)}. [README.md](README.md) says what is measured, and beside what.`,
    `${number(customers)} customers; ${counted(rounds, "round")}, in each of which every contestant ran for ${counted(seconds, "second")}, one after the other on the same machine. The numbers are medians of the rounds. A ratio is the median of the ratios of rounds next to each other: it says more than the numbers it comes from, which other machines have otherwise.`,
    `![How far topupd is beyond each target](${chart})`,
    "## Beside others",
    "Where a cell holds two numbers, the first is topupd's. CPU is that of the server for each request; on PostgreSQL, that of PostgreSQL is counted too. Memory is the most that the server's own process held.",
    table(comparisonTable(comparisons)),
    "## By itself",
    table(figureTable(figures)),
    ...(skipped.length > 0
      ? ["## Not measured", skipped.map(({ measured, why }) => `- ${measured}: ${why}`).join("\n")]
      : []),
    "## Where",
    table({
      columns: [
        { title: "", align: "left" },
        { title: "", align: "left" },
      ],
      rows: machine,
    }),
  ];
  return `${parts.join("\n\n")}\n`;
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}

export function table({ columns, rows }: Table): string {
  const lines = [
    columns.map(({ title }) => title),
    columns.map(({ align }) => (align === "left" ? "---" : "---:")),
    ...rows,
  ];
  return lines.map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}
