import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["packages/*/test/**/*.test.ts"],
    globalSetup: ["packages/server/test/support/postgres-set-up.ts"],
    reporters: ["default", "./scripts/vitest-summary.ts"],
    // Real servers and real disks: slow machines get time, and no test is decided by it.
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
