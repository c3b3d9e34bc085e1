import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["packages/*/test/**/*.test.ts"],
    globalSetup: ["packages/server/test/support/postgres-set-up.ts"],
    reporters: ["default", "./scripts/vitest-summary.ts"],
    // Two at a time, also where there are two processors: most of a test's time is a program's that starts, or the disk's.
    maxWorkers: 2,
    // Real servers and real disks: slow machines get time, and no test is decided by it.
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
