import { writeFileSync } from "node:fs";
import { describeMachine, type Machine } from "./machine.ts";
import {
  BARE_SERVER,
  type Comparison,
  cpuRatio,
  type Figure,
  isReached,
  type Results,
  type Summary,
  summary,
  throughputRatio,
} from "./results.ts";

/** A table as texts, for the terminal and for Markdown alike: what begins with `<` stands left. */
type Table = readonly (readonly string[])[];

/**
 * Prints the results of a run, and writes them to a page if they are to be kept.
 * @param page the file of the page; undefined if they are not kept.
 * @param introduction first text of the page.
 */
export async function report(
  results: Results,
  page: string | undefined,
  introduction: readonly string[],
): Promise<void> {
  const machine = await describeMachine();
  const tables = [comparisonTable(results.comparisons), figureTable(results.figures)].filter((rows) => rows.length > 1);
  process.stdout.write(`\n${[...machine.map((each) => each.join(": ")), ...tables.map(toText)].join("\n\n")}\n`);
  if (page === undefined) return;
  // Others are of another scale.
  const chart = chartOf(results.comparisons.filter(({ baseline }) => baseline === BARE_SERVER));
  writeFileSync(new URL(page, import.meta.url), toMarkdown(tables, machine, introduction, chart));
}

function comparisonTable(comparisons: readonly Comparison[]): Table {
  const head = ["measured", "beside", "CPU/req, µs", "CPU ratio", "target", "reached", "req/s", "ratio"];
  return [[...head, "p50, ms", "p99, ms", "memory, MiB"], ...comparisons.map(comparisonRow)];
}

function comparisonRow(comparison: Comparison): string[] {
  const { measured, baseline, target } = comparison;
  const [ours, theirs] = [summary(comparison.ours), summary(comparison.theirs)];
  const both = (name: keyof Summary, decimals: number) =>
    `${number(ours[name], decimals)} / ${number(theirs[name], decimals)}`;
  const database = ours.databaseMicroseconds;
  const ofDatabase = Number.isNaN(database) ? "" : ` (PostgreSQL: ${number(database, 1)})`;
  const { cpuAtMost, throughputAtLeast } = target;
  const wanted = `${cpuAtMost === undefined ? "" : `CPU at most ${cpuAtMost}, `}ratio at least ${throughputAtLeast}`;
  return [
    ...[measured, baseline, both("cpuMicroseconds", 1) + ofDatabase, number(cpuRatio(comparison), 2), wanted],
    ...[yesOrNo(isReached(comparison)), both("perSecond", 0), number(throughputRatio(comparison), 2)],
    ...[both("p50", 1), both("p99", 1), both("memoryMiB", 0)],
  ];
}

function figureTable(figures: readonly Figure[]): Table {
  const rows = figures.map((figure) => {
    const { measured, value, unit, decimals, target, detail } = figure;
    const wanted =
      target === undefined
        ? "–"
        : "atLeast" in target
          ? `at least ${target.atLeast.toLocaleString("en")} ${unit}`
          : `at most ${target.atMost} ${unit}`;
    return [measured, `${number(value, decimals)} ${unit}`, wanted, yesOrNo(isReached(figure)), detail];
  });
  return [["measured", "result", "target", "reached", "how"], ...rows];
}

function yesOrNo(value: boolean | undefined): string {
  if (value === undefined) return "–";
  return value ? "yes" : "no";
}

/** A number with thousands separators. */
function number(value: number, decimals = 0): string {
  if (Number.isNaN(value)) return "–";
  return value.toLocaleString("en", { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
}

function toText(rows: Table): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ");
  return rows.map((row) => line(row).trimEnd()).join("\n");
}

/** Draws throughput as bars and targets as a line, in Mermaid; empty if nothing was measured beside the bare server. */
function chartOf(comparisons: readonly Comparison[]): string {
  if (comparisons.length === 0) return "";
  const list = (values: readonly unknown[]) => `[${values.join(", ")}]`;
  return [
    "```mermaid",
    "xychart-beta",
    '  title "Throughput beside the baseline: bars as measured, line as wanted"',
    `  x-axis ${list(comparisons.map(({ measured }) => JSON.stringify(measured.replace("SQLite, ", ""))))}`,
    `  y-axis "ratio" 0 --> 1`,
    `  bar ${list(comparisons.map((comparison) => throughputRatio(comparison).toFixed(2)))}`,
    `  line ${list(comparisons.map(({ target }) => target.throughputAtLeast))}`,
    "```",
  ].join("\n");
}

function toMarkdown(
  tables: readonly Table[],
  machine: Machine,
  [title = "", ...introduction]: readonly string[],
  chart: string,
): string {
  const table = ([head = [], ...rows]: Table) =>
    [head, head.map(() => "---"), ...rows].map((row) => `| ${row.join(" | ")} |`).join("\n");
  const day = new Date().toISOString().slice(0, 10);
  const parts = [
    ...[
      `# ${title}`,
      `Written on ${day}. ${introduction.join(" ")}`,
      ...(chart === "" ? [] : [chart]),
      ...tables.map(table),
    ],
    machine.map(([name, value]) => `- ${name}: ${value}`).join("\n"),
  ];
  return `${parts.join("\n\n")}\n`;
}
