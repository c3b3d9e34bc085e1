import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { temporaryFolder } from "../support/service.ts";
import { tool } from "../support/tools.ts";
import { FOLDER } from "./documents.ts";

/*
 * The collections run by the programs that partners have, in processes of their own which reach this machine alone.
 */

const NEWMAN = tool("newman/bin/newman.js");
const BRU = tool("@usebruno/cli/bin/bru.js");

/** One test of one request. */
export interface Verdict {
  readonly request: string;
  readonly title: string;
  readonly isPassed: boolean;
}

export interface Run {
  readonly code: number | null;
  /** Empty if the program did not come to its end. */
  readonly verdicts: readonly Verdict[];
  readonly output: string;
}

export type Settings = Readonly<Record<string, string>>;

/** The exit code of a program that tried to reach another machine. */
export const STRAYED = 99;

export async function runPostman(version: string, settings: Settings): Promise<Run> {
  const report = join(temporaryFolder(), "report.json");
  const words = ["run", "postman.json", "--reporters", "cli,json", "--reporter-json-export", report, "--color", "off"];
  const ended = await run(NEWMAN, join(FOLDER, version), [...words, ...asFlags(settings)]);
  const { run: ran } = readReport<PostmanReport>(report) ?? { run: { executions: [] } };
  const verdicts = ran.executions.flatMap(({ item: { name: request }, assertions = [] }) =>
    assertions.map(({ assertion: title, error }) => ({ request, title, isPassed: error === undefined })),
  );
  return { ...ended, verdicts };
}

interface PostmanReport {
  readonly run: {
    readonly executions: readonly {
      readonly item: { readonly name: string };
      readonly assertions?: readonly { readonly assertion: string; readonly error?: object }[];
    }[];
  };
}

export async function runBruno(version: string, settings: Settings): Promise<Run> {
  const report = join(temporaryFolder(), "report.json");
  // Without --noproxy it asks the desktop for a proxy.
  const words = ["run", "--env", "demo", "--sandbox", "safe", "--noproxy", "--reporter-json", report];
  const ended = await run(BRU, join(FOLDER, version, "bruno"), [...words, ...asFlags(settings)]);
  const results = (readReport<BrunoReport>(report) ?? []).flatMap((iteration) => iteration.results);
  const verdicts = results.flatMap(({ name: request, testResults = [] }) =>
    testResults.map(({ description: title, status }) => ({ request, title, isPassed: status === "pass" })),
  );
  return { ...ended, verdicts };
}

type BrunoReport = readonly {
  readonly results: readonly {
    readonly name: string;
    readonly testResults?: readonly { readonly description: string; readonly status: string }[];
  }[];
}[];

function asFlags(settings: Settings): string[] {
  return Object.entries(settings).flatMap(([name, value]) => ["--env-var", `${name}=${value}`]);
}

function readReport<Report>(path: string): Report | undefined {
  return existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as Report) : undefined;
}

async function run(program: string, cwd: string, words: readonly string[]) {
  const child = spawn(process.execPath, [program, ...words], {
    cwd,
    env: {
      PATH: process.env["PATH"],
      // Nothing of what the person at this machine has set up.
      HOME: temporaryFolder(),
      NO_COLOR: "1",
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(LOOPBACK_ONLY)}`,
    },
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  const ended = once(child, "close");
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  const [code] = (await ended) as [number | null];
  return { code, output };
}

/** Ends the process rather than let it reach another machine: an error could be swallowed. */
const LOOPBACK_ONLY = `
  import net from "node:net";
  const { connect } = net.Socket.prototype;
  net.Socket.prototype.connect = function (...words) {
    const [options] = words.flat();
    if (options?.host !== "127.0.0.1") {
      console.error("it strayed to " + options?.host);
      process.exit(${STRAYED});
    }
    return connect.apply(this, words);
  };
`;
