import { measureOperations } from "../operations.ts";
import type { BenchOptions } from "../options.ts";
import { SERVE, startServer } from "../processes.ts";
import { type Comparison, say } from "../results.ts";
import { fill } from "../world.ts";
import { ask, createDatabase, startCluster } from "./cluster.ts";
import { pgbenchContestant } from "./pgbench.ts";

/**
 * topupd on PostgreSQL: top-ups in turn with pgbench on the same cluster, what reads with a bare server.
 * @param pgbench the path of the program.
 */
export async function measurePostgres(pgbench: string, folder: string, options: BenchOptions): Promise<Comparison[]> {
  say("a database of PostgreSQL");
  const cluster = await startCluster();
  try {
    const url = await createDatabase(cluster, "bench_topupd");
    const { token, target } = await fill(folder, options.customers, url);
    const contestant = await pgbenchContestant(pgbench, cluster);
    await ask(url, "VACUUM ANALYZE");
    // The data is on the disk before the measurement starts.
    await ask(cluster.url, "CHECKPOINT");
    const server = await startServer(SERVE, { TOPUPD_DATABASE: url }, folder);
    try {
      const serving = { server: { ...server, databaseCpuMs: cluster.cpuMs }, token, target };
      const baseline = { name: `pgbench, PostgreSQL ${cluster.version}`, contestant };
      return await measureOperations({ store: "PostgreSQL", ...serving, baseline }, options);
    } finally {
      await server.stop();
    }
  } finally {
    await cluster.close();
  }
}
