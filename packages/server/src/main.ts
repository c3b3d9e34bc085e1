import { fork, type ChildProcess as NodeChildProcess } from "node:child_process";
import cluster, { type Worker } from "node:cluster";
import { randomBytes } from "node:crypto";
import { createReadStream, fstatSync, readFileSync, rmSync, statSync } from "node:fs";
import { availableParallelism, setPriority, tmpdir, userInfo } from "node:os";
import { basename, join, relative } from "node:path";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { isatty } from "node:tty";
import sonicBoom from "sonic-boom";
import { packageFile } from "./built.ts";
import type { Config } from "./config.ts";
import { askSecretly } from "./faces/cli/ask-secretly.ts";
import { STDIO } from "./faces/cli/options.ts";
import type { ChildProcess, ServiceProcesses, SupervisorProcess } from "./faces/cli/processes.ts";
import { runCommandLine } from "./faces/cli/program.ts";
import { CommandFailed, type Runtime } from "./faces/cli/runtime.ts";
import { makeSocketFolder } from "./faces/cli/socket-folder.ts";
import { watchProcess } from "./metrics/process-figures.ts";
import { shellWord } from "./office/text.ts";
import type { SettlerData } from "./store/sqlite/settling/settler-server.ts";
import type { ProviderSettings } from "./store/store.ts";
import { accountTools } from "./system/account-tools.ts";
import { createTemporaryFile, writeWholeFile } from "./system/files.ts";
import { createLogger, ENOUGH_BYTES, gatherLines, relayLines, WHOLE_IN_A_PIPE_BYTES } from "./system/log.ts";
import { poolRandom } from "./system/random-pool.ts";
import { targetTools } from "./targets/tools.ts";

/*
 * The composition root: the only place, but for settler-main.ts, that knows the process, the clock and randomness, and
 * which store stands behind the port. What takes long to load, and not every command needs, is loaded where it is used.
 */

/** As much of the log as waits in memory to be written. */
const LOGS_HELD_BYTES = 4 * 1024 * 1024;
/** How long what is left of the log may take once everything else is done. */
const LAST_LINES_MS = 1_000;
/** About a tenth of a processor for which a service competes, and all of one that is free. */
const LOW_PRIORITY = 10;
/** Where nobody says how many: what cores there are beyond these are left to others. */
const MOST_WORKERS = 8;
/** Of the settler's memory: a batch is forgotten soon, and Node would let such garbage take five times as much. */
const SETTLER_FLAGS = ["--max-semi-space-size=4"];
const STOP_SIGNALS = ["SIGTERM", "SIGINT"] as const;

const { version } = JSON.parse(readFileSync(packageFile("package.json"), "utf8")) as {
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
  // Each piece goes out as it was gathered.
  maxWrite: WHOLE_IN_A_PIPE_BYTES,
  // Asked a few times a second while the reader takes nothing.
  retryEAGAIN: () => areLogsWaitedFor,
});
logs.on("error", () => {});

/** Whether somebody has been told already that stdout cannot be written. */
let isOutputTold = false;

const random = poolRandom(randomBytes);

// Workers take connections by themselves. What the supervisor has on its way to a worker that dies would hang for ever.
cluster.schedulingPolicy = cluster.SCHED_NONE;
const defaultWorkers = Math.min(availableParallelism(), MOST_WORKERS);
/** Of the settler, and what this process is for; in processes that the supervisor begins. All others of TOPUPD_ are settings. */
const { TOPUPD_SETTLER_SOCKET: settlerSocket, TOPUPD_PROCESS: role, ...env } = process.env;
const supervisor = cluster.worker === undefined ? undefined : supervisorOf(cluster.worker);

