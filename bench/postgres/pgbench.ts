import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { removeFolder, temporaryFolder } from "../clean-up.ts";
import type { Measured } from "../load.ts";
import { runProgram } from "../programs.ts";
import type { Contestant } from "../rounds.ts";
import { type Cluster, createDatabase } from "./cluster.ts";

const CLIENTS = 64;

/** PostgreSQL with pgbench's standard transaction, which is like TPC-B's: five statements, as many rows as clients. */
export async function pgbenchContestant(program: string, cluster: Cluster): Promise<Contestant> {
  const url = await createDatabase(cluster, "bench_pgbench");
  // Clients would wait for each other if there were fewer branches than clients.
  await runProgram(program, ["--initialize", "--quiet", "--scale", String(CLIENTS), url]);
  return {
    run: (seconds) => run(program, url, seconds),
    // The processes of pgbench itself are not counted.
    cpuMs: cluster.cpuMs,
    memoryMiB: () => undefined,
  };
}

async function run(program: string, url: string, seconds: number): Promise<Measured> {
  const folder = temporaryFolder("pgbench");
  try {
    const load = ["--protocol", "prepared", "--client", String(CLIENTS), "--no-vacuum", "--time", String(seconds)];
    const said = await runProgram(program, [...load, "--log", "--log-prefix", join(folder, "log"), url]);
    const perSecond = Number(/^tps = ([\d.]+) \(without/m.exec(said)?.[1]);
    if (!(perSecond > 0)) throw new Error(`pgbench printed no result: ${said}`);
    const latencies = readLatencies(folder);
    const percentile = (share: number) => latencies[Math.ceil(latencies.length * share) - 1] ?? Number.NaN;
    return { perSecond, requests: latencies.length, p50: percentile(0.5), p99: percentile(0.99) };
  } finally {
    removeFolder(folder);
  }
}

/** Reads latencies from lines of client, transaction, microseconds, and more. @returns ms, sorted. */
function readLatencies(folder: string): Float64Array {
  const lines = readdirSync(folder).flatMap((name) => readFileSync(join(folder, name), "utf8").trimEnd().split("\n"));
  return Float64Array.from(lines, (line) => Number(line.split(" ")[2]) / 1000).sort();
}
