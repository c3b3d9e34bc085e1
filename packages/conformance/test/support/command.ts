import { type Runtime, runCommandLine } from "../../src/command-line.ts";

export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly files: ReadonlyMap<string, string>;
}

interface World {
  readonly env?: Runtime["env"];
  readonly files?: Readonly<Record<string, string>>;
  /** Files that can be opened and then not be written. */
  readonly full?: readonly string[];
  /** What happens to the results, in place of keeping them. */
  readonly onStdout?: (text: string) => void;
}

/** Runs the command without a process of its own, on files that are in memory. */
export async function run(
  words: readonly string[],
  { env = {}, files = {}, full = [], onStdout }: World = {},
): Promise<Outcome> {
  const texts = { stdout: "", stderr: "" };
  const written = new Map<string, string>();
  const code = await runCommandLine(words, {
    version: "0.0.0",
    env,
    wait: async () => {},
    stdout: (text) => {
      onStdout?.(text);
      texts.stdout += text;
    },
    stderr: (text) => {
      texts.stderr += text;
    },
    readFile: (path) => {
      const text = files[path];
      if (text === undefined) throw Object.assign(new Error(path), { code: "ENOENT" });
      return text;
    },
    openFile: (path) => {
      if (path.startsWith("/nowhere/")) throw Object.assign(new Error(path), { code: "ENOENT" });
      written.set(path, "");
      return (text) => {
        if (full.includes(path)) throw Object.assign(new Error(path), { code: "ENOSPC" });
        written.set(path, text);
      };
    },
  });
  return { code, ...texts, files: written };
}
