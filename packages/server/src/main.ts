import { fork, type ChildProcess as NodeChildProcess } from "node:child_process";
import cluster, { type Worker } from "node:cluster";
import { randomBytes } from "node:crypto";
import { fstatSync, readFileSync, rmSync } from "node:fs";
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
import { CommandFailed } from "./faces/cli/failures.ts";
import { openRegularFile } from "./faces/cli/files.ts";
import { firstRunTools } from "./faces/cli/first-run-tools.ts";
import {
  type ChildProcess,
  makeSocketFolder,
  type ServiceProcesses,
  type SupervisorProcess,
} from "./faces/cli/processes.ts";
import { runCommandLine } from "./faces/cli/program.ts";
import type { Runtime } from "./faces/cli/runtime.ts";
import { askSecretly } from "./faces/cli/terminal.ts";
import { watchProcess } from "./metrics/process-figures.ts";
import { shellWord } from "./office/text.ts";
import type { SettlerData } from "./store/sqlite/settler-server.ts";
import type { ProviderSettings } from "./store/store.ts";
import { accountTools } from "./system/account-tools.ts";
import { createTemporaryFile, folderTools, writeWholeFile } from "./system/files.ts";
import { ENOUGH_BYTES, gatherLines, relayLines, WHOLE_IN_A_PIPE_BYTES } from "./system/log.ts";
import { poolRandom } from "./system/random-pool.ts";
import { targetTools } from "./targets/tools.ts";

/*
 * The composition root. Only this file and settler-main.ts use the process, the clock and randomness, and choose the
 * store. Modules that load slowly and that few commands need are imported where they are used.
 */

/** Log bytes that may wait in memory. */
const LOGS_HELD_BYTES = 4 * 1024 * 1024;
/** Time for the last log lines once all other work is done. */
const LAST_LINES_MS = 1_000;
/** Nice value: about a tenth of a busy processor, and all of an idle one. */
const LOW_PRIORITY = 10;
/** Limit of the default number of workers. Further cores are left to other programs. */
const MOST_WORKERS = 8;
/** Flags that limit the memory of settler and workers: by default, their short-lived garbage would take several times as much. */
const SERVING_FLAGS = ["--max-semi-space-size=4"];
const STOP_SIGNALS = ["SIGTERM", "SIGINT"] as const;

const { version } = JSON.parse(readFileSync(packageFile("package.json"), "utf8")) as { version: string };
/*
 * The log is written without blocking. If the disk is full or the reader of stderr hangs, lines are dropped: the service
 * matters more. The process also ends without waiting for such a reader.
 */
let areLogsWaitedFor = true;
const logs = new sonicBoom.SonicBoom({
  fd: process.stderr.fd,
  sync: false,
  maxLength: LOGS_HELD_BYTES,
  // Pieces are written as they were gathered.
  maxWrite: WHOLE_IN_A_PIPE_BYTES,
  // Called a few times a second while the reader of stderr hangs.
  retryEAGAIN: () => areLogsWaitedFor,
});
logs.on("error", () => {});

/** Whether stderr already reports that stdout cannot be written. */
let isOutputReported = false;

const random = poolRandom(randomBytes);

// Workers accept connections themselves. A connection passed on by the supervisor would hang if its worker died.
cluster.schedulingPolicy = cluster.SCHED_NONE;
const defaultWorkers = Math.min(availableParallelism(), MOST_WORKERS);
/** The supervisor sets these two variables for its children. All other TOPUPD_ variables are settings. */
const { TOPUPD_SETTLER_SOCKET: settlerSocket, TOPUPD_PROCESS: role, ...env } = process.env;
const supervisor = cluster.worker === undefined ? undefined : supervisorOf(cluster.worker);

