import { spawn } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** What a load of requests came to. */
export interface Measured {
  readonly perSecond: number;
  /** Latencies, in ms. */
  readonly p50: number;
  readonly p99: number;
  readonly requests: number;
}

export interface LoadOptions {
  readonly url: string;
  readonly token: string;
  /** Each is sent once, in turn. */
  readonly bodies: readonly string[];
  /** Whether it would be another thing to send one twice. */
  readonly mustBeNew: boolean;
  readonly connections: number;
  readonly seconds: number;
}

const SCRIPT = fileURLToPath(new URL("load.lua", import.meta.url));

/**
 * Drives a server from another process, by wrk, which must be installed.
 * @throws Error where an answer was not a success, or the bodies did not suffice.
 */
export async function drive({ url, token, bodies, mustBeNew, connections, seconds }: LoadOptions): Promise<Measured> {
  const file = join(tmpdir(), `topupd-bench-bodies-${process.pid}`);
  writeFileSync(file, bodies.map((body) => `${body}\n`).join(""));
  try {
    const words = [
      "-t1",
      `-c${connections}`,
      `-d${seconds}s`,
      "--timeout",
      "30s",
      "-s",
      SCRIPT,
      url,
      "--",
      file,
      token,
    ];
    const text = await output("wrk", words);
    const [, json] = /\n(\{"requests".*\})\n/.exec(text) ?? [];
    if (json === undefined) throw new Error(`wrk did not say what came of it: ${text}`);
    const { requests, microseconds, p50, p99, failed } = JSON.parse(json) as Record<string, number>;
    if (failed !== 0) throw new Error(`${failed} requests failed: ${text}`);
    if (mustBeNew && (requests as number) > bodies.length)
      throw new Error("the bodies did not suffice: some were sent twice");
    const perSecond = ((requests as number) * 1e6) / (microseconds as number);
    return { perSecond, p50: (p50 as number) / 1000, p99: (p99 as number) / 1000, requests: requests as number };
  } finally {
    rmSync(file, { force: true });
  }
}

function output(command: string, words: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, words, { stdio: ["ignore", "pipe", "inherit"] });
    const chunks: Buffer[] = [];
    child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
    child.on("error", (error) => reject(new Error(`${command} cannot be run: is it installed?`, { cause: error })));
    child.on("close", (code) => {
      const text = Buffer.concat(chunks).toString("utf8");
      if (code === 0) resolve(text);
      else reject(new Error(`${command} ended with ${code}: ${text}`));
    });
  });
}
