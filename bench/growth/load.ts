import { createReadStream } from "node:fs";
import { join } from "node:path";
import { Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { lookUps, topUps } from "../bodies.ts";
import { pathOf } from "../calls.ts";
import { CONNECTIONS } from "../operations.ts";
import { SERVE, type Server, startServer } from "../processes.ts";
import { overHttp, type Round, type RoundOptions, runRounds } from "../rounds.ts";
import type { Grown } from "./grown.ts";

/** The rounds of one operation on several databases, in the order of the databases. */
export interface Loaded {
  readonly operation: string;
  readonly rounds: readonly (readonly Round[])[];
}

interface Operation {
  readonly name: string;
  /** Spread over all that is in the database. */
  readonly bodies: (grown: Grown, count: number) => readonly string[];
  /** Whether the same request twice would be another thing. */
  readonly mustBeNew: boolean;
}

const OPERATIONS: readonly Operation[] = [
  {
    name: "get-customer-information",
    bodies: ({ history }, count) => lookUps(history.target, count),
    mustBeNew: false,
  },
  {
    name: "subscription-package-topup",
    bodies: ({ history }, count) => topUps(history.target, count),
    mustBeNew: true,
  },
  { name: "txn-status", bodies: ({ history }, count) => queries(history.checkoutIds, count), mustBeNew: false },
];

/** Serves all databases at the same time, and lets them take turns with each operation. */
export async function measureLoad(databases: readonly Grown[], options: RoundOptions): Promise<Loaded[]> {
  const servers: Server[] = [];
  try {
    for (const { folder } of databases) servers.push(await startServer(SERVE, {}, folder));
    const loaded: Loaded[] = [];
    for (const operation of OPERATIONS) {
      for (const { folder } of databases) await readIntoMemory(join(folder, "topupd.db"));
      loaded.push(await measureOperation(operation, databases, servers, options));
    }
    return loaded;
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
  }
}

/**
 * Has the machine hold a file in its own memory, as far as that goes, as after a day of service. What comes from the
 * disk would measure the disk, and the larger a database is, the longer it would take to have all of it come by.
 */
async function readIntoMemory(path: string): Promise<void> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  await pipeline(createReadStream(path, { highWaterMark: 1024 * 1024 }), nowhere);
}

async function measureOperation(
  { name, bodies, mustBeNew }: Operation,
  databases: readonly Grown[],
  servers: readonly Server[],
  options: RoundOptions,
): Promise<Loaded> {
  const http = { path: pathOf(name), mustBeNew, connections: CONNECTIONS };
  const contestants = databases.map((grown, index) =>
    overHttp({
      ...{ ...http, server: servers[index] as Server, token: grown.token },
      bodies: (count) => bodies(grown, count),
    }),
  );
  return { operation: name, rounds: await runRounds(contestants, options) };
}

/** Of top-ups as old as any: a partner asks rather for the newest, which are all in one place. */
function queries(checkoutIds: readonly string[], count: number): string[] {
  return Array.from({ length: count }, (_, turn) =>
    JSON.stringify({ checkoutId: checkoutIds[(turn * 7919) % checkoutIds.length] }),
  );
}
