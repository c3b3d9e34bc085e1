import { readFileSync, writeFileSync } from "node:fs";
import { runCommandLine } from "./command-line.ts";

/** The program: what the process is and has goes in from here. */
export async function main(): Promise<void> {
  const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
    version: string;
  };
  // Whoever reads only the beginning, as `head` does, has ended nothing that needs a word.
  process.stdout.on("error", () => {});
  process.exitCode = await runCommandLine(process.argv.slice(2), {
    version,
    env: process.env,
    stdout: (text) => process.stdout.write(text),
    stderr: (text) => process.stderr.write(text),
    readFile: (path) => readFileSync(path, "utf8"),
    writeFile: (path, text) => writeFileSync(path, text),
  });
}
