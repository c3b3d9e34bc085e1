import { readFileSync } from "node:fs";
import type { Reporter, TestModule } from "vitest/node";

/** Ends the run with what was skipped, and one plain line that any program can read: `N passed, N failed, N skipped`. */
export default class Summary implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const states = tests.map((test) => test.result().state);
    for (const { module, fullName } of tests.filter((_, index) => states[index] === "skipped"))
      process.stdout.write(`skipped: ${module.relativeModuleId} > ${fullName}\n`);
    if (process.env["TEST_CPU"] !== undefined) printCosts(process.env["TEST_CPU"]);
    const count = (state: string) => states.filter((candidate) => candidate === state).length;
    const failed = count("failed") + modules.filter((module) => module.errors().length > 0).length;
    process.stdout.write(`\n${count("passed")} passed, ${failed} failed, ${count("skipped")} skipped\n`);
  }
}

interface Cost {
  readonly file: string;
  /** Undefined: the whole file. */
  readonly test?: string;
  readonly seconds: number;
}

const MOST_COSTS = 20;

/** Prints the dearest files and tests. @param log what test/support/cpu-seconds.ts notes. */
function printCosts(log: string): void {
  const costs = readFileSync(log, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Cost);
  const ofFiles = costs.filter(({ test }) => test === undefined);
  const sum = ofFiles.reduce((seconds, cost) => seconds + cost.seconds, 0);
  process.stdout.write(`\nCPU seconds of all files: ${sum.toFixed(0)}; the dearest files, then the dearest tests:\n`);
  for (const some of [ofFiles, costs.filter(({ test }) => test !== undefined)])
    for (const { file, test = "", seconds } of some.toSorted((a, b) => b.seconds - a.seconds).slice(0, MOST_COSTS))
      process.stdout.write(`${seconds.toFixed(1).padStart(7)} ${file.replace(/^.*\/packages\//, "")} ${test}\n`);
}
