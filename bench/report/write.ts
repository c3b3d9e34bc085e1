import { writeFileSync } from "node:fs";
import type { BenchOptions } from "../options.ts";
import type { Results } from "../results.ts";
import { chartOf } from "./chart.ts";
import type { Machine } from "./machine.ts";
import { markdownOf } from "./markdown.ts";

const PAGE = new URL("../RESULTS.md", import.meta.url);
const CHART = "results.svg";

/** Replaces the results that are kept with the code. */
export function writeResults(results: Results, machine: Machine, options: BenchOptions): void {
  writeFileSync(new URL(CHART, PAGE), chartOf(results.comparisons));
  writeFileSync(PAGE, markdownOf(results, machine, options, CHART));
}
