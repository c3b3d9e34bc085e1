import { type Comparison, type Figure, isReached, ratioOf, type Summary, summary } from "../results.ts";

/** A table as texts, for the terminal and for Markdown alike. */
export interface Table {
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly string[])[];
}

export interface Column {
  readonly title: string;
  readonly align: "left" | "right";
}

/** What there is no number for. */
const NONE = "–";

const left = (title: string): Column => ({ title, align: "left" });
const right = (title: string): Column => ({ title, align: "right" });

export function comparisonTable(comparisons: readonly Comparison[]): Table {
  return {
    columns: [
      left("measured"),
      left("beside"),
      right("topupd, req/s"),
      right("beside, req/s"),
      right("ratio"),
      right("target"),
      left("reached"),
      right("p50, ms"),
      right("p99, ms"),
      right("CPU/req, µs"),
      right("memory, MiB"),
    ],
    rows: comparisons.map(comparisonRow),
  };
}

function comparisonRow(comparison: Comparison): string[] {
  const ours = summary(comparison.ours);
  const theirs = summary(comparison.theirs);
  const both = (name: keyof Summary, decimals: number) =>
    `${number(ours[name], decimals)} / ${number(theirs[name], decimals)}`;
  return [
    comparison.measured,
    comparison.baseline,
    number(ours.perSecond),
    number(theirs.perSecond),
    number(ratioOf(comparison), 2),
    number(comparison.target, 2),
    yesOrNo(isReached(comparison)),
    both("p50", 1),
    both("p99", 1),
    both("cpuMicroseconds", 0),
    both("memoryMiB", 0),
  ];
}

export function figureTable(figures: readonly Figure[]): Table {
  return {
    columns: [left("measured"), right("result"), right("target"), left("reached"), left("how")],
    rows: figures.map((figure) => [
      figure.measured,
      `${number(figure.value, figure.decimals)} ${figure.unit}`,
      targetOf(figure),
      yesOrNo(isReached(figure)),
      figure.detail,
    ]),
  };
}

function targetOf({ target, unit }: Figure): string {
  if (target === undefined) return NONE;
  return "atLeast" in target ? `at least ${number(target.atLeast)} ${unit}` : `at most ${target.atMost} ${unit}`;
}

function yesOrNo(value: boolean | undefined): string {
  if (value === undefined) return NONE;
  return value ? "yes" : "no";
}

/** With thousands apart. */
export function number(value: number, decimals = 0): string {
  if (Number.isNaN(value)) return NONE;
  return value.toLocaleString("en", { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
}
