import { randomBytes } from "node:crypto";
import { createReadStream, readFileSync, statSync } from "node:fs";
import { setPriority, userInfo } from "node:os";
import { basename, relative } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import sonicBoom from "sonic-boom";
import { STDIO } from "./cli/options.ts";
import { shellWord } from "./cli/output/text.ts";
import { runCommandLine } from "./cli/program.ts";
import { CommandFailed, type Runtime } from "./cli/runtime.ts";
import { createLogger } from "./log.ts";
import { gatherLines } from "./log-lines.ts";
import type { ProcessFigures } from "./metrics/process-figures.ts";
import { countOpenFiles } from "./open-files.ts";
import { poolRandom } from "./random-pool.ts";
import type { StartSettlingThread } from "./store/sqlite/settling/settling-thread.ts";
import { writeWholeFile } from "./whole-file.ts";

/*
 * The composition root: the only place, but for settling-main.ts, that knows the process, the clock and randomness, and
 * which store stands behind the port. What takes long to load, and not every command needs, is loaded where it is used.
 */

/** As much of the log as waits in memory to be written. */
const LOGS_HELD_BYTES = 4 * 1024 * 1024;
/** How long what is left of the log may take once everything else is done. */
const LAST_LINES_MS = 1_000;
/** About a tenth of a processor for which a service competes, and all of one that is free. */
const LOW_PRIORITY = 10;
/** For what is new in the thread's memory: a batch is forgotten soon, and Node would let such garbage take five times as much. */
const THREAD_YOUNG_MIB = 8;
/** How often the event loop is looked at for metrics. */
const DELAY_RESOLUTION_MS = 10;
const STOP_SIGNALS = ["SIGTERM", "SIGINT"] as const;

const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
  version: string;
};
/*
 * Written without blocking. What a full disk or a reader that stands still does not take is dropped: a log
 * that is lost is better than a service that is. Nor does a reader that stands still keep the process from its end.
 */
let areLogsWaitedFor = true;
const logs = new sonicBoom.SonicBoom({
  fd: process.stderr.fd,
  sync: false,
  maxLength: LOGS_HELD_BYTES,
  // Asked a few times a second while the reader takes nothing.
  retryEAGAIN: () => areLogsWaitedFor,
});
logs.on("error", () => {});

/** Whether somebody has been told already that stdout cannot be written. */
let isOutputTold = false;

const random = poolRandom(randomBytes);

const runtime: Runtime = {
  version,
  program: programOf(process.argv[1] ?? ""),
  env: process.env,
  stdout: (text) => process.stdout.write(text),
  streamOut: async (pieces) => {
    // What the pieces themselves fail with is none of stdout's.
    let fault: { readonly error: unknown } | undefined;
    const watched = async function* () {
      try {
        yield* pieces;
      } catch (error) {
        fault = { error };
      }
    };
    try {
      await pipeline(Readable.from(watched()), process.stdout, { end: false });
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code === "EPIPE") return false;
      isOutputTold = true;
      throw new CommandFailed(`stdout cannot be written: ${message}`);
    }
    if (fault !== undefined) throw fault.error;
    return true;
  },
  stderr: (text) => process.stderr.write(text),
  userName,
  isTerminal: process.stderr.isTTY,
  clock: Date.now,
  random,
  openStore: async ({ database, databaseConnections, ...config }, options) => {
    const { timeZone, currencyExponent, defaultCountry, basePlans } = config;
    const common = { timeZone, currencyExponent, defaultCountry, basePlans, ...options, clock: Date.now, random };
    if (database.store === "sqlite") {
      const { openSqliteStore } = await import("./store/sqlite/open.ts");
      const settlingThread = options?.serves === true ? await settlingThreads() : undefined;
      return openSqliteStore({ ...common, path: database.path, settlingThread });
    }
    const { openPostgresStore } = await import("./store/postgres/open.ts");
    return openPostgresStore({ ...common, url: database.url, connections: databaseConnections });
  },
  readMigrations: async ({ database }) =>
    database.store === "sqlite"
      ? (await import("./store/sqlite/migrate.ts")).readSqliteMigrations(database.path)
      : (await import("./store/postgres/open.ts")).readPostgresMigrations(database.url),
  createMetrics: async ({ database: { store } }) => {
    const { createMetrics } = await import("./metrics/metrics.ts");
    return createMetrics({
      build: { version, node: process.version, store },
      elapsed: () => performance.now() / 1000,
      readProcess: watchProcess(),
    });
  },
  openFile: openRegularFile,
  lowerPriority: () => {
    try {
      setPriority(LOW_PRIORITY);
    } catch {
      // Where the system does not allow it, nothing is lost but politeness.
    }
  },
  writeFile: (path, pieces, options) =>
    writeWholeFile(path, pieces, { ...options, suffix: randomBytes(6).toString("hex") }),
  openLog: ({ logLevel }) => {
    const lines = gatherLines(logs);
    const logger = createLogger(logLevel, lines);
    return { logger, logLine: logger.isLevelEnabled("info") ? lines.hold : undefined };
  },
  sleep: (ms, signal) => sleep(ms, undefined, { signal }).catch(() => {}),
  untilAskedToStop: ({ hangUp } = { hangUp: false }) =>
    new Promise((resolve) => {
      const signals: readonly NodeJS.Signals[] = hangUp ? [...STOP_SIGNALS, "SIGHUP"] : STOP_SIGNALS;
      // Whoever asks a second time means it, and gets the default, which is the end.
      const heard = (name: string) => {
        for (const signal of signals) process.off(signal, heard);
        resolve(name);
      };
      for (const signal of signals) process.on(signal, heard);
    }),
};

