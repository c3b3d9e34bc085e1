import type { Reporter, TestModule } from "vitest/node";

/** Ends the run with one plain line that any program can read: `N passed, N failed, N skipped`. */
export default class Summary implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const states = modules.flatMap((module) => [...module.children.allTests()].map((test) => test.result().state));
    const count = (state: string) => states.filter((candidate) => candidate === state).length;
    const failed = count("failed") + modules.filter((module) => module.errors().length > 0).length;
    process.stdout.write(`\n${count("passed")} passed, ${failed} failed, ${count("skipped")} skipped\n`);
  }
}
