import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { removeFolder, temporaryFolder } from "./clean-up.ts";
import { checkDatabase, type Grown, growDatabase } from "./growth/grown.ts";
import { measureLoad } from "./growth/load.ts";
import { markdownOf } from "./growth/markdown.ts";
import { readGrowthOptions } from "./growth/options.ts";
import { growthResults, type Measured } from "./growth/results.ts";
import { measureStartUp } from "./growth/start-up.ts";
import { loadGenerator } from "./load.ts";
import { describeMachine } from "./report/machine.ts";
import { printResults } from "./report/terminal.ts";

const PAGE = new URL("GROWTH.md", import.meta.url);

/**
 * `npm run bench -- growth`: what becomes of topupd on SQLite as a provider's customers and their transactions come
 * to be many. Databases of several sizes are served side by side, and what counts is what the larger ones do of what
 * the smallest does at the same time on the same machine.
 * @param words the command line after `growth`.
 */
export async function measureGrowth(words: readonly string[]): Promise<void> {
  const options = readGrowthOptions(words);
  // It is told now, and not when gigabytes have been written, if there is none.
  loadGenerator();
  const folder = temporaryFolder("growth");
  try {
    const databases = await growAll(folder, options.customers);
    const measured: Measured[] = [];
    for (const grown of databases) measured.push({ grown, startUp: await measureStartUp(grown) });
    const results = growthResults(measured, await measureLoad(databases, options));
    const machine = await describeMachine(undefined);
    printResults(results, machine);
    if (options.writes) writeFileSync(PAGE, markdownOf(results, machine, options));
  } finally {
    removeFolder(folder);
  }
}

async function growAll(folder: string, sizes: readonly number[]): Promise<Grown[]> {
  const databases: Grown[] = [];
  for (const customers of sizes) {
    const begun = performance.now();
    const grown = await growDatabase(join(folder, String(customers)), customers);
    // The others differ in nothing but the number of customers, and would take many minutes.
    if (databases.length === 0) await checkDatabase(grown);
    databases.push(grown);
    const seconds = Math.round((performance.now() - begun) / 1000);
    process.stderr.write(`made a database of ${customers} customers in ${seconds} s\n`);
  }
  return databases;
}
