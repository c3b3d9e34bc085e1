import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { DEFAULT_BASE_PLANS } from "../src/domain/catalogue.ts";
import { openPostgresStore } from "../src/store/postgres/open.ts";
import { openSqliteStore } from "../src/store/sqlite/open.ts";
import type { Store } from "../src/store/store.ts";
import type { OpenOptions } from "../test/support/open-service.ts";
import { type PostgresServer, startPostgres } from "../test/support/postgres-server.ts";
import { all } from "./all.ts";
import { askPostgres } from "./ask-postgres.ts";
import { clocks } from "./clocks.ts";
import { counter } from "./counter.ts";
import { deliver } from "./deliver.ts";
import { doors } from "./doors.ts";
import { due } from "./due.ts";
import { engines } from "./engines.ts";
import { facts } from "./facts.ts";
import { KILL, restartOf } from "./faults/blows.ts";
import { commands, sqliteGround } from "./faults/commands.ts";
import { disk } from "./faults/disk.ts";
import { failover } from "./faults/failover.ts";
import { makeSmallDisk, postgresFaults } from "./faults/postgres.ts";
import { flood } from "./flood.ts";
import { floodPartners } from "./flood-partners.ts";
import { runGoodwillHistories } from "./goodwill-files.ts";
import { kill } from "./kill.ts";
import { lossy } from "./lossy.ts";
import { midnight } from "./midnight.ts";
import { model } from "./model.ts";
import { month } from "./month.ts";
import { mutants } from "./mutants.ts";
import { runLedgerHistories } from "./paid-time.ts";
import { power } from "./power/power.ts";
import { powerOfServer } from "./power/server.ts";
import { practice } from "./practice.ts";
import { prepaid } from "./prepaid.ts";
import { race } from "./race.ts";
import { sessions } from "./sessions.ts";
import { statement } from "./statement.ts";

/*
 * npm run campaign -- NAME [--store sqlite|postgres] [--seed N] [--rounds N] [--events N] [--processes N] [--top-ups N]
 * [--covered N] [--changes N] [--facts N] [--images N] [--folder PATH] [--postgres URL]: the long form of what the tests
 * run briefly. The same seed makes the same choices, though not the same timing.
 */

interface Size {
  readonly seed: number;
  readonly rounds: number;
  readonly events: number;
  readonly processes: number;
  readonly workers: number;
  readonly topUps: number;
  readonly covered: number;
  /** Part of the names of mutants to plant, or commands to kill; undefined: all. */
  readonly only: string | undefined;
  readonly minutes: number;
  readonly changes: number;
  readonly facts: number;
  readonly images: number;
  /** A folder on the disk that `power` examines. */
  readonly folder: string | undefined;
  /** The URL of a database of the PostgreSQL that `power` examines. */
  readonly postgres: string | undefined;
  readonly cwd: string;
}

/** Changes and facts for each kill. */
const [CHANGES_OF_PEACE, FACTS_OF_PEACE] = [500, 5_000];

let made = 0;

const ON_SQLITE: Readonly<Record<string, (size: Size) => Promise<string>>> = {
  race,
  kill,
  lossy,
  clocks,
  doors,
  practice,
  power: ({ postgres, ...size }) => (postgres === undefined ? power(size) : powerOfServer({ ...size, url: postgres })),
  faults: disk,
  commands: (size) => commands({ ...size, ...sqliteGround(size.cwd) }),
  prepaid: (size) => prepaid({ ...size, processes: 1, workers: 4 }),
  statement,
  engines: ({ seed, rounds, cwd }) =>
    withServer(async ({ url }) => {
      const openPostgres = openIn(createDatabase(url));
      return engines({ seed, rounds, path: join(cwd, "engines.db"), openPostgres });
    }),
  all: ({ seed, minutes }) => all({ seed, minutes }),
  mutants,
  counter: ({ rounds, events, workers, ...size }) => counter({ ...size, sales: events, kills: rounds, workers }),
  facts: (size) => facts({ ...size, kills: Math.ceil(size.facts / FACTS_OF_PEACE) }),
  sessions: (size) =>
    withServer(async ({ url }) =>
      sessions({ ...size, kills: Math.ceil(size.changes / CHANGES_OF_PEACE), radius: await createDatabase(url) }),
    ),
  flood: async (size) => `${await flood(size)}\n${await floodPartners(size)}`,
  deliver: ({ workers, ...size }) => deliver({ ...size, kills: size.rounds, ...(workers === 1 ? {} : { workers }) }),
  due: async ({ seed, rounds, cwd }) => {
    const path = join(cwd, "due.db");
    return withStore(await openSqliteStore({ ...TOOLS, path }), ({ engine }) => due({ seed, rounds, engine }));
  },
  midnight: (size) => {
    const path = join(size.cwd, "midnight.db");
    return midnight({
      ...size,
      database: `sqlite:${path}`,
      openStore: async (options) => openSqliteStore({ ...options, path }),
    });
  },
  month: (size) => {
    const path = join(size.cwd, "month.db");
    return month({
      ...size,
      database: `sqlite:${path}`,
      openStore: async (options) => openSqliteStore({ ...options, path }),
    });
  },
  "paid-time": async ({ seed, rounds }) => {
    const { entries, compared } = runLedgerHistories(seed, rounds);
    const { exports } = runGoodwillHistories(seed, Math.ceil(rounds / 2));
    return `${rounds} histories of ${entries} entries: ${compared} ends as in the naive book; ${exports} files with goodwill read right`;
  },
  model: (size) => model({ ...size, makeStore: () => ({ path: join(size.cwd, `story-${++made}.db`) }) }),
};

