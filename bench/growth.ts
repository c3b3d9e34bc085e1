import { createReadStream, statSync } from "node:fs";
import { join } from "node:path";
import { Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { parseArgs } from "node:util";
import { lookUps } from "./bodies.ts";
import { call, pathOf } from "./calls.ts";
import { temporaryFolder } from "./clean-up.ts";
import { appendHistory } from "./history.ts";
import { CONNECTIONS, scenarioOf, TOP_UP } from "./operations.ts";
import { readCount } from "./options.ts";
import { SERVE, type Server, startServer } from "./processes.ts";
import { report } from "./report.ts";
import { type Comparison, type Figure, say } from "./results.ts";
import { type Contestant, overHttp, type Round, type RoundOptions, runRounds } from "./rounds.ts";
import { type Filled, fill } from "./world.ts";

const DEFAULTS = { customers: "50000,500000,5000000", rounds: "5", seconds: "3" } as const;
const PAST = { each: 2, days: 90 } as const;

/**
 * `npm run bench -- growth`: what becomes of topupd on SQLite as customers and transactions come to be many. Databases of
 * several sizes are served side by side; what counts is what the larger do of what the smallest does at the same time.
 */
export async function measureGrowth(words: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...words],
    options: {
      customers: { type: "string", default: DEFAULTS.customers },
      rounds: { type: "string", default: DEFAULTS.rounds },
      seconds: { type: "string", default: DEFAULTS.seconds },
    },
  });
  const sizes = values.customers.split(",").map((size) => readCount("customers", size));
  const options = { rounds: readCount("rounds", values.rounds), seconds: readCount("seconds", values.seconds) };
  const folder = temporaryFolder("growth");
  const databases: Filled[] = [];
  for (const size of sizes) {
    say(`a database of ${size} customers`);
    const filled = await fill(join(folder, String(size)), size);
    appendHistory(fileOf(filled), PAST);
    databases.push(filled);
  }
  const starts: number[] = [];
  for (const filled of databases) starts.push(await measureStart(filled));
  const { comparisons, memory } = await measureLoad(databases, options);
  const figures = databases.flatMap((filled, index) => figuresOf(filled, starts[index] ?? 0, memory[index] ?? 0));
  const isFull = words.length === 0;
  await report({ comparisons, figures }, isFull ? "GROWTH.md" : undefined, [
    "Growth",
    "`npm run bench -- growth`: databases of several sizes, each with two top-ups for each subscription, are served side by",
    "side, and 64 connections take turns with them. If a cell has two numbers, the first is the larger database's.",
  ]);
}

function fileOf({ folder }: Filled): string {
  return join(folder, "topupd.db");
}

/** Time from the start of the process to its first answer, in ms. */
async function measureStart({ folder, token, target }: Filled): Promise<number> {
  const begun = performance.now();
  const server = await startServer([...SERVE, "--drain-seconds", "0"], {}, folder);
  try {
    await call({ server, operation: "get-customer-information", token, body: lookUps(target, 1)[0] ?? "" });
    return performance.now() - begun;
  } finally {
    await server.stop();
  }
}

async function measureLoad(databases: readonly Filled[], options: RoundOptions) {
  const servers: Server[] = [];
  try {
    for (const { folder } of databases) servers.push(await startServer(SERVE, {}, folder));
    const comparisons: Comparison[] = [];
    for (const operation of ["get-customer-information", TOP_UP, "txn-status"] as const) {
      for (const filled of databases) await readIntoMemory(fileOf(filled));
      say(operation);
      const contestants: Contestant[] = [];
      for (const [index, { token, target }] of databases.entries()) {
        const server = servers[index] as Server;
        const { bodies, mustBeNew } = await scenarioOf(operation, { server, token, target });
        contestants.push(
          overHttp({ server, path: pathOf(operation), token, mustBeNew, bodies, connections: CONNECTIONS }),
        );
      }
      comparisons.push(...compare(operation, databases, await runRounds(contestants, options)));
    }
    return { comparisons, memory: servers.map((server) => server.memoryMiB()) };
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
  }
}

function compare(operation: string, databases: readonly Filled[], rounds: readonly Round[][]): Comparison[] {
  const [theirs = []] = rounds;
  return rounds.slice(1).map((ours, index) => ({
    ...{ measured: `${operation}, ${nameOf(databases[index + 1])}`, baseline: nameOf(databases[0]), ours, theirs },
    target: { throughputAtLeast: 0.85 },
  }));
}

/** Loads a file into the file cache, as after a day of service. Otherwise the disk would be measured. */
async function readIntoMemory(path: string): Promise<void> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  await pipeline(createReadStream(path, { highWaterMark: 1024 * 1024 }), nowhere);
}

function figuresOf(filled: Filled, startMs: number, memoryMiB: number): Figure[] {
  const name = nameOf(filled);
  const figure = (measured: string, value: number, unit: string, target: Figure["target"], detail: string): Figure => ({
    ...{ measured: `${measured}, ${name}`, value, unit, decimals: unit === "s" ? 2 : 0, target, detail },
  });
  const fileMiB = statSync(fileOf(filled)).size / 1024 / 1024;
  return [
    figure("import", filled.importedPerSecond, "a second", { atLeast: 30_000 }, "into an empty database"),
    figure("file", fileMiB, "MiB", undefined, "with two top-ups for each subscription"),
    figure("start to first answer", startMs / 1000, "s", { atMost: 1 }, "with the database in the machine's memory"),
    figure("memory after the load", memoryMiB, "MiB", { atMost: 600 }, "of all processes"),
  ];
}

function nameOf(filled: Filled | undefined): string {
  return `${(filled?.target.customers ?? 0).toLocaleString("en")} customers`;
}
