import type { FastifyBaseLogger } from "fastify";
import type { Config } from "../../config.ts";
import type { AccountTools } from "../../domain/passwords.ts";
import type { Metrics } from "../../metrics/metrics.ts";
import type { TargetTools } from "../../office/office.ts";
import type { Ports } from "../../store/ports.ts";
import type { MigrationState, ObserveBatch, ProviderSettings, Store } from "../../store/store.ts";
import type { TellerTools } from "../../workers/deliver-due.ts";
import type { TemporaryFile } from "../staff-api/app.ts";
import type { ServiceProcesses, SupervisorProcess } from "./processes.ts";

/** The process and the machine, as commands use them. main.ts and tests make it. */
export interface Runtime extends Pick<Ports, "clock" | "random"> {
  /** Milliseconds of a clock that is never set. */
  readonly stopwatch: () => number;
  /** Version of topupd. */
  readonly version: string;
  /** The command that runs topupd again, from the current folder. */
  readonly program: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Writes data to stdout. */
  readonly stdout: (text: string) => void;
  /**
   * Writes data to stdout that is too large for memory. Resolves with false if the reader closed the pipe. Rejects with
   * CommandFailed if stdout cannot be written.
   */
  readonly streamOut: (pieces: AsyncIterable<Uint8Array>) => Promise<boolean>;
  /** Writes all other text to stderr. */
  readonly stderr: (text: string) => void;
  /** The user name of the process in the operating system. */
  readonly userName: () => string;
  /** Whether stderr is a terminal. */
  readonly isTerminal: boolean;
  readonly openStore: (config: Config, options?: StoreOptions) => Promise<Store>;
  /** Reads which migrations the database has had. Changes nothing, in any state of the database. */
  readonly readMigrations: (config: Config) => Promise<MigrationState[]>;
  /** The bytes of a regular file. Rejects if it cannot be read. */
  readonly openFile: (path: string) => AsyncIterable<Uint8Array>;
  /** The names in a folder. Rejects if it cannot be read. */
  readonly listFolder: (path: string) => Promise<string[]>;
  readonly removeFile: (path: string) => Promise<void>;
  /** Lowers the priority of this process, so that slow work does not delay the service. */
  readonly lowerPriority: () => void;
  /**
   * Writes a file that only its owner can read. It gets its name when all of it is on the disk. Resolves with its size in
   * bytes, and `verify` has accepted it under another name. If any of that fails, it rejects with that error and there is no
   * new file.
   */
  readonly writeFile: (
    path: string,
    pieces: AsyncIterable<Uint8Array>,
    options: { readonly replace: boolean; readonly verify?: (path: string) => Promise<unknown> },
  ) => Promise<number>;
  /** Makes a file without a name, for uploads of staff and for stdin that is read twice. */
  readonly createTemporaryFile: () => TemporaryFile;
  /** Folder of the built console. */
  readonly consoleFolder: string;
  /** Folder of the built pages of the counter. */
  readonly counterFolder: string;
  /** Makes the metrics. It loads slowly: call it only if metrics are served. */
  readonly createMetrics: (config: Config) => Promise<Metrics>;
  /** Makes the tools for each kind of target, loaded at first use. */
  readonly targetTools: (privateTargets: Config["privateTargets"]) => TargetTools & TellerTools;
  /** Tools for staff accounts, loaded at first use. */
  readonly accounts: AccountTools;
  /** Asks at the terminal without echoing the answer; undefined if stdin is no terminal. */
  readonly askSecretly: ((question: string) => Promise<string>) | undefined;
  readonly firstRun: FirstRunTools;
  readonly openStdin: () => AsyncIterable<Uint8Array>;
  /** Reads all of stdin. */
  readonly readStdin: () => Promise<string>;
  /** Number of workers if the setting is missing. */
  readonly defaultWorkers: number;
  /** Prepares starting the processes of a service. */
  readonly prepareProcesses: (config: Config, provider: ProviderSettings) => ServiceProcesses;
  /** The supervisor that started this process; undefined if a person or program did. */
  readonly supervisor: SupervisorProcess | undefined;
  readonly openLog: (config: Config) => Promise<ServiceLog>;
  /** Resolves early if the signal is aborted. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** Resolves with the signal's name when the process is asked to stop; with `hangUp`, by SIGHUP too. */
  readonly untilAskedToStop: (options?: { readonly hangUp: boolean }) => Promise<string>;
}

/** The terminal and the machine, as the first run uses them. */
export interface FirstRunTools {
  /** Asks at the terminal; undefined if stdin is no terminal. */
  readonly ask: ((question: string) => Promise<string>) | undefined;
  /** Time zone of the machine. */
  readonly timeZone: string;
  /** Whether this process can use systemd. */
  readonly hasSystemd: boolean;
  /** Enables and starts the service. Rejects with CommandFailed. */
  readonly startService: () => Promise<void>;
  /** Does work as the user of the service if root runs it and there is that user: the service cannot write root's files. */
  readonly asServiceUser: <Result>(work: () => Promise<Result>) => Promise<Result>;
}

export interface StoreOptions {
  readonly mustExist?: boolean;
  /** Refuses a database that has or had rows. */
  readonly mustBeNew?: boolean;
  readonly observeBatch?: ObserveBatch | undefined;
  /** Called with the path of the copy that is made before a SQLite database is upgraded. */
  readonly onCopy?: (path: string) => void;
  /** A clock other than the process's own. */
  readonly clock?: Ports["clock"];
}

export interface ServiceLog {
  readonly logger: FastifyBaseLogger;
  /** Writes a complete log line of level `info`; undefined if that level is not logged. */
  readonly logLine: ((line: string) => void) | undefined;
}