/** On a server of its own. */
const ON_POSTGRES: typeof ON_SQLITE = {
  race: (size) => withServer(async ({ url }) => race({ ...size, database: await createDatabase(url) })),
  practice: (size) => withServer(async ({ url }) => practice({ ...size, database: await createDatabase(url) })),
  prepaid: (size) =>
    withServer(async ({ url }) => prepaid({ ...size, processes: 4, database: await createDatabase(url) })),
  counter: ({ rounds, events, workers, ...size }) =>
    withServer(async ({ url }) =>
      counter({ ...size, sales: events, kills: rounds, workers, database: await createDatabase(url) }),
    ),
  clocks: (size) => withServer(async ({ url }) => clocks({ ...size, database: await createDatabase(url) })),
  facts: (size) =>
    withServer(async ({ url }) =>
      facts({ ...size, kills: Math.ceil(size.facts / FACTS_OF_PEACE), database: await createDatabase(url) }),
    ),
  sessions: (size) =>
    withServer(async ({ url }) => {
      const [database, radius] = [await createDatabase(url), await createDatabase(url)];
      return sessions({ ...size, kills: Math.ceil(size.changes / CHANGES_OF_PEACE), database, radius });
    }),
  deliver: ({ seed, rounds, events, cwd }) =>
    withServer(async ({ url }) => deliver({ seed, events, cwd, kills: rounds, database: await createDatabase(url) })),
  due: ({ seed, rounds }) =>
    withServer(async ({ url }) => {
      const store = await openIn(createDatabase(url))(TOOLS);
      return withStore(store, ({ engine }) => due({ seed, rounds, engine }));
    }),
  kill: (size) =>
    withServer(async (server) =>
      kill({ ...size, blows: [KILL, restartOf(server)], database: await createDatabase(server.url) }),
    ),
  failover,
  commands: (size) =>
    withServer(async ({ url }) => {
      const database = await createDatabase(url);
      const copy = () => createDatabase(url, new URL(database).pathname.slice(1));
      return commands({ ...size, database, openStore: openIn(database), copy, empty: () => createDatabase(url) });
    }),
  faults: async (size) => {
    const small = makeSmallDisk();
    if (small === undefined) process.stdout.write("full disks are skipped: they need root on Linux\n");
    try {
      return await withServer(
        async (server) =>
          postgresFaults({ ...size, server, database: await createDatabase(server.url), small: small?.folder }),
        small && (() => small.folder),
      );
    } finally {
      small?.remove();
    }
  },
  midnight: (size) =>
    withServer(async ({ url }) => {
      const database = await createDatabase(url);
      return midnight({ ...size, database, openStore: openIn(database) });
    }),
  month: (size) =>
    withServer(async ({ url }) => {
      const database = await createDatabase(url);
      return month({ ...size, database, openStore: openIn(database) });
    }),
  model: (size) =>
    withServer(({ url }) => model({ ...size, makeStore: () => ({ openStore: openIn(createDatabase(url)) }) })),
};

async function withServer(work: (server: PostgresServer) => Promise<string>, placeFor?: () => string) {
  const server = await startPostgres({}, placeFor);
  try {
    return await work(server);
  } finally {
    await server.close();
  }
}

