import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** What takes longest begins first, the longest at the head: otherwise one processor waits for it in the end. */
const LONGEST = [
  "store/postgres.test.ts",
  "campaigns/campaigns.test.ts",
  "campaigns/systems.test.ts",
  "collections/run.test.ts",
  "cli/postgres.test.ts",
  "console/console.test.ts",
  "campaigns/provider-data.test.ts",
  "store/sqlite.test.ts",
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) =>
      LONGEST.findIndex((end) => moduleId.endsWith(end)) + 1 || Infinity;
    return (await super.sort(files)).toSorted((a, b) => Math.sign(rank(a) - rank(b) || 0));
  }
}

export default defineConfig({
  test: {
    include: ["packages/*/test/**/*.test.ts"],
    globalSetup: ["packages/server/test/support/set-up.ts"],
    setupFiles: process.env["TEST_CPU"] === undefined ? [] : ["packages/server/test/support/cpu-seconds.ts"],
    reporters: ["default", "./scripts/vitest-summary.ts"],
    // Four at a time, also where there are two processors: many tests wait for a program that starts, or for a time limit.
    maxWorkers: 4,
    // Files share what they import, which saves half of the processor's time: no test may mock a module for others.
    isolate: false,
    sequence: { sequencer: LongestFirst },
    // Real servers and real disks: slow machines get time, and no test is decided by it.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 30_000 } },
  },
});
