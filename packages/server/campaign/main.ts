import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { openPostgresStore } from "../src/store/postgres/open.ts";
import { openSqliteStore } from "../src/store/sqlite/open.ts";
import { startPostgres } from "../test/support/postgres-server.ts";
import { kill } from "./kill.ts";
import { lossy } from "./lossy.ts";
import { model } from "./model.ts";
import { month } from "./month.ts";
import { runLedgerHistories } from "./paid-time.ts";
import { createDatabase, postgresStories } from "./postgres.ts";
import { race } from "./race.ts";
import { storm } from "./storm.ts";

/*
 * npm run campaign -- NAME [--store sqlite|postgres] [--seed N] [--rounds N] [--processes N]: the long form of
 * what the tests run briefly. The same seed makes the same choices, though not the same timing.
 */

interface Size {
  readonly seed: number;
  readonly rounds: number;
  readonly processes: number;
  readonly cwd: string;
}

const ON_SQLITE: Readonly<Record<string, (size: Size) => Promise<string>>> = {
  race,
  kill,
  lossy,
  month: (size) => {
    const path = join(size.cwd, "month.db");
    return month({ ...size, openStore: async (options) => openSqliteStore({ ...options, path }) });
  },
  "paid-time": async ({ seed, rounds }) => {
    const { entries, compared } = runLedgerHistories(seed, rounds);
    return `${rounds} histories of ${entries} entries: ${compared} ends as in the naive book`;
  },
  model: (size) => {
    let story = 0;
    return model({
      ...size,
      makeStore: () => {
        story += 1;
        return { path: join(size.cwd, `story-${story}.db`) };
      },
    });
  },
};

/** On a server of its own. */
const ON_POSTGRES: typeof ON_SQLITE = {
  race: (size) => withServer(async ({ url }) => race({ ...size, database: await createDatabase(url, "race") })),
  kill: (size) => withServer(async ({ url }) => kill({ ...size, database: await createDatabase(url, "kill") })),
  model: (size) => withServer(({ url }) => model({ ...size, makeStore: postgresStories(url, "story") })),
  month: (size) =>
    withServer(async (server) => {
      const url = await createDatabase(server.url, "month");
      return month({ ...size, openStore: (options) => openPostgresStore({ ...options, url, connections: 4 }) });
    }),
  storm: (size) =>
    withServer(async (server) => storm({ ...size, server, database: await createDatabase(server.url, "storm") })),
};

async function withServer(work: (server: Awaited<ReturnType<typeof startPostgres>>) => Promise<string>) {
  const server = await startPostgres();
  try {
    return await work(server);
  } finally {
    await server.close();
  }
}

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: "string", default: "1" },
    rounds: { type: "string", default: "100" },
    processes: { type: "string", default: "2" },
    store: { type: "string" },
  },
});
const [name = ""] = positionals;
const store = values.store ?? (name in ON_SQLITE ? "sqlite" : "postgres");
const run = { sqlite: ON_SQLITE, postgres: ON_POSTGRES }[store]?.[name];
const [seed, rounds, processes] = [values.seed, values.rounds, values.processes].map(Number) as [
  number,
  number,
  number,
];
if (run === undefined || ![seed, rounds, processes].every(Number.isSafeInteger) || rounds < 1 || processes < 1) {
  process.stderr.write(
    "usage: npm run campaign -- race|kill|lossy|model|month|paid-time|storm [--store sqlite|postgres] [--seed N] [--rounds N] [--processes N]\n" +
      "(storm: on postgres only; lossy and paid-time: on sqlite only)\n",
  );
  process.exit(2);
}

const cwd = mkdtempSync(join(tmpdir(), "topupd-campaign-"));
try {
  process.stdout.write(`${await run({ seed, rounds, processes, cwd })}\n`);
} finally {
  rmSync(cwd, { recursive: true, force: true });
}
