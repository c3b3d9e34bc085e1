import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** A server under load, in a process of its own. */
export interface Server {
  readonly url: string;
  /** CPU time so far, in ms; undefined where the machine does not tell. */
  readonly cpuMs: () => number | undefined;
  /** Resident memory, in MiB. */
  readonly memoryMiB: () => number | undefined;
  readonly stop: () => Promise<void>;
}

const START_TIMEOUT_MS = 30_000;
/** Of Linux, on every architecture. */
const TICKS_PER_SECOND = 100;

/**
 * Starts a program of Node that says on stderr, as JSON, at which `url` it listens. Its log goes to a file, as a
 * provider's does: nobody but the disk is to be kept busy by it.
 */
export async function startServer(
  words: readonly string[],
  env: Readonly<Record<string, string>> = {},
  cwd?: string,
): Promise<Server> {
  const folder = mkdtempSync(join(tmpdir(), "topupd-bench-log-"));
  const log = join(folder, "log");
  const child = spawn(process.execPath, words, {
    cwd,
    env: { PATH: process.env["PATH"], NODE_ENV: "production", ...env },
    stdio: ["ignore", "ignore", openSync(log, "w")],
  });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const url = await saidUrl(child, log);
  return {
    url,
    cpuMs: () =>
      fromProc(child, "stat", (text) => {
        const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
        return ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS_PER_SECOND;
      }),
    memoryMiB: () => fromProc(child, "status", (text) => Number(/VmRSS:\s+(\d+)/.exec(text)?.[1]) / 1024),
    stop: async () => {
      child.kill("SIGTERM");
      await ended;
      rmSync(folder, { recursive: true });
    },
  };
}

/** The program of topupd, built. */
export const TOPUPD = fileURLToPath(new URL("../packages/server/bin/topupd.js", import.meta.url));

function fromProc(child: ChildProcess, file: string, read: (text: string) => number): number | undefined {
  try {
    return read(readFileSync(`/proc/${child.pid}/${file}`, "utf8"));
  } catch {
    return undefined;
  }
}

async function saidUrl(child: ChildProcess, log: string): Promise<string> {
  for (let waited = 0; waited < START_TIMEOUT_MS; waited += 20) {
    const said = readFileSync(log, "utf8");
    const url = /"url":"([^"]+)"/.exec(said)?.[1];
    if (url !== undefined) return url;
    if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode} before it listened: ${said}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  child.kill("SIGKILL");
  throw new Error(`it does not listen: ${readFileSync(log, "utf8")}`);
}
