import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { guard, removeFolder, temporaryFolder } from "./clean-up.ts";
import { cpuMsOfFamily, memoryMiBOfFamily } from "./proc.ts";
import { type ProgramOptions, runProgram } from "./programs.ts";

/** A server under load, in a process of its own. */
export interface Server {
  readonly url: string;
  /** CPU time so far of all its processes, in ms; undefined where the machine does not tell. */
  readonly cpuMs: () => number | undefined;
  /** The CPU time of its database, if that is a separate program. */
  readonly databaseCpuMs?: (() => number | undefined) | undefined;
  /** Current memory of all its processes, in MiB. Shared memory counts once. */
  readonly memoryMiB: () => number | undefined;
  readonly stop: () => Promise<void>;
}

const START_TIMEOUT_MS = 30_000;
const STOP_TIMEOUT_MS = 15_000;
const LOOK_EVERY_MS = 5;

/** The program of topupd, built. */
export const TOPUPD = fileURLToPath(new URL("../packages/server/bin/topupd.js", import.meta.url));

/** Starts topupd as a provider does: with metrics, on free ports, with two workers on any machine. */
export const SERVE = [
  ...[TOPUPD, "serve", "--port", "0", "--metrics-port", "0", "--workers", "2"],
  // Few customers are topped up thousands of times.
  ...["--months-ahead", "12000"],
];

/** Runs one command of topupd to its end. @returns its stdout. */
export async function runTopupd(words: readonly string[], { cwd, env = {} }: RunOptions): Promise<string> {
  return runProgram(process.execPath, [TOPUPD, ...words], { cwd, env: environment(env) });
}

export interface RunOptions extends ProgramOptions {
  readonly cwd: string;
  /** Added to an environment that has no setting of topupd. */
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * Starts a program of Node that says, as JSON, at which `url` it listens. Its log goes to a file, as a provider's
 * does: nobody but the disk is to be kept busy by it.
 */
export async function startServer(
  words: readonly string[],
  env: Readonly<Record<string, string>> = {},
  cwd?: string,
): Promise<Server> {
  const folder = temporaryFolder("log");
  const log = join(folder, "log");
  const output = openSync(log, "a");
  const child = guard(
    spawn(process.execPath, words, { cwd, env: environment(env), stdio: ["ignore", output, output] }),
  );
  closeSync(output);
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const url = await saidUrl(child, log);
  return {
    url,
    cpuMs: () => cpuMsOfFamily(child.pid as number),
    memoryMiB: () => memoryMiBOfFamily(child.pid as number),
    stop: async () => {
      child.kill("SIGTERM");
      const timer = setTimeout(() => child.kill("SIGKILL"), STOP_TIMEOUT_MS);
      await ended;
      clearTimeout(timer);
      removeFolder(folder);
    },
  };
}

/** The environment without settings of topupd and Node, which could change the results. */
function environment(env: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  return { PATH: process.env["PATH"], NODE_ENV: "production", TOPUPD_PRIVATE_TARGETS: "127.0.0.1", ...env };
}

async function saidUrl(child: ChildProcess, log: string): Promise<string> {
  for (let waited = 0; waited < START_TIMEOUT_MS; waited += LOOK_EVERY_MS) {
    const said = readFileSync(log, "utf8");
    const url = /"url":"([^"]+)"/.exec(said)?.[1];
    if (url !== undefined) return url;
    if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode} before it listened: ${said}`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
  child.kill("SIGKILL");
  throw new Error(`it does not listen: ${readFileSync(log, "utf8")}`);
}

/** A free port. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}
