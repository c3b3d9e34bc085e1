import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { openSqliteStore } from "../packages/server/src/store/sqlite/sqlite-store.ts";
import { listings, lookUps, queries, type Target, topUps } from "./bodies.ts";
import { type Server, startServer, TOPUPD } from "./processes.ts";
import { median, type Round, type RoundOptions, ratio, runRounds } from "./rounds.ts";
import { fill, writeFiles } from "./world.ts";

/*
 * npm run bench -- [--customers N] [--rounds N] [--seconds N] [--only NAME]: the four operations on SQLite, each in
 * turn with a bare server that parses the same requests and answers as much. What counts are the ratios of one
 * run: absolute numbers say as much of the machine, and of what else it does.
 */

const PATH = "/staging/api/third-party/v1.0.1/";
const BARE = fileURLToPath(new URL("servers/bare.mjs", import.meta.url));
const CONNECTIONS = 64;
/** For txn-status: as many as are asked for again and again. */
const RECORDED = 1_000;

interface Scenario {
  readonly operation: string;
  readonly bodies: (count: number) => readonly string[];
  /** Whether the same request twice would be another thing. */
  readonly mustBeNew: boolean;
}

const { values } = parseArgs({
  options: {
    customers: { type: "string", default: "200000" },
    rounds: { type: "string", default: "5" },
    seconds: { type: "string", default: "3" },
    only: { type: "string" },
  },
});
const customers = Number(values.customers);
const options: RoundOptions = {
  rounds: Number(values.rounds),
  seconds: Number(values.seconds),
  connections: CONNECTIONS,
};

const folder = mkdtempSync(join(tmpdir(), "topupd-bench-"));
try {
  await writeFiles(folder, customers);
  const { token, importMs } = await fill(folder, { cwd: folder });
  process.stdout.write(`import: ${Math.round((customers * 1000) / importMs)} customers a second\n`);
  const target = { customers, partnerId: 1, revision: 1, secret: await readSecret(join(folder, "topupd.db")) };
  const served = await startServer([TOPUPD, "serve", "--port", "0"], {}, folder);
  try {
    for (const scenario of await scenarios(target, served, token)) {
      if (values.only === undefined || values.only === scenario.operation) await compare(scenario, served, token);
    }
  } finally {
    await served.stop();
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function readSecret(path: string): Promise<Target["secret"]> {
  const settings = { timeZone: undefined, currencyExponent: undefined, clock: Date.now, random: randomBytes };
  const store = openSqliteStore({ path, ...settings });
  const [secret] = await store.checkoutSecrets();
  await store.close();
  return secret as Target["secret"];
}

async function scenarios(target: Target, served: Server, token: string): Promise<Scenario[]> {
  const recorded = topUps(target, RECORDED);
  for (const body of recorded) await call(served, token, "subscription-package-topup", body);
  return [
    { operation: "get-customer-information", bodies: (count) => lookUps(target, count), mustBeNew: false },
    { operation: "get-subscription-package", bodies: (count) => listings(target, count), mustBeNew: false },
    { operation: "subscription-package-topup", bodies: (count) => topUps(target, count), mustBeNew: true },
    { operation: "txn-status", bodies: (count) => queries(recorded, count), mustBeNew: false },
  ];
}

async function compare({ operation, bodies, mustBeNew }: Scenario, served: Server, token: string): Promise<void> {
  const [probe = ""] = bodies(1);
  const answer = await call(served, token, operation, probe);
  const bare = await startServer([BARE, String(answer.length)]);
  try {
    const path = PATH + operation;
    const [theirs, ours] = (await runRounds(
      [
        { server: bare, path, token, bodies, mustBeNew: false },
        { server: served, path, token, bodies, mustBeNew },
      ],
      options,
    )) as [Round[], Round[]];
    print(operation, ours, theirs);
  } finally {
    await bare.stop();
  }
}

function print(operation: string, ours: readonly Round[], theirs: readonly Round[]): void {
  const of = (rounds: readonly Round[], value: (round: Round) => number | undefined) => median(rounds.map(value));
  const figures = [
    `ratio ${ratio(ours, theirs).toFixed(2)}`,
    `${Math.round(of(ours, ({ perSecond }) => perSecond))}/s of ${Math.round(of(theirs, ({ perSecond }) => perSecond))}/s`,
    `p50 ${of(ours, ({ p50 }) => p50).toFixed(1)} ms`,
    `p99 ${of(ours, ({ p99 }) => p99).toFixed(1)} ms`,
    `CPU ${Math.round(of(ours, ({ cpuMicroseconds }) => cpuMicroseconds))} of ${Math.round(of(theirs, ({ cpuMicroseconds }) => cpuMicroseconds))} µs`,
    `memory ${Math.round(of(ours, ({ memoryMiB }) => memoryMiB))} MiB`,
  ];
  process.stdout.write(`${operation.padEnd(28)}${figures.join(", ")}\n`);
}

async function call({ url }: Server, token: string, operation: string, body: string): Promise<string> {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const response = await fetch(url + PATH + operation, { method: "POST", headers, body });
  const text = await response.text();
  if (!response.ok) throw new Error(`${operation} was answered with ${text}`);
  return text;
}
