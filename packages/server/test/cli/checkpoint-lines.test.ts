import { expect, test } from "vitest";
import { openMeasured } from "../../src/cli/metrics.ts";
import type { Runtime, StoreOptions } from "../../src/cli/runtime.ts";
import type { Config } from "../../src/config.ts";
import { createLogger } from "../../src/log.ts";
import type { Store } from "../../src/store/store.ts";

test("a service logs that the database's log cannot be written into its file, why, and when it can again", async () => {
  const lines: string[] = [];
  const logger = createLogger("info", { write: (line) => lines.push(line) });
  let observe: StoreOptions["observeCheckpoints"];
  const openStore: Runtime["openStore"] = async (_config, options) => {
    observe = options?.observeCheckpoints;
    return {} as Store;
  };
  await openMeasured({ openStore } as Runtime, { metricsPort: undefined } as Config, { logger, logLine: undefined });
  observe?.("disk input or output failed");
  observe?.(undefined);
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    {
      level: "warn",
      cause: "disk input or output failed",
      msg: "the log of the database cannot be written into its file, and grows",
    },
    { level: "info", msg: "the log of the database is written into its file again" },
  ]);
});
