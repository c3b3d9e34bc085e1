import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { removeFolder, temporaryFolder } from "./clean-up.ts";
import { autocannon } from "./load/autocannon.ts";
import { wrk } from "./load/wrk.ts";

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

/** A program that sends requests from another process than the bench's own. */
export interface LoadGenerator {
  readonly name: string;
  readonly version: () => Promise<string>;
  /** Whether it is there to be run. */
  readonly isInstalled: () => boolean;
  readonly run: (order: LoadOrder) => Promise<LoadResult>;
}

export interface LoadOrder extends Pick<LoadOptions, "url" | "token" | "connections" | "seconds"> {
  /** With one body in each line. */
  readonly bodiesFile: string;
}

export interface LoadResult extends Measured {
  /** Requests without an answer that says success. */
  readonly failed: number;
}

/** The first that is installed is taken: autocannon, which comes with npm, costs the machine far more than wrk. */
const GENERATORS: readonly LoadGenerator[] = [wrk, autocannon];

/** The one that `BENCH_LOAD` names, or the best that there is. */
export function loadGenerator(): LoadGenerator {
  const wish = process.env["BENCH_LOAD"] ?? "";
  const found = GENERATORS.find((generator) => (wish === "" ? generator.isInstalled() : generator.name === wish));
  if (found !== undefined) return found;
  throw new Error(`BENCH_LOAD must be ${GENERATORS.map(({ name }) => name).join(" or ")}, not "${wish}"`);
}

/**
 * Drives a server from another process.
 * @throws Error where an answer was not a success, or the bodies did not suffice.
 */
export async function drive({ bodies, mustBeNew, ...options }: LoadOptions): Promise<Measured> {
  const { file, remove } = writeBodies(bodies);
  try {
    const { failed, ...measured } = await loadGenerator().run({ ...options, bodiesFile: file });
    if (failed !== 0) throw new Error(`${failed} requests to ${options.url} failed`);
    // Those that were under way at the end were sent too.
    if (mustBeNew && measured.requests + options.connections > bodies.length)
      throw new Error("the bodies did not suffice: some were sent twice");
    return measured;
  } finally {
    remove();
  }
}

/** Writes one body in each line. */
export function writeBodies(bodies: readonly string[]): { readonly file: string; readonly remove: () => void } {
  const folder = temporaryFolder("bodies");
  const file = join(folder, "bodies");
  writeFileSync(file, bodies.map((body) => `${body}\n`).join(""));
  return { file, remove: () => removeFolder(folder) };
}
