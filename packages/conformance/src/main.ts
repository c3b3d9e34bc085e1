import { closeSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { EXIT, runCommandLine } from "./command-line.ts";
import { describeBreakdown } from "./usage.ts";

/** The program: what the process is and has goes in from here. */
export async function main(): Promise<void> {
  const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
    version: string;
  };
  let isLost = false;
  // Whoever reads only the beginning, as `head` does, has ended nothing that needs a word.
  process.stdout.on("error", ({ code }: NodeJS.ErrnoException) => {
    isLost ||= code !== "EPIPE";
  });
  // Nobody listens to the progress any more; what has been bought must still be reported.
  process.stderr.on("error", () => {});
  process.once("uncaughtException", (error) => {
    process.stderr.write(describeBreakdown(error));
    process.exit(EXIT.broken);
  });
  const code = await runCommandLine(process.argv.slice(2), {
    version,
    env: process.env,
    stdout: (text) => process.stdout.write(text),
    stderr: (text) => process.stderr.write(text),
    readFile: (path) => readFileSync(path, "utf8"),
    openFile,
  });
  // Whether the results arrived is known only once everything before has been written.
  await new Promise<void>((resolve) => process.stdout.write("", () => resolve()));
  if (isLost) process.stderr.write("conformance: stdout cannot be written; give another place\n");
  process.exitCode = isLost ? EXIT.wrongUsage : code;
}

function openFile(path: string): (text: string) => void {
  const file = openSync(path, "w");
  return (text) => {
    writeFileSync(file, text);
    closeSync(file);
  };
}
