import { randomBytes } from "node:crypto";
import { createReadStream, readFileSync, statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { destination } from "pino";
import { runCommandLine } from "./cli/program.ts";
import type { Runtime } from "./cli/runtime.ts";
import { createLogger } from "./log.ts";
import { openSqliteStore } from "./store/sqlite/sqlite-store.ts";

/*
 * The composition root: the only place that knows the process, the clock and randomness, and which
 * store stands behind the port.
 */

const STOP_SIGNALS = ["SIGTERM", "SIGINT"] as const;

const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
  version: string;
};
const logs = destination({ fd: process.stderr.fd, sync: false });

const runtime: Runtime = {
  env: process.env,
  stdout: (text) => process.stdout.write(text),
  stderr: (text) => process.stderr.write(text),
  isTerminal: process.stderr.isTTY,
  clock: Date.now,
  random: randomBytes,
  openStore: ({ database, timeZone, currencyExponent }, options) =>
    openSqliteStore({ path: database, timeZone, currencyExponent, ...options, clock: Date.now, random: randomBytes }),
  openFile: readFile,
  createLogger: ({ logLevel }) => createLogger(logLevel, logs),
  sleep: (ms) => sleep(ms, undefined, { ref: false }),
  untilAskedToStop: () =>
    new Promise((resolve) => {
      // Once each: whoever asks a second time means it, and gets the default, which is the end.
      for (const signal of STOP_SIGNALS) process.once(signal, resolve);
    }),
};

// A reader such as `head` that has seen enough is no fault; any other failure to write data is one.
let outputFailed = false;
process.stdout.on("error", ({ code }: NodeJS.ErrnoException) => {
  outputFailed ||= code !== "EPIPE";
});
process.stderr.on("error", () => {});

/** A pipe is refused: an import reads a file twice, and a pipe is empty the second time. */
function readFile(path: string): AsyncIterable<Uint8Array> {
  if (statSync(path).isFile()) return createReadStream(path);
  throw Object.assign(new Error("it is no regular file"), { syscall: "open", path });
}

try {
  process.exitCode = await runCommandLine(process.argv.slice(2), version, runtime);
} catch (error) {
  process.stderr.write(`topupd: a defect in topupd: ${error instanceof Error ? error.stack : String(error)}\n`);
  process.exitCode = 1;
}
process.on("exit", () => {
  if (outputFailed) process.exitCode = 1;
});
