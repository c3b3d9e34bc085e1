import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const TOPUPD = fileURLToPath(new URL("../bin/topupd.js", import.meta.url));
const START_TIMEOUT_MS = 30_000;

/** The environment without settings of topupd, so that a run depends on nothing but its arguments. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("TOPUPD_")));
}

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly cwd: string;
  /** Added to an environment that has no setting of topupd. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs one command of the built topupd to its end. */
export async function runTopupd(words: readonly string[], { cwd, env }: RunOptions): Promise<Finished> {
  const child = spawn(process.execPath, [TOPUPD, ...words], { cwd, env: { ...cleanEnvironment(), ...env } });
  const [stdout, stderr] = [collect(child.stdout), collect(child.stderr)];
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", resolve);
  });
  return { code, stdout: stdout(), stderr: stderr() };
}

/** As {@link runTopupd}, where anything but success is the caller's mistake. @returns stdout. */
export async function expectTopupd(words: readonly string[], options: RunOptions): Promise<string> {
  const { code, stdout, stderr } = await runTopupd(words, options);
  if (code !== 0) throw new Error(`topupd ${words.join(" ")} ended with ${code}: ${stderr}`);
  return stdout;
}

/** A process of `topupd serve` that listens. */
export interface Served {
  readonly url: string;
  readonly process: ChildProcess;
  readonly stderr: () => string;
  /** Resolves with the exit code, or the name of the signal that ended it. */
  readonly ended: Promise<number | string>;
  /** Sends a signal and waits for the end. */
  readonly end: (signal: "SIGTERM" | "SIGINT" | "SIGKILL") => Promise<number | string>;
}

/** Starts the service on a free port, and waits until it says that it listens. */
export async function startServing(words: readonly string[], { cwd, env }: RunOptions): Promise<Served> {
  const child = spawn(process.execPath, [TOPUPD, "serve", "--port", "0", ...words], {
    cwd,
    env: { ...cleanEnvironment(), ...env },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const stderr = collect(child.stderr);
  const ended = new Promise<number | string>((resolve) =>
    child.on("close", (code, signal) => resolve(code ?? String(signal))),
  );
  const url = await new Promise<string>((resolve, reject) => {
    const giveUp = setTimeout(() => reject(new Error(`does not listen: ${stderr()}`)), START_TIMEOUT_MS);
    child.stderr?.on("data", () => {
      const found = /"url":"([^"]+)"/.exec(stderr());
      if (found === null) return;
      clearTimeout(giveUp);
      resolve(found[1] as string);
    });
    child.on("close", () => {
      clearTimeout(giveUp);
      reject(new Error(`ended instead of listening: ${stderr()}`));
    });
  }).catch((error: unknown) => {
    child.kill("SIGKILL");
    throw error;
  });
  return {
    url,
    process: child,
    stderr,
    ended,
    end: (signal) => {
      child.kill(signal);
      return ended;
    },
  };
}

/** Whether a process says that it should be sent requests. Rejects where it says nothing. */
export async function isReady(url: string): Promise<boolean> {
  const response = await fetch(`${url}/readyz`);
  await response.arrayBuffer();
  return response.status === 200;
}

function collect(stream: NodeJS.ReadableStream | null): () => string {
  const chunks: Buffer[] = [];
  stream?.on("data", (chunk: Buffer) => chunks.push(chunk));
  return () => Buffer.concat(chunks).toString("utf8");
}
