import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { tool } from "../packages/server/test/support/tools.ts";
import { removeFolder, temporaryFolder } from "./clean-up.ts";
import { findProgram, runProgram } from "./programs.ts";

/** Results of a load. */
export interface Measured {
  readonly perSecond: number;
  /** Latencies, in ms. */
  readonly p50: number;
  readonly p99: number;
  readonly requests: number;
}

export interface LoadOptions {
  readonly url: string;
  readonly token: string;
  /** Bodies that are sent in this order. */
  readonly bodies: readonly string[];
  /** Whether a body must not be sent twice. */
  readonly mustBeNew: boolean;
  readonly connections: number;
  readonly seconds: number;
}

/** A program that sends requests from a process of its own. */
export interface LoadGenerator {
  readonly name: string;
  readonly version: () => Promise<string>;
  readonly isInstalled: () => boolean;
  readonly run: (order: LoadOrder) => Promise<LoadResult>;
}

export interface LoadOrder extends Pick<LoadOptions, "url" | "token" | "connections" | "seconds"> {
  /** File with one body in each line. */
  readonly bodiesFile: string;
}

export interface LoadResult extends Measured {
  /** Requests without a successful answer. */
  readonly failed: number;
}

const AUTOCANNON = fileURLToPath(new URL("load/autocannon.mjs", import.meta.url));
const MANIFEST = tool("autocannon/package.json");

/** autocannon, a package of tools/. It needs more CPU for a request than many servers. */
const autocannon: LoadGenerator = {
  name: "autocannon",
  version: async () => (JSON.parse(readFileSync(MANIFEST, "utf8")) as { version: string }).version,
  isInstalled: () => true,
  run: async ({ url, token, bodiesFile, connections, seconds }) => {
    const words = [AUTOCANNON, url, token, bodiesFile, String(connections), String(seconds)];
    return JSON.parse(await runProgram(process.execPath, words)) as LoadResult;
  },
};

const PROGRAM = "wrk";
const WRK = fileURLToPath(new URL("load/wrk.lua", import.meta.url));

/** wrk, an installed program. One thread of it outruns any Node server. */
const wrk: LoadGenerator = {
  name: "wrk",
  // It prints its version and ends with a failure.
  version: async () =>
    /wrk (?:debian\/)?(\S+)/.exec(spawnSync(PROGRAM, ["-v"], { encoding: "utf8" }).stdout)?.[1] ?? "?",
  isInstalled: () => findProgram(PROGRAM) !== undefined,
  run: async ({ url, token, bodiesFile, connections, seconds }) => {
    const options = ["-t1", `-c${connections}`, `-d${seconds}s`, "--timeout", "30s", "-s", WRK];
    const said = await runProgram(PROGRAM, [...options, url, "--", bodiesFile, token]);
    const [, json] = /\n(\{"requests".*\})\n/.exec(said) ?? [];
    if (json === undefined) throw new Error(`wrk printed no result: ${said}`);
    const { requests, microseconds, p50, p99, failed } = JSON.parse(json) as Record<
      "requests" | "microseconds" | "p50" | "p99" | "failed",
      number
    >;
    return { perSecond: (requests * 1e6) / microseconds, p50: p50 / 1000, p99: p99 / 1000, requests, failed };
  },
};

/** The load generators, the preferred one first: autocannon takes far more CPU than wrk. */
const GENERATORS: readonly LoadGenerator[] = [wrk, autocannon];

/** The generator that `BENCH_LOAD` names, otherwise the first installed one. */
export function loadGenerator(): LoadGenerator {
  const wish = process.env["BENCH_LOAD"] ?? "";
  const found = GENERATORS.find((generator) => (wish === "" ? generator.isInstalled() : generator.name === wish));
  if (found !== undefined) return found;
  throw new Error(`BENCH_LOAD must be ${GENERATORS.map(({ name }) => name).join(" or ")}, not "${wish}"`);
}

/**
 * Drives a server from another process.
 * @throws Error if an answer was not a success, or if there were too few bodies.
 */
export async function drive({ bodies, mustBeNew, ...options }: LoadOptions): Promise<Measured> {
  const { file, remove } = writeBodies(bodies);
  try {
    const { failed, ...measured } = await loadGenerator().run({ ...options, bodiesFile: file });
    if (failed !== 0) throw new Error(`${failed} requests to ${options.url} failed`);
    // Requests that were unfinished at the end were sent too.
    if (mustBeNew && measured.requests + options.connections > bodies.length)
      throw new Error("there were too few bodies: some were sent twice");
    return measured;
  } finally {
    remove();
  }
}

/** Writes one body in each line. */
export function writeBodies(bodies: readonly string[]): { readonly file: string; readonly remove: () => void } {
  const folder = temporaryFolder("bodies");
  const file = join(folder, "bodies");
  writeFileSync(file, bodies.map((body) => `${body}\n`).join(""));
  return { file, remove: () => removeFolder(folder) };
}
