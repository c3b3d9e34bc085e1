import { temporaryFolder } from "./clean-up.ts";
import { loadGenerator } from "./load.ts";
import { type BenchOptions, readOptions } from "./options.ts";
import { startCluster } from "./postgres/cluster.ts";
import { measurePostgres } from "./postgres/measure.ts";
import { describeMachine } from "./report/machine.ts";
import { printResults } from "./report/terminal.ts";
import { writeResults } from "./report/write.ts";
import { joinResults, NO_RESULTS } from "./results.ts";
import { measureSqlite } from "./sqlite.ts";
import { writeFiles } from "./world.ts";

/*
 * npm run bench: topupd beside what else could be done with the same machine. README.md says how, and beside what.
 */

const words = process.argv.slice(2);
if (words[0] === "growth") {
  const { measureGrowth } = await import("./growth.ts");
  await measureGrowth(words.slice(1));
} else if (words[0] === "reports") {
  const { measureReports } = await import("./reports.ts");
  await measureReports(words.slice(1));
} else {
  await measureAll(readOptions(words));
}

async function measureAll(options: BenchOptions): Promise<void> {
  // It is told now, and not when much has been measured, if there is none.
  loadGenerator();
  const folder = temporaryFolder("world");
  await writeFiles(folder, options.customers);
  const cluster = options.parts.includes("postgres") ? await startCluster() : undefined;
  try {
    const machine = await describeMachine(cluster?.version);
    const onSqlite = await measureSqlite(folder, options);
    const onPostgres = cluster === undefined ? NO_RESULTS : await measurePostgres(cluster, folder, options);
    const results = joinResults(onSqlite, onPostgres);
    printResults(results, machine);
    if (options.writes) writeResults(results, machine, options);
  } finally {
    await cluster?.close();
  }
}
