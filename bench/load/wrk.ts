import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { LoadGenerator } from "../load.ts";
import { findProgram, runProgram } from "../programs.ts";

const PROGRAM = "wrk";
const SCRIPT = fileURLToPath(new URL("wrk.lua", import.meta.url));

/** wrk, an installed program: one thread of it outruns any server of Node's. */
export const wrk: LoadGenerator = {
  name: "wrk",
  // It ends with a failure after it has said its version.
  version: async () =>
    /wrk (?:debian\/)?(\S+)/.exec(spawnSync(PROGRAM, ["-v"], { encoding: "utf8" }).stdout)?.[1] ?? "?",
  isInstalled: () => findProgram(PROGRAM) !== undefined,
  run: async ({ url, token, bodiesFile, connections, seconds }) => {
    const options = ["-t1", `-c${connections}`, `-d${seconds}s`, "--timeout", "30s", "-s", SCRIPT];
    const said = await runProgram(PROGRAM, [...options, url, "--", bodiesFile, token]);
    const [, json] = /\n(\{"requests".*\})\n/.exec(said) ?? [];
    if (json === undefined) throw new Error(`wrk did not say what came of it: ${said}`);
    const { requests, microseconds, p50, p99, failed } = JSON.parse(json) as Record<
      "requests" | "microseconds" | "p50" | "p99" | "failed",
      number
    >;
    return { perSecond: (requests * 1e6) / microseconds, p50: p50 / 1000, p99: p99 / 1000, requests, failed };
  },
};
