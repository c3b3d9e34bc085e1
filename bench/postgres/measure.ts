import { topUps } from "../bodies.ts";
import { pathOf } from "../calls.ts";
import { CONNECTIONS } from "../operations.ts";
import type { BenchOptions } from "../options.ts";
import { SERVE, type Server, startServer } from "../processes.ts";
import { findProgram } from "../programs.ts";
import { say } from "../progress.ts";
import type { Comparison, Results } from "../results.ts";
import { type Contestant, overHttp, type Round, runRounds } from "../rounds.ts";
import { readPostgresTarget } from "../targets.ts";
import { fill, importFigure } from "../world.ts";
import { ask, type Cluster, createDatabase, programFolders } from "./cluster.ts";
import { startExpress } from "./express.ts";
import { pgbenchContestant } from "./pgbench.ts";

const OPERATION = "subscription-package-topup";
const DATABASE = "bench_topupd";

/**
 * Top-ups on PostgreSQL, in turn with pgbench and with an ordinary service, all on one server.
 * @param folder holds the provider's files.
 */
export async function measurePostgres(cluster: Cluster, folder: string, options: BenchOptions): Promise<Results> {
  const { customers } = options;
  const url = await createDatabase(cluster.url, DATABASE);
  const env = { TOPUPD_DATABASE: url };
  say("import into PostgreSQL");
  const { token, importMs } = await fill(folder, { cwd: folder, env });
  await ask(url, "VACUUM ANALYZE");
  const target = await readPostgresTarget(url, customers);

  const program = findProgram("pgbench", await programFolders());
  const pgbench =
    program === undefined ? undefined : await pgbenchContestant({ program, cluster, template: DATABASE, customers });
  const servers: Server[] = [];
  try {
    const express = await startExpress(cluster, token, customers);
    servers.push(express);
    const topupd = await startServer(SERVE, env, folder);
    servers.push(topupd);
    // What was written to fill the databases is to be on disk before anybody is measured.
    await ask(cluster.url, "CHECKPOINT");
    const http = { path: pathOf(OPERATION), token, bodies: (count: number) => topUps(target, count), mustBeNew: true };
    const onPostgres = (server: Server) =>
      withCluster(overHttp({ server, connections: CONNECTIONS, ...http }), cluster);
    say(`${OPERATION} on PostgreSQL`);
    // topupd is next to either of the others.
    const contestants = [onPostgres(express), onPostgres(topupd), ...(pgbench === undefined ? [] : [pgbench])];
    const [ofExpress, ours, ofPgbench] = (await runRounds(contestants, options)) as [Round[], Round[], Round[]?];
    return {
      comparisons: [
        ...(ofPgbench === undefined ? [] : [comparison("pgbench, a stored procedure", 1, ours, ofPgbench)]),
        comparison("Express and pg", 4, ours, ofExpress),
      ],
      figures: [importFigure("PostgreSQL", customers, importMs, undefined)],
      skipped: pgbench === undefined ? [WITHOUT_PGBENCH] : [],
    };
  } finally {
    for (const server of servers) await server.stop();
  }
}

const WITHOUT_PGBENCH = {
  measured: `${OPERATION}, PostgreSQL, against pgbench`,
  why: "there is no pgbench: it comes with an installed PostgreSQL, in a package that may be called postgresql-contrib",
};

function comparison(baseline: string, target: number, ours: readonly Round[], theirs: readonly Round[]): Comparison {
  return { measured: `${OPERATION}, PostgreSQL`, baseline, target, ours, theirs };
}

/** Counts what PostgreSQL does for it too. */
function withCluster(contestant: Contestant, cluster: Cluster): Contestant {
  const cpuMs = () => {
    const [own, postgres] = [contestant.cpuMs(), cluster.cpuMs()];
    return own === undefined || postgres === undefined ? undefined : own + postgres;
  };
  return { ...contestant, cpuMs };
}
