import type { Results } from "../results.ts";
import type { Machine } from "./machine.ts";
import { comparisonTable, figureTable, type Table } from "./rows.ts";

export function printResults({ comparisons, figures, skipped }: Results, machine: Machine): void {
  const parts = [
    machine.map(([name, value]) => `${name}: ${value}`).join("\n"),
    ...(comparisons.length > 0 ? ["Medians, topupd / beside:", format(comparisonTable(comparisons))] : []),
    format(figureTable(figures)),
    ...skipped.map(({ measured, why }) => `NOT MEASURED: ${measured}: ${why}`),
  ];
  process.stdout.write(`\n${parts.join("\n\n")}\n`);
}

function format({ columns, rows }: Table): string {
  const lines = [columns.map(({ title }) => title), ...rows];
  const widths = columns.map((_, index) => Math.max(...lines.map((line) => line[index]?.length ?? 0)));
  return lines
    .map((line) =>
      line
        .map((cell, index) => pad(cell, index))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");

  function pad(cell: string, index: number): string {
    const width = widths[index] as number;
    return columns[index]?.align === "left" ? cell.padEnd(width) : cell.padStart(width);
  }
}
