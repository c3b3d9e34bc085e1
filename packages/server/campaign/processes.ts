import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { fileURLToPath } from "node:url";

const TOPUPD = fileURLToPath(new URL("../bin/topupd.js", import.meta.url));
const START_TIMEOUT_MS = 120_000;

/** However a run ends, no process of it is left. */
const running = new Set<ChildProcess>();
process.once("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

/** The place of a campaign. */
export interface Ground {
  /** An empty folder. */
  readonly cwd: string;
  /** Database of every process (default: a file in the folder). */
  readonly database?: string;
  /** The program (default: the built one), and additions to the environment of its processes. */
  readonly program?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** A process of `topupd serve` that listens. */
export interface Served {
  readonly pid: number;
  readonly url: string;
  readonly stderr: () => string;
  /** Sends a signal and waits for the end. @returns the exit code, or the name of the signal that ended it. */
  readonly end: (signal: "SIGTERM" | "SIGKILL") => Promise<number | string>;
  /** Process ids of its children: workers and the settler, if any. */
  readonly children: () => readonly number[];
}

/** Runs one command of the built topupd to its end. @returns stdout. @throws Error unless it succeeds. */
export async function expectTopupd(words: readonly string[], ground: Ground): Promise<string> {
  const child = start(words, ground);
  const [stdout, stderr] = [collect(child.stdout), collect(child.stderr)];
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`topupd ${words.join(" ")} ended with ${code}: ${stderr()}`);
  return stdout();
}

/** Starts one command, and kills it after some time unless it has ended. @returns its exit code, or undefined if killed. */
export async function killTopupd(
  words: readonly string[],
  ground: Ground,
  afterMs: number,
): Promise<number | undefined> {
  const child = start(words, ground);
  const stderr = collect(child.stderr);
  child.stdout.resume();
  const timer = setTimeout(() => child.kill("SIGKILL"), afterMs);
  const [code] = (await once(child, "close")) as [number | null];
  clearTimeout(timer);
  if (code !== null && code !== 0) throw new Error(`topupd ${words.join(" ")} ended with ${code}: ${stderr()}`);
  return code ?? undefined;
}

/** Starts the service on a free port, and waits until it listens. */
export async function startServing(ground: Ground, workers = 1, flags: readonly string[] = []): Promise<Served> {
  // A fixed port stays the same if all workers are killed at once.
  const port = ["--port", String(await freePort())];
  // Few customers are topped up many times.
  const child = start(["serve", ...port, "--workers", String(workers), "--months-ahead", "12000", ...flags], ground);
  child.stdout.resume();
  const stderr = collect(child.stderr);
  const ended = once(child, "close").then(([code, signal]) => (code ?? signal) as number | string);
  const url = await new Promise<string>((resolve, reject) => {
    const giveUp = setTimeout(() => {
      child.kill("SIGKILL");
      reject(new Error(`does not listen: ${stderr()}`));
    }, START_TIMEOUT_MS);
    const look = () => {
      const found = /"url":"([^"]+)"/.exec(stderr());
      if (found === null) return;
      clearTimeout(giveUp);
      // Searching the whole output each time would be the slowest part.
      child.stderr.off("data", look);
      resolve(found[1] as string);
    };
    child.stderr.on("data", look);
    void ended.then(() => {
      clearTimeout(giveUp);
      reject(new Error(`ended instead of listening: ${stderr()}`));
    });
  });
  let isAsked = false;
  // Rejects, and nobody waits for it: a service that ends by itself ends the run. Campaigns kill with SIGKILL.
  void ended.then((end) => {
    if (!isAsked && end !== "SIGKILL") throw new Error(`the service ended by itself with ${end}: ${stderr()}`);
  });
  return {
    pid: child.pid as number,
    url,
    stderr,
    end: (signal) => {
      isAsked = true;
      child.kill(signal);
      return ended;
    },
    children: () => childrenOf(child.pid as number),
  };
}

/** @returns 1, or 0 if the process had ended already. */
export function signalProcess(pid: number, signal: NodeJS.Signals): number {
  try {
    process.kill(pid, signal);
    return 1;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    return 0;
  }
}

/** A process that was just killed may still be listed. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

function childrenOf(parent: number): number[] {
  const lines = execFileSync("ps", ["-eo", "pid=,ppid=,comm="], { encoding: "utf8" }).split("\n");
  return lines
    .map((line) => line.trim().split(/ +/))
    .filter(([, ppid, command]) => Number(ppid) === parent && command !== "ps")
    .map(([pid]) => Number(pid));
}

/** Starts topupd without settings from the environment. Receivers are on this machine. */
function start(words: readonly string[], { cwd, database, program = TOPUPD, env: added }: Ground) {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith("TOPUPD_"));
  const env: Record<string, string | undefined> = { ...Object.fromEntries(inherited), ...added };
  env["TOPUPD_PRIVATE_TARGETS"] = "127.0.0.1";
  if (database !== undefined) env["TOPUPD_DATABASE"] = database;
  const child = spawn(process.execPath, [program, ...words], { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  running.add(child);
  child.once("close", () => running.delete(child));
  return child;
}

function collect(stream: NodeJS.ReadableStream): () => string {
  const chunks: Buffer[] = [];
  stream.on("data", (chunk: Buffer) => chunks.push(chunk));
  return () => Buffer.concat(chunks).toString("utf8");
}

/** Memory of all processes of the service, in KiB. @param field current (`VmRSS`) or maximum (`VmHWM`). */
export function memoryOf({ pid, children }: Served, field: "VmRSS" | "VmHWM"): number {
  const sizes = [pid, ...children()].map((each) => {
    const status = readFileSync(`/proc/${each}/status`, "utf8");
    return Number(new RegExp(`^${field}:\\s+(\\d+)`, "m").exec(status)?.[1]);
  });
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** @param share such as 0.99. @returns whole milliseconds. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return Math.round(sorted[Math.min(Math.floor(values.length * share), values.length - 1)] ?? 0);
}

export function p99(values: readonly number[]): number {
  return percentile(values, 0.99);
}
