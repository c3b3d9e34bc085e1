import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { PREFIX, temporaryFolder } from "./service.ts";

/*
 * The program as operators have it: built, in a process of its own, in an empty folder, and with
 * none of the settings that the tests' own environment may hold.
 */

const PROGRAM = fileURLToPath(new URL("../../bin/topupd.js", import.meta.url));

/** Far more than any command of the tests takes, and less than a test may take. */
const LONGEST_RUN_MS = 150_000;

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

type Launched = ReturnType<typeof launchTopupd>;
/** With the address where it listens, without a slash at its end. */
export type RunningTopupd = Launched & { readonly url: string };
export type CommandLine = ReturnType<typeof commandLine>;

export interface CommandLineOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Shares the folder of another command line. */
  readonly folder?: string;
}

export function commandLine({ env = {}, folder = temporaryFolder() }: CommandLineOptions = {}) {
  const launch = (words: readonly string[], shell?: string) => launchTopupd(words, folder, env, shell);
  const finish = async ({ ended, stdout, stderr }: Launched): Promise<Finished> => {
    const code = await ended;
    return { code, stdout: stdout(), stderr: stderr() };
  };
  /** Runs a command to its end. */
  const run = (...words: readonly string[]) => finish(launch(words));
  return {
    folder,
    run,
    /** As run, after a command of the shell that sets the process a limit. */
    runLimited: (limit: string, ...words: readonly string[]) => finish(launch(words, limit)),
    /** Starts a command, and does not wait for anything. */
    launch: (...words: readonly string[]) => launch(words),
    /** As launch, after a command of the shell, such as one that sends stderr elsewhere. */
    launchAfter: (shell: string, ...words: readonly string[]) => launch(words, shell),
    /** As run; throws unless the exit code is 0. @returns stdout. */
    mustRun: async (...words: readonly string[]) => {
      const { code, stdout, stderr } = await run(...words);
      if (code !== 0) throw new Error(`topupd ${words.join(" ")} ended with ${code}: ${stderr}`);
      return stdout;
    },
    /** Starts serve or demo on a free port; resolves once it is ready. */
    start: async (command: "serve" | "demo", ...words: readonly string[]): Promise<RunningTopupd> => {
      const more = command === "demo" ? ["--console-port", "0", "--counter-port", "0"] : [];
      const launched = launch([command, "--port", "0", ...more, ...words]);
      await launched.untilSaid(
        command === "serve" ? /"msg":"listening"/ : /Ctrl-C[\s\S]*BASE=[\s\S]*Check the database/,
      );
      const url = command === "serve" ? listeningUrl(launched.stderr()) : demoUrl(launched.stdout());
      return { ...launched, url };
    },
    /** Writes a file of rows into the folder. @returns its name. */
    ndjson: (name: string, ...rows: readonly (object | string)[]) => {
      const lines = rows.map((row) => `${typeof row === "string" ? row : JSON.stringify(row)}\n`);
      writeFileSync(join(folder, name), lines.join(""));
      return name;
    },
  };
}

function launchTopupd(words: readonly string[], cwd: string, env: Readonly<Record<string, string>>, limit?: string) {
  const program = [process.execPath, PROGRAM, ...words];
  const [command = "", ...rest] = limit === undefined ? program : ["sh", "-c", `${limit}; exec "$0" "$@"`, ...program];
  // One worker, unless the test is about several.
  const child = spawn(command, rest, { cwd, env: { ...cleanEnvironment(), TOPUPD_WORKERS: "1", ...env } });
  const output = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output.stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    output.stderr += text;
  });
  const ended = once(child, "close").then(([code]) => code as number | null);
  const timeout = setTimeout(() => child.kill("SIGKILL"), LONGEST_RUN_MS);
  onTestFinished(async () => {
    clearTimeout(timeout);
    if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
    await ended;
  });
  return {
    pid: child.pid as number,
    /** Resolves with the exit code. */
    ended,
    stdout: () => output.stdout,
    stderr: () => output.stderr,
    signal: (signal: NodeJS.Signals) => {
      child.kill(signal);
    },
    /** Resolves once the process has said this on stdout or stderr. */
    untilSaid: (said: RegExp) => untilSaid(child, ended, () => output.stdout + output.stderr, said),
  };
}

/** What a program needs to run, and nothing that is a setting of topupd's or of Node's. */
function cleanEnvironment(): Record<string, string> {
  const needed = ["PATH", "HOME", "SystemRoot", "TEMP", "TMPDIR"];
  return Object.fromEntries(needed.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])));
}

/** Ends at the latest when the process does, which is bounded. */
async function untilSaid(
  child: ChildProcessWithoutNullStreams,
  ended: Promise<number | null>,
  output: () => string,
  said: RegExp,
): Promise<void> {
  if (said.test(output())) return;
  await new Promise<void>((resolve, reject) => {
    const look = () => {
      if (said.test(output())) resolve();
    };
    child.stdout.on("data", look);
    child.stderr.on("data", look);
    ended.then((code) => reject(new Error(`it ended with ${code} before it said ${said}: ${output()}`)), reject);
  });
}

function listeningUrl(stderr: string): string {
  return logLines(stderr).find(({ msg }) => msg === "listening")?.["url"] as string;
}

function demoUrl(stdout: string): string {
  return /^BASE=(.*)\/staging\/api\/third-party\/v1\.0\.1$/m.exec(stdout)?.[1] as string;
}

/** The JSON lines of a log; whatever is none is left out. */
export function logLines(stderr: string): Record<string, unknown>[] {
  return stderr
    .split("\n")
    .filter((line) => line.startsWith("{") && line.endsWith("}"))
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

// biome-ignore lint/suspicious/noExplicitAny: an answer is whatever the test expects of it
export type HttpAnswer = { readonly status: number; readonly headers: Headers; readonly json: any };

/** Calls an operation of a running service, in v1.0.1. */
export async function callOperation(
  url: string,
  operation: string,
  token: string,
  body: object,
  prefix = PREFIX,
): Promise<HttpAnswer> {
  const response = await fetch(`${url}${prefix}/v1.0.1/${operation}`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return { status: response.status, headers: response.headers, json: await response.json() };
}
