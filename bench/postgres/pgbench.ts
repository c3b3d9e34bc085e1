import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { removeFolder, temporaryFolder } from "../clean-up.ts";
import type { Measured } from "../load.ts";
import { runProgram } from "../programs.ts";
import type { Contestant } from "../rounds.ts";
import { ask, type Cluster, createDatabase } from "./cluster.ts";

const PROCEDURE = readFileSync(new URL("pgbench.sql", import.meta.url), "utf8");
/** As many as PostgreSQL can well work on at a time, driven by one thread of pgbench. */
const LOAD = ["-M", "prepared", "-c", "16", "-j", "1", "-n"];

export interface PgbenchOptions {
  readonly program: string;
  readonly cluster: Cluster;
  /** A database of topupd, with which nobody is connected: a copy of it is used. */
  readonly template: string;
  readonly customers: number;
}

/** PostgreSQL with one call of a stored procedure for each top-up, and nothing before it. */
export async function pgbenchContestant(options: PgbenchOptions): Promise<Contestant> {
  const { program, cluster, template, customers } = options;
  const url = await createDatabase(cluster.url, "bench_pgbench", template);
  await ask(url, PROCEDURE);
  await ask(url, "VACUUM ANALYZE");
  return {
    run: (seconds) => runPgbench(program, url, customers, seconds),
    cpuMs: cluster.cpuMs,
    memoryMiB: () => undefined,
  };
}

async function runPgbench(program: string, url: string, customers: number, seconds: number): Promise<Measured> {
  const folder = temporaryFolder("pgbench");
  const script = join(folder, "script.sql");
  writeFileSync(script, `\\set customer random(0, ${customers - 1})\nSELECT bench_top_up(:customer::integer);\n`);
  try {
    const log = ["--log", "--log-prefix", join(folder, "log")];
    const said = await runProgram(program, [...LOAD, "-T", String(seconds), "-f", script, ...log, url]);
    const perSecond = Number(/^tps = ([\d.]+) \(without/m.exec(said)?.[1]);
    const failed = Number(/number of failed transactions: (\d+)/.exec(said)?.[1] ?? 0);
    if (!(perSecond > 0) || failed > 0) throw new Error(`pgbench did not do its work: ${said}`);
    const latencies = readLatencies(folder);
    return {
      perSecond,
      p50: percentile(latencies, 0.5),
      p99: percentile(latencies, 0.99),
      requests: latencies.length,
    };
  } finally {
    removeFolder(folder);
  }
}

/** From lines of client, transaction, microseconds, and more. @returns ms, in order. */
function readLatencies(folder: string): Float64Array {
  const logs = readdirSync(folder).filter((name) => name.startsWith("log."));
  const lines = logs.flatMap((name) => readFileSync(join(folder, name), "utf8").trimEnd().split("\n"));
  return Float64Array.from(lines, (line) => Number(line.split(" ")[2]) / 1000).sort();
}

function percentile(sorted: Float64Array, share: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}
