import { fileURLToPath } from "node:url";
import { listings, lookUps, queries, type Target, topUps } from "./bodies.ts";
import { call, pathOf } from "./calls.ts";
import type { BenchOptions } from "./options.ts";
import { type Server, startServer } from "./processes.ts";
import { type Comparison, say } from "./results.ts";
import { overHttp, type Round, type RoundOptions, runRounds } from "./rounds.ts";

/** Of wrk, or whatever sends: as a busy partner has. */
export const CONNECTIONS = 64;
const MANY_CONNECTIONS = 256;
const BARE = fileURLToPath(new URL("servers/bare.mjs", import.meta.url));
/** For txn-status: as many are asked for again and again. */
const RECORDED = 1_000;

interface Scenario {
  readonly target: Comparison["target"];
  readonly bodies: (count: number) => readonly string[];
  /** Whether the same request twice would be another thing. */
  readonly mustBeNew: boolean;
}

export const TOP_UP = "subscription-package-topup";
const OPERATIONS = ["get-customer-information", "get-subscription-package", TOP_UP, "txn-status"] as const;
type Operation = (typeof OPERATIONS)[number];

export interface Serving {
  readonly server: Server;
  readonly token: string;
  readonly target: Target;
}

/** Each operation in turn with a bare server that parses the same requests and answers as much. */
export async function measureOperations(serving: Serving, options: BenchOptions): Promise<Comparison[]> {
  const comparisons: Comparison[] = [];
  for (const operation of OPERATIONS) {
    if (!options.parts.includes(operation)) continue;
    say(`${operation} on SQLite`);
    comparisons.push(await measureOperation(operation, serving, options, CONNECTIONS));
    if (operation !== TOP_UP) continue;
    const { target: _, ...many } = await measureOperation(operation, serving, options, MANY_CONNECTIONS);
    comparisons.push({ ...many, target: { throughputAtLeast: 0.33 } });
  }
  return comparisons;
}

async function measureOperation(
  operation: Operation,
  serving: Serving,
  options: RoundOptions,
  connections: number,
): Promise<Comparison> {
  const { server, token } = serving;
  const { target, bodies, mustBeNew } = await scenarioOf(operation, serving);
  const [body = ""] = bodies(1);
  const bare = await startBareServer(await call({ server, operation, token, body }));
  try {
    const http = { path: pathOf(operation), token, bodies, connections };
    const contestants = [
      overHttp({ server: bare, mustBeNew: false, ...http }),
      overHttp({ server, mustBeNew, ...http }),
    ];
    const [theirs, ours] = (await runRounds(contestants, options)) as [Round[], Round[]];
    const measured = `${operation}, SQLite, ${connections} connections`;
    return { measured, baseline: "bare node:http", target, ours, theirs };
  } finally {
    await bare.stop();
  }
}

/** @param answer of topupd: the bare server's is as long. */
export function startBareServer(answer: string): Promise<Server> {
  return startServer([BARE, String(answer.length)]);
}

export async function scenarioOf(operation: Operation, { server, token, target }: Serving): Promise<Scenario> {
  switch (operation) {
    case "get-customer-information":
      return {
        target: { cpuAtMost: 2.4, throughputAtLeast: 0.6 },
        bodies: (count) => lookUps(target, count),
        mustBeNew: false,
      };
    case "get-subscription-package":
      return {
        target: { cpuAtMost: 2.9, throughputAtLeast: 0.5 },
        bodies: (count) => listings(target, count),
        mustBeNew: false,
      };
    case TOP_UP:
      return {
        target: { cpuAtMost: 5, throughputAtLeast: 0.28 },
        bodies: (count) => topUps(target, count),
        mustBeNew: true,
      };
    case "txn-status": {
      const recorded = topUps(target, RECORDED);
      for (const body of recorded) await call({ server, operation: TOP_UP, token, body });
      return {
        target: { cpuAtMost: 2.3, throughputAtLeast: 0.6 },
        bodies: (count) => queries(recorded, count),
        mustBeNew: false,
      };
    }
  }
}
