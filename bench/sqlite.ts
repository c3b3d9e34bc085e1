import { join } from "node:path";
import { measureLoneTopUp } from "./lone-top-up.ts";
import { measureOperations } from "./operations.ts";
import type { BenchOptions } from "./options.ts";
import { SERVE, startServer } from "./processes.ts";
import { say } from "./progress.ts";
import type { Results } from "./results.ts";
import { measureStart } from "./start.ts";
import { readSqliteTarget } from "./targets.ts";
import { fill, importFigure } from "./world.ts";

const LEAST_IMPORTED = 40_000;

/** All that is measured on SQLite, in a database made in this folder from the provider's files in it. */
export async function measureSqlite(folder: string, options: BenchOptions): Promise<Results> {
  const { customers, parts } = options;
  say("import into SQLite");
  const { token, importMs } = await fill(folder, { cwd: folder });
  const imported = importFigure("SQLite", customers, importMs, LEAST_IMPORTED);
  const target = await readSqliteTarget(join(folder, "topupd.db"), customers);
  const started = parts.includes("start") ? [await measureStart(folder, token, target)] : [];
  const server = await startServer(SERVE, {}, folder);
  try {
    const serving = { server, token, target };
    const comparisons = await measureOperations(serving, options);
    const lone = parts.includes("lone-top-up") ? [await measureLoneTopUp(serving, folder)] : [];
    return { comparisons, figures: [...lone, ...started, imported], skipped: [] };
  } finally {
    await server.stop();
  }
}
