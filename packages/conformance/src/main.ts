import { closeSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { describeBreakdown, EXIT, runCommandLine } from "./command-line.ts";

/** The program: connects the command line to the process. */
export async function main(): Promise<void> {
  const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
    version: string;
  };
  let isLost = false;
  // A reader that closes the pipe early, such as `head`, is no error.
  process.stdout.on("error", ({ code }: NodeJS.ErrnoException) => {
    isLost ||= code !== "EPIPE";
  });
  // The reader of the progress is gone; the report must still be written.
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
  // A failed write is known only after everything before it is written.
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
