import { join } from "node:path";
import { measureAccounts } from "./accounts.ts";
import { temporaryFolder } from "./clean-up.ts";
import { measureConsole } from "./console.ts";
import { measureEvents } from "./events.ts";
import { measureGrowth } from "./growth.ts";
import { loadGenerator } from "./load.ts";
import { measureLoneTopUp } from "./lone-top-up.ts";
import { measureOperations } from "./operations.ts";
import { type BenchOptions, readOptions } from "./options.ts";
import { measureOverload } from "./overload.ts";
import { reportPages } from "./pages.ts";
import { pgbenchProgram } from "./postgres/cluster.ts";
import { measurePostgres } from "./postgres/measure.ts";
import { SERVE, startServer } from "./processes.ts";
import { report } from "./report.ts";
import { measureReports } from "./reports.ts";
import { type Figure, type Results, say } from "./results.ts";
import { measureStrangers } from "./strangers.ts";
import { type Filled, fill, importCustomers } from "./world.ts";

/* npm run bench: topupd beside the least that a server can do. README.md says how. */

const IMPORTED_CUSTOMERS = 200_000;
const LEAST_IMPORTED = 30_000;
const NOTHING: Results = { comparisons: [], figures: [] };

// A missing load generator is reported before anything is measured.
loadGenerator();
const words = process.argv.slice(2);
if (words[0] === "growth") await measureGrowth(words.slice(1));
else if (words[0] === "accounts") await measureAccounts();
else if (words[0] === "events") await measureEvents();
else if (words[0] === "console" && words[1] === "pages") await reportPages(words.slice(2));
else if (words[0] === "console") await measureConsole();
else if (words[0] === "reports") await measureReports(words.slice(1));
else await measureAll(readOptions(words));

async function measureAll(options: BenchOptions): Promise<void> {
  const { customers, rounds, seconds, stores, writes } = options;
  const pgbench = stores.includes("postgres") ? await pgbenchProgram() : undefined;
  const folder = temporaryFolder("world");
  const { comparisons, figures } = stores.includes("sqlite") ? await measureSqlite(folder, options) : NOTHING;
  const onPostgres = pgbench === undefined ? [] : await measurePostgres(pgbench, join(folder, "postgres"), options);
  await report({ comparisons: [...comparisons, ...onPostgres], figures }, writes ? "RESULTS.md" : undefined, [
    "Results",
    `\`npm run bench\`: ${customers} customers, ${rounds} rounds of ${seconds} seconds each, in which topupd and what it is`,
    "compared with take turns. Numbers are medians of the rounds, ratios the medians of those of rounds next to each other.",
    "If a cell has two numbers, the first is topupd's. CPU is that of all processes of a server for each request,",
    "PostgreSQL's included, and beside pgbench, for each of its transactions, PostgreSQL's alone.",
  ]);
}

async function measureSqlite(folder: string, options: BenchOptions): Promise<Results> {
  const { customers, parts } = options;
  const figures: Figure[] = [];
  if (parts.includes("import")) {
    say(`import of ${IMPORTED_CUSTOMERS} customers`);
    figures.push(...(await measureImport(join(folder, "imported"))));
  }
  const filled = await fill(join(folder, "served"), customers);
  const server = await startServer(SERVE, {}, filled.folder);
  try {
    const serving = { store: "SQLite", server, token: filled.token, target: filled.target } as const;
    const comparisons = await measureOperations(serving, options);
    if (parts.includes("lone-top-up")) figures.push(await measureLoneTopUp(serving, filled.folder, 2));
    if (parts.includes("overload")) figures.push(...(await measureOverload(serving)));
    await server.stop();
    if (parts.includes("lone-top-up")) figures.push(await measureWithOneWorker(filled));
    if (parts.includes("overload")) figures.push(await measureStrangers(filled.folder));
    return { comparisons, figures };
  } finally {
    await server.stop();
  }
}

async function measureWithOneWorker({ folder, token, target }: Filled): Promise<Figure> {
  const server = await startServer([...SERVE, "--workers", "1"], {}, folder);
  try {
    return await measureLoneTopUp({ server, token, target }, folder, 1);
  } finally {
    await server.stop();
  }
}

async function measureImport(folder: string): Promise<Figure[]> {
  const { importedPerSecond } = await fill(folder, IMPORTED_CUSTOMERS);
  const figure = (measured: string, value: number): Figure => ({
    ...{ measured, value, unit: "a second", decimals: 0, target: { atLeast: LEAST_IMPORTED } },
    detail: `${IMPORTED_CUSTOMERS} customers by the command line, its own start included`,
  });
  return [
    figure("import of customers", importedPerSecond),
    figure("import of the same file again", await importCustomers(IMPORTED_CUSTOMERS, { cwd: folder })),
  ];
}
