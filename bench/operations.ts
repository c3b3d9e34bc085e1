import { fileURLToPath } from "node:url";
import { listings, lookUps, queries, topUps } from "./bodies.ts";
import { call, pathOf } from "./calls.ts";
import type { BenchOptions } from "./options.ts";
import { type Server, startServer } from "./processes.ts";
import { BARE_SERVER, type Comparison, say } from "./results.ts";
import { type Contestant, overHttp, type Round, type RoundOptions, runRounds } from "./rounds.ts";
import type { Filled, Target } from "./world.ts";

/** Connections of the load generator, as a busy partner has. */
export const CONNECTIONS = 64;
const MANY_CONNECTIONS = 256;
const BARE = fileURLToPath(new URL("servers/bare.mjs", import.meta.url));
/** Recorded top-ups that txn-status asks for repeatedly. */
const RECORDED = 1_000;

/** Top-ups of a filled database, as fast as it can make them. */
export function toppingUp({ token, target }: Filled, server: Server): Contestant {
  const bodies = (count: number) => topUps(target, count);
  return overHttp({ server, path: pathOf(TOP_UP), token, mustBeNew: true, connections: CONNECTIONS, bodies });
}

interface Scenario {
  readonly bodies: (count: number) => readonly string[];
  /** Whether the same request twice would be another thing. */
  readonly mustBeNew: boolean;
}

export const TOP_UP = "subscription-package-topup";
const OPERATIONS = ["get-customer-information", "get-subscription-package", TOP_UP, "txn-status"] as const;
type Operation = (typeof OPERATIONS)[number];

/** Ratios to the bare server; for top-ups on PostgreSQL, to pgbench's transactions. */
const TARGETS = {
  SQLite: {
    "get-customer-information": { cpuAtMost: 1.6, throughputAtLeast: 0.8 },
    "get-subscription-package": { cpuAtMost: 2, throughputAtLeast: 0.7 },
    [TOP_UP]: { cpuAtMost: 4.4, throughputAtLeast: 0.29 },
    manyTopUps: { throughputAtLeast: 0.33 },
    "txn-status": { cpuAtMost: 1.6, throughputAtLeast: 0.9 },
  },
  PostgreSQL: {
    "get-customer-information": { throughputAtLeast: 0.19 },
    "get-subscription-package": { throughputAtLeast: 0.2 },
    [TOP_UP]: { throughputAtLeast: 2.4 },
    manyTopUps: { throughputAtLeast: 3.4 },
    "txn-status": { throughputAtLeast: 0.24 },
  },
} as const satisfies Record<string, Record<Operation | "manyTopUps", Comparison["target"]>>;

export interface Serving {
  readonly store: keyof typeof TARGETS;
  readonly server: Server;
  readonly token: string;
  readonly target: Target;
  /** Replaces the bare server as what top-ups are compared with. */
  readonly baseline?: { readonly name: string; readonly contestant: Contestant };
}

/** Each operation in turn with a bare server that parses the same requests and answers as much. */
export async function measureOperations(serving: Serving, options: BenchOptions): Promise<Comparison[]> {
  const comparisons: Comparison[] = [];
  for (const operation of OPERATIONS) {
    if (!options.parts.includes(operation)) continue;
    say(`${operation} on ${serving.store}`);
    comparisons.push(await measureOperation(operation, serving, options, CONNECTIONS));
    if (operation !== TOP_UP) continue;
    const { target: _, ...many } = await measureOperation(operation, serving, options, MANY_CONNECTIONS);
    comparisons.push({ ...many, target: TARGETS[serving.store].manyTopUps });
  }
  return comparisons;
}

async function measureOperation(
  operation: Operation,
  serving: Serving,
  options: RoundOptions,
  connections: number,
): Promise<Comparison> {
  const { store, server, token } = serving;
  const { bodies, mustBeNew } = await scenarioOf(operation, serving);
  const [body = ""] = bodies(1);
  const bare = await startBareServer(await call({ server, operation, token, body }));
  try {
    const http = { path: pathOf(operation), token, bodies, connections };
    const { name, contestant } = (operation === TOP_UP ? serving.baseline : undefined) ?? {
      name: BARE_SERVER,
      contestant: overHttp({ server: bare, mustBeNew: false, ...http }),
    };
    const contestants = [contestant, overHttp({ server, mustBeNew, ...http })];
    const [theirs, ours] = (await runRounds(contestants, options)) as [Round[], Round[]];
    const measured = `${operation}, ${store}, ${connections} connections`;
    return { measured, baseline: name, target: TARGETS[store][operation], ours, theirs };
  } finally {
    await bare.stop();
  }
}

/** @param answer of topupd: the bare server's is as long. */
export function startBareServer(answer: string): Promise<Server> {
  return startServer([BARE, String(answer.length)]);
}

export async function scenarioOf(
  operation: Operation,
  { server, token, target }: Omit<Serving, "store">,
): Promise<Scenario> {
  switch (operation) {
    case "get-customer-information":
      return {
        bodies: (count) => lookUps(target, count),
        mustBeNew: false,
      };
    case "get-subscription-package":
      return {
        bodies: (count) => listings(target, count),
        mustBeNew: false,
      };
    case TOP_UP:
      return {
        bodies: (count) => topUps(target, count),
        mustBeNew: true,
      };
    case "txn-status": {
      const recorded = topUps(target, RECORDED);
      for (const body of recorded) await call({ server, operation: TOP_UP, token, body });
      return {
        bodies: (count) => queries(recorded, count),
        mustBeNew: false,
      };
    }
  }
}