const runtime: Runtime = {
  version,
  program: programOf(process.argv[1] ?? ""),
  env,
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
  stopwatch: () => performance.now(),
  random,
  openStore: async ({ database, databaseConnections, workers, ...config }, options) => {
    const { timeZone, currencyExponent, defaultCountry, basePlans } = config;
    const common = { timeZone, currencyExponent, defaultCountry, basePlans, clock: Date.now, ...options, random };
    if (database.store === "sqlite") {
      const { openSqliteStore } = await import("./store/sqlite/open.ts");
      return openSqliteStore({ ...common, path: database.path, settlerSocket });
    }
    const { openPostgresStore } = await import("./store/postgres/open.ts");
    // All processes together have as many as one.
    const serving = (workers ?? defaultWorkers) + (config.consolePort === undefined ? 0 : 1);
    const sharers = supervisor === undefined ? 1 : serving;
    const connections = Math.max(1, Math.floor(databaseConnections / sharers));
    return openPostgresStore({ ...common, url: database.url, connections });
  },
  readMigrations: async ({ database }) =>
    database.store === "sqlite"
      ? (await import("./store/sqlite/schema.ts")).readSqliteMigrations(database.path)
      : (await import("./store/postgres/schema.ts")).readPostgresMigrations(database.url),
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
  createTemporaryFile: () => createTemporaryFile(join(tmpdir(), `topupd-${randomBytes(9).toString("hex")}`)),
  consoleFolder: packageFile("dist/console"),
  targets: targetTools({ clock: Date.now, random }),
  accounts: accountTools({ clock: Date.now, random }),
  askSecretly: isatty(0) ? (question) => askSecretly(question, process.stdin, process.stderr) : undefined,
  openStdin: () => process.stdin,
  readStdin: () => text(process.stdin),
  defaultWorkers,
  prepareProcesses,
  supervisor,
  openLog: ({ logLevel }) => {
    // A supervisor reads the pipe of each process by itself, and so puts lines together that came in pieces.
    const isUnshared = supervisor !== undefined || fstatSync(process.stderr.fd).isFile();
    const lines = gatherLines(logs, isUnshared ? ENOUGH_BYTES : WHOLE_IN_A_PIPE_BYTES);
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

// A reader such as `head` that has seen enough is no fault; any other failure to write data is one.
let outputFailure: Error | undefined;
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") outputFailure ??= error;
});
process.stderr.on("error", () => {});

/** The supervisor of a worker, which leaves it to the supervisor to heed the signals that both get. */
function supervisorOf(worker: Worker): SupervisorProcess {
  for (const signal of STOP_SIGNALS) process.on(signal, () => {});
  return {
    role: role === "console" ? "console" : "worker",
    send: (message) => {
      if (worker.isConnected()) worker.send(message, () => {});
    },
    onMessage: (hear) => worker.on("message", hear),
    leave: () => worker.disconnect(),
  };
}

const CONSOLE = { TOPUPD_PROCESS: "console" };
/** A child that shared stderr would make it block for all when it starts and when it ends: each has a pipe of its own. */
const STDIO_OF_CHILD = ["ignore", "ignore", "pipe", "ipc"] as const;

function prepareProcesses({ database }: Config, provider: ProviderSettings): ServiceProcesses {
  cluster.setupPrimary({ stdio: [...STDIO_OF_CHILD] });
  if (database.store !== "sqlite")
    return { startWorker, startConsole: () => startWorker(CONSOLE), startSettler: undefined, clearUp: () => {} };
  const folder = makeSocketFolder({ place: tmpdir(), pid: process.pid, isRunning });
  const socketPath = join(folder, "settler");
  const { zone, currencyExponent, defaultCountry, basePlans } = provider;
  const data = { path: database.path, socketPath, timeZone: zone.name, currencyExponent, defaultCountry, basePlans };
  return {
    startWorker: () => startWorker({ TOPUPD_SETTLER_SOCKET: socketPath }),
    startConsole: () => startWorker({ ...CONSOLE, TOPUPD_SETTLER_SOCKET: socketPath }),
    startSettler: () => {
      // The socket of one that was killed is still there.
      rmSync(socketPath, { force: true });
      const main = packageFile("dist/settler-main.js");
      return childOf(
        fork(main, [JSON.stringify(data satisfies SettlerData)], {
          execArgv: SETTLER_FLAGS,
          stdio: [...STDIO_OF_CHILD],
        }),
      );
    },
    clearUp: () => rmSync(folder, { recursive: true, force: true }),
  };
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // It runs if only the right to signal it is missing.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

function startWorker(extra: Readonly<Record<string, string>> = {}): ChildProcess {
  return childOf(cluster.fork(extra).process);
}

function childOf(child: NodeChildProcess): ChildProcess {
  if (child.stderr !== null) relayLines(child.stderr, (lines) => logs.write(lines));
  const ended = new Promise<string>((resolve) => {
    child.once("exit", (code, signal) => resolve(signal === null ? `exit code ${code}` : signal));
    child.once("error", (error) => resolve(error.message));
  });
  return {
    send: (message) => {
      if (child.connected) child.send(message, () => {});
    },
    onMessage: (hear) => child.on("message", hear),
    ended,
    kill: () => child.kill("SIGKILL"),
  };
}

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