/** For a service alone: whatever else opens a store settles little, or nothing. */
async function settlingThreads(): Promise<StartSettlingThread> {
  const { Worker } = await import("node:worker_threads");
  const resourceLimits = { maxYoungGenerationSizeMb: THREAD_YOUNG_MIB };
  return (workerData) => new Worker(new URL("settling-main.js", import.meta.url), { workerData, resourceLimits });
}

// A reader such as `head` that has seen enough is no fault; any other failure to write data is one.
let outputFailure: Error | undefined;
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") outputFailure ??= error;
});
process.stderr.on("error", () => {});

/** npm gives an installed program a link without an ending. */
function programOf(file: string): string {
  return basename(file) === "topupd" ? "topupd" : `node ${shellWord(relative(process.cwd(), file))}`;
}

/** A container may run as a user that the system has no name for. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? "unknown"}`;
  }
}

/** A pipe is refused: an import reads a file twice, and a pipe is empty the second time. So is stdin. */
function openRegularFile(path: string): AsyncIterable<Uint8Array> {
  if (path === STDIO) throw Object.assign(new Error("stdin is not read, name a file"), { syscall: "open", path });
  if (statSync(path).isFile()) return createReadStream(path);
  throw Object.assign(new Error("it is no regular file"), { syscall: "open", path });
}

/** @returns what reads the figures. The timer that is behind the delay does not keep the process going. */
function watchProcess(): () => ProcessFigures {
  const delay = monitorEventLoopDelay({ resolution: DELAY_RESOLUTION_MS });
  delay.enable();
  // What is recorded is when the timer came, and it is meant to come after its resolution.
  const late = (ns: number) => Math.max(0, ns / 1e9 - DELAY_RESOLUTION_MS / 1000);
  return () => {
    const { user, system } = process.cpuUsage();
    const { rss, heapUsed } = process.memoryUsage();
    const [p50Seconds, p99Seconds] = [late(delay.percentile(50)), late(delay.percentile(99))];
    const maxSeconds = late(delay.max);
    delay.reset();
    return {
      startedAtSeconds: performance.timeOrigin / 1000,
      cpuSeconds: (user + system) / 1e6,
      residentBytes: rss,
      heapUsedBytes: heapUsed,
      openFiles: countOpenFiles(),
      delay: { p50Seconds, p99Seconds, maxSeconds },
    };
  };
}

try {
  process.exitCode = await runCommandLine(process.argv.slice(2), runtime);
} catch (error) {
  process.stderr.write(`topupd: a defect in topupd: ${error instanceof Error ? error.stack : String(error)}\n`);
  process.exitCode = 1;
} finally {
  setTimeout(() => {
    areLogsWaitedFor = false;
  }, LAST_LINES_MS).unref();
}
process.on("exit", () => {
  if (outputFailure === undefined) return;
  process.exitCode = 1;
  if (!isOutputTold) process.stderr.write(`topupd: stdout cannot be written: ${outputFailure.message}\n`);
});