const runtime: Runtime = {
  version,
  program: programOf(process.argv[1] ?? ""),
  env,
  stdout: (text) => process.stdout.write(text),
  streamOut: async (pieces) => {
    // An error of the pieces is not an error of stdout.
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
      isOutputReported = true;
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
  openStore: async ({ database, reportsDatabase, databaseConnections, workers, ...config }, options) => {
    const { timeZone, currencyExponent, defaultCountry, basePlans, monthsAhead } = config;
    const rules = { basePlans, monthsAhead };
    const common = { timeZone, currencyExponent, defaultCountry, ...rules, clock: Date.now, ...options, random };
    if (database.store === "sqlite") {
      if (reportsDatabase !== undefined)
        throw new CommandFailed("--reports-database is a standby, and SQLite has none: take the setting away");
      const { openSqliteStore } = await import("./store/sqlite/open.ts");
      return openSqliteStore({ ...common, path: database.path, settlerSocket });
    }
    const { openPostgresStore } = await import("./store/postgres/open.ts");
    // The serving processes share the connections.
    const serving = (workers ?? defaultWorkers) + (config.consolePort === undefined ? 0 : 1);
    const sharers = supervisor === undefined ? 1 : serving;
    const connections = Math.max(1, Math.floor(databaseConnections / sharers));
    return openPostgresStore({ ...common, url: database.url, reportsUrl: reportsDatabase, connections });
  },
  readMigrations: async ({ database }) =>
    database.store === "sqlite"
      ? (await import("./store/sqlite/migrate.ts")).readSqliteMigrations(database.path)
      : (await import("./store/postgres/open.ts")).readPostgresMigrations(database.url),
  createMetrics: async ({ database: { store }, metricsPort }) => {
    const { createMetrics } = await import("./metrics/metrics.ts");
    return createMetrics({
      build: { version, node: process.version, store },
      elapsed: () => performance.now() / 1000,
      // Without a metrics port, only the counters are read.
      readProcess: metricsPort === undefined ? () => watchProcess()() : watchProcess(),
    });
  },
  ...{ openFile: openRegularFile, ...folderTools },
  lowerPriority: () => {
    try {
      setPriority(LOW_PRIORITY);
    } catch {
      // If the system does not allow it, the work runs with the usual priority.
    }
  },
  writeFile: (path, pieces, options) =>
    writeWholeFile(path, pieces, { ...options, suffix: randomBytes(6).toString("hex") }),
  createTemporaryFile: () => createTemporaryFile(join(tmpdir(), `topupd-${randomBytes(9).toString("hex")}`)),
  consoleFolder: packageFile("dist/console"),
  counterFolder: packageFile("dist/counter"),
  targetTools: (privateTargets) => targetTools({ clock: Date.now, random }, privateTargets),
  accounts: accountTools({ clock: Date.now, random }),
  askSecretly: isatty(0) ? (question) => askSecretly(question, process.stdin, process.stderr) : undefined,
  firstRun: firstRunTools(process),
  openStdin: () => process.stdin,
  readStdin: () => text(process.stdin),
  defaultWorkers,
  prepareProcesses,
  supervisor,
  openLog: async ({ logLevel }) => {
    const { createLogger } = await import("./system/logger.ts");
    // The supervisor reads one pipe from each child and joins lines that arrive in pieces.
    const isUnshared = supervisor !== undefined || fstatSync(process.stderr.fd).isFile();
    const lines = gatherLines(logs, isUnshared ? ENOUGH_BYTES : WHOLE_IN_A_PIPE_BYTES);
    const logger = createLogger(logLevel, lines);
    return { logger, logLine: logger.isLevelEnabled("info") ? lines.hold : undefined };
  },
  sleep: (ms, signal) => sleep(ms, undefined, { signal }).catch(() => {}),
  untilAskedToStop: ({ hangUp } = { hangUp: false }) =>
    new Promise((resolve) => {
      const signals: readonly NodeJS.Signals[] = hangUp ? [...STOP_SIGNALS, "SIGHUP"] : STOP_SIGNALS;
      // A second signal has its default effect: it ends the process at once.
      const onSignal = (name: string) => {
        for (const signal of signals) process.off(signal, onSignal);
        resolve(name);
      };
      for (const signal of signals) process.on(signal, onSignal);
    }),
};

// EPIPE is no failure: a reader such as `head` has seen enough.
let outputFailure: Error | undefined;
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") outputFailure ??= error;
});
process.stderr.on("error", () => {});

/** The supervisor as a child uses it. The child ignores stop signals, since the supervisor gets them too and stops it. */
function supervisorOf(worker: Worker): SupervisorProcess {
  for (const signal of STOP_SIGNALS) process.on(signal, () => {});
  return {
    role: role === "console" ? "console" : "worker",
    send: (message) => {
      if (worker.isConnected()) worker.send(message, () => {});
    },
    onMessage: (listener) => worker.on("message", listener),
    leave: () => worker.disconnect(),
  };
}

const CONSOLE = { TOPUPD_PROCESS: "console" };
/** Each child has a pipe of its own. A child that shares stderr makes it blocking for all when it starts and ends. */
const STDIO_OF_CHILD = ["ignore", "ignore", "pipe", "ipc"] as const;

function prepareProcesses({ database }: Config, provider: ProviderSettings): ServiceProcesses {
  if (database.store !== "sqlite")
    return { startWorker: starter(), startConsole: starter(CONSOLE, []), startSettler: undefined, clearUp: () => {} };
  const folder = makeSocketFolder({ place: tmpdir(), pid: process.pid, isRunning });
  const socketPath = join(folder, "settler");
  const { zone, ...settings } = provider;
  const data = { path: database.path, socketPath, timeZone: zone.name, ...settings };
  return {
    startWorker: starter({ TOPUPD_SETTLER_SOCKET: socketPath }),
    startConsole: starter({ ...CONSOLE, TOPUPD_SETTLER_SOCKET: socketPath }, []),
    startSettler: () => {
      // A killed settler leaves its socket.
      rmSync(socketPath, { force: true });
      const main = packageFile("dist/settler-main.js");
      const options = { execArgv: SERVING_FLAGS, stdio: [...STDIO_OF_CHILD] };
      return childOf(fork(main, [JSON.stringify(data satisfies SettlerData)], options));
    },
    clearUp: () => rmSync(folder, { recursive: true, force: true }),
  };
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // EPERM: the process runs, but this one may not signal it.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

function starter(extra: NodeJS.ProcessEnv = {}, own = SERVING_FLAGS): ServiceProcesses["startWorker"] {
  return (flags) => {
    const [args, execArgv] = [process.argv.slice(2).concat(flags), process.execArgv.concat(own)];
    cluster.setupPrimary({ stdio: [...STDIO_OF_CHILD], args, execArgv });
    return childOf(cluster.fork(extra).process);
  };
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
    onMessage: (listener) => child.on("message", listener),
    ended,
    kill: () => child.kill("SIGKILL"),
  };
}

/** The command that runs topupd from the current folder. npm installs it as a link named `topupd`. */
function programOf(file: string): string {
  return basename(file) === "topupd" ? "topupd" : `node ${shellWord(relative(process.cwd(), file))}`;
}

/** The user's name, or the uid: a container may run as a user without a name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? "unknown"}`;
  }
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
  if (!isOutputReported) process.stderr.write(`topupd: stdout cannot be written: ${outputFailure.message}\n`);
});
