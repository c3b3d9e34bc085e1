import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { removeFolder, temporaryFolder } from "./clean-up.ts";
import { type Grown, growDatabase } from "./growth/grown.ts";
import { loadGenerator } from "./load.ts";
import { ask, type Cluster, createDatabase, startCluster } from "./postgres/cluster.ts";
import { runTopupd } from "./processes.ts";
import { say } from "./progress.ts";
import { describeMachine } from "./report/machine.ts";
import { printResults } from "./report/terminal.ts";
import { measureBeside } from "./reports/beside.ts";
import { markdownOf } from "./reports/markdown.ts";
import { type ReportsOptions, readReportsOptions } from "./reports/options.ts";
import { measureQuestions } from "./reports/questions.ts";
import { joinResults, NO_RESULTS, type Results } from "./results.ts";

const PAGE = new URL("REPORTS.md", import.meta.url);

/** A database with a past, and how commands find it. */
export interface Reported {
  readonly store: "SQLite" | "PostgreSQL";
  readonly grown: Grown;
  readonly env: Readonly<Record<string, string>>;
  /** Of which much is on record, as `2026-11-20`. */
  readonly day: string;
}

/** All that is on record, from the days before today. */
const DAYS = 30;
const DAY_MS = 86_400_000;

/**
 * `npm run bench -- reports`: what a back office asks of a month of transactions, how long it waits for it, and what
 * that costs the top-ups beside it.
 * @param words the command line after `reports`.
 */
export async function measureReports(words: readonly string[]): Promise<void> {
  const options = readReportsOptions(words);
  // It is told now, and not when gigabytes have been written, if there is none.
  loadGenerator();
  const folder = temporaryFolder("reports");
  const cluster = options.stores.includes("postgres") ? await startCluster() : undefined;
  try {
    say(`a database of ${options.transactions} transactions`);
    const grown = await growDatabase(join(folder, "grown"), options.transactions / 2, DAYS);
    const day = new Date(Date.now() - 10 * DAY_MS).toISOString().slice(0, 10);
    const onSqlite = { store: "SQLite", grown, env: {}, day } as const;
    // Copied before anything is added to it.
    const onPostgres = cluster === undefined ? undefined : await copyToPostgres(onSqlite, cluster);
    const results = joinResults(
      options.stores.includes("sqlite") ? await measure(onSqlite, options) : NO_RESULTS,
      onPostgres === undefined ? NO_RESULTS : await measure(onPostgres, options),
    );
    const machine = await describeMachine(cluster?.version);
    printResults(results, machine);
    if (options.writes) writeFileSync(PAGE, markdownOf(results, machine, options));
  } finally {
    await cluster?.close();
    removeFolder(folder);
  }
}

async function copyToPostgres(from: Reported, cluster: Cluster): Promise<Reported> {
  say("a copy of it in PostgreSQL");
  const url = await createDatabase(cluster.url, "bench_reports");
  await runTopupd(["copy", "--from", "sqlite:./topupd.db", "--to", url], { cwd: from.grown.folder });
  await ask(url, "VACUUM ANALYZE");
  await ask(cluster.url, "CHECKPOINT");
  return { ...from, store: "PostgreSQL", env: { TOPUPD_DATABASE: url } };
}

async function measure(reported: Reported, options: ReportsOptions): Promise<Results> {
  const figures = await measureQuestions(reported, options);
  return { comparisons: [await measureBeside(reported, options)], figures, skipped: [] };
}