/** Makes a database on a server, as a copy of another. @returns its URL. */
async function createDatabase(server: string, template = "template0"): Promise<string> {
  const url = new URL(server);
  url.pathname = `/campaign_${++made}`;
  await askPostgres(server, `CREATE DATABASE campaign_${made} TEMPLATE ${template} ENCODING 'UTF8'`);
  return url.href;
}

function openIn(database: string | Promise<string>): NonNullable<OpenOptions["openStore"]> {
  return async (options) => openPostgresStore({ ...options, url: await database, connections: 4 });
}

const NO_WISHES = { timeZone: undefined, currencyExponent: undefined, basePlans: DEFAULT_BASE_PLANS };
const TOOLS = { clock: Date.now, random: (bytes: number) => randomBytes(bytes), ...NO_WISHES };

async function withStore(store: Store, work: (store: Store) => Promise<string>): Promise<string> {
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: "string", default: "1" },
    rounds: { type: "string", default: "100" },
    events: { type: "string", default: "100000" },
    processes: { type: "string", default: "2" },
    workers: { type: "string", default: "1" },
    "top-ups": { type: "string", default: "10000" },
    covered: { type: "string", default: "1000" },
    changes: { type: "string", default: "10000" },
    facts: { type: "string", default: "100000" },
    images: { type: "string", default: "1000" },
    folder: { type: "string" },
    postgres: { type: "string" },
    store: { type: "string", default: "sqlite" },
    minutes: { type: "string", default: "30" },
    only: { type: "string" },
  },
});
const [name = ""] = positionals;
const run = { sqlite: ON_SQLITE, postgres: ON_POSTGRES }[values.store]?.[name];
const { seed, ...sizes } = {
  seed: Number(values.seed),
  rounds: Number(values.rounds),
  events: Number(values.events),
  processes: Number(values.processes),
  workers: Number(values.workers),
  topUps: Number(values["top-ups"]),
  covered: Number(values.covered),
  minutes: Number(values.minutes),
  changes: Number(values.changes),
  facts: Number(values.facts),
  images: Number(values.images),
};
const isSize = (size: number) => Number.isSafeInteger(size) && size > 0;
if (run === undefined || !Number.isSafeInteger(seed) || !Object.values(sizes).every(isSize)) {
  process.stderr.write(
    "usage: npm run campaign -- all [--minutes N]|mutants [--only TEXT]|race|kill|faults|failover|commands|lossy|doors|flood|deliver|due|sessions|facts|model|engines|month|midnight|clocks|paid-time|practice|prepaid|statement|counter|power [--store sqlite|postgres] [--seed N] [--rounds N] [--events N] [--processes N] [--workers N] [--top-ups N] [--covered N] [--changes N] [--facts N] [--images N] [--folder PATH] [--postgres URL]\n" +
      "(lossy, doors, flood, paid-time, statement, power and mutants: on sqlite only; deliver, statement and counter make --events, and deliver and counter kill --rounds processes; power makes --images, of a database in --folder, or makes --rounds of faults on the server of --postgres)\n",
  );
  process.exit(2);
}

const cwd = mkdtempSync(join(tmpdir(), "topupd-campaign-"));
/** The last line of each run, however it ends. */
let verdict = "FAILED: the run ended although it waited for something";
// Exit codes of a failure, unless Node has set its own.
process.exitCode = 1;
process.once("exit", () => {
  rmSync(cwd, { recursive: true, force: true });
  process.stdout.write(`${name}: ${verdict}\n`);
});
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
  process.once(signal, () => fail(new Error(`the run was ended by ${signal}`)));
process.once("uncaughtException", fail);
process.once("unhandledRejection", fail);
try {
  const { only, folder, postgres } = values;
  process.stdout.write(`${await run({ seed, ...sizes, only, folder, postgres, cwd })}\n`);
  verdict = "passed";
  process.exitCode = 0;
} catch (error) {
  fail(error);
}

/** Ends the run, and with it what it started. */
function fail(error: unknown): never {
  const { message, stack = message } = error instanceof Error ? error : new Error(String(error));
  // A page about a disk or a server is for operators, whom a stack would not help.
  process.stdout.write(`${values.folder === undefined && values.postgres === undefined ? stack : message}\n`);
  verdict = `FAILED with seed ${seed}`;
  process.exit(1);
}
