import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { guard } from "./clean-up.ts";

export interface ProgramOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
}

/**
 * Runs a program to its end. Its stderr is shown only if it fails.
 * @returns its stdout.
 * @throws Error unless it succeeds.
 */
export function runProgram(command: string, words: readonly string[], options: ProgramOptions = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = guard(spawn(command, words, { ...options, stdio: ["ignore", "pipe", "pipe"] }));
    const [stdout, stderr]: [Buffer[], Buffer[]] = [[], []];
    child.stdout.on("data", (chunk: Buffer) => stdout.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => stderr.push(chunk));
    child.on("error", (error) => reject(new Error(`${command} cannot be run: is it installed?`, { cause: error })));
    child.on("close", (code, signal) => {
      const [said, complaint] = [stdout, stderr].map((chunks) => Buffer.concat(chunks).toString("utf8")) as [
        string,
        string,
      ];
      if (code === 0) resolve(said);
      else reject(new Error(`${command} ended with ${code ?? signal}: ${said}${complaint}`));
    });
  });
}

/** The path of a program in one of these folders, or on the PATH. */
export function findProgram(name: string, folders: readonly string[] = []): string | undefined {
  const onPath = (process.env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
  return [...onPath, ...folders].map((folder) => join(folder, name)).find((path) => existsSync(path));
}
