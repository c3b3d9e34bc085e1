import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

const TOPUPD = fileURLToPath(new URL("../bin/topupd.js", import.meta.url));
const START_TIMEOUT_MS = 30_000;

/** Where a campaign runs. */
export interface Ground {
  /** An empty folder. */
  readonly cwd: string;
  /** What every process is told of; without it, a file in the folder. */
  readonly database?: string;
}

/** A process of `topupd serve` that listens. */
export interface Served {
  readonly url: string;
  readonly stderr: () => string;
  /** Sends a signal and waits for the end. @returns the exit code, or the name of the signal that ended it. */
  readonly end: (signal: "SIGTERM" | "SIGKILL") => Promise<number | string>;
}

/** Runs one command of the built topupd to its end. @returns stdout. @throws Error unless it succeeds. */
export async function expectTopupd(words: readonly string[], ground: Ground): Promise<string> {
  const child = start(words, ground);
  const [stdout, stderr] = [collect(child.stdout), collect(child.stderr)];
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`topupd ${words.join(" ")} ended with ${code}: ${stderr()}`);
  return stdout();
}

/** Starts the service on a free port, and waits until it says that it listens. */
export async function startServing(ground: Ground): Promise<Served> {
  const child = start(["serve", "--port", "0"], ground);
  child.stdout.resume();
  const stderr = collect(child.stderr);
  const ended = once(child, "close").then(([code, signal]) => (code ?? signal) as number | string);
  const url = await new Promise<string>((resolve, reject) => {
    const giveUp = setTimeout(() => {
      child.kill("SIGKILL");
      reject(new Error(`does not listen: ${stderr()}`));
    }, START_TIMEOUT_MS);
    child.stderr.on("data", () => {
      const found = /"url":"([^"]+)"/.exec(stderr());
      if (found === null) return;
      clearTimeout(giveUp);
      resolve(found[1] as string);
    });
    void ended.then(() => {
      clearTimeout(giveUp);
      reject(new Error(`ended instead of listening: ${stderr()}`));
    });
  });
  return {
    url,
    stderr,
    end: (signal) => {
      child.kill(signal);
      return ended;
    },
  };
}

/** Depends on nothing but its arguments: no setting of topupd in the environment gets through. */
function start(words: readonly string[], { cwd, database }: Ground) {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("TOPUPD_")));
  if (database !== undefined) env["TOPUPD_DATABASE"] = database;
  return spawn(process.execPath, [TOPUPD, ...words], { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
}

function collect(stream: NodeJS.ReadableStream): () => string {
  const chunks: Buffer[] = [];
  stream.on("data", (chunk: Buffer) => chunks.push(chunk));
  return () => Buffer.concat(chunks).toString("utf8");
}
