import type { FastifyBaseLogger } from "fastify";
import type { Config } from "../../config.ts";
import type { Metrics } from "../../metrics/metrics.ts";
import type { AccountTools } from "../../office/staff/passwords.ts";
import type { TargetTools } from "../../office/targets/tools.ts";
import type { Ports } from "../../store/ports.ts";
import type { MigrationState, ObserveBatch, ProviderSettings, Store } from "../../store/store.ts";
import type { TemporaryFile } from "../staff-api/app.ts";
import type { ServiceProcesses, SupervisorProcess } from "./processes.ts";

/** What the commands need of the process and the machine; made in main.ts, and by tests. */
export interface Runtime extends Pick<Ports, "clock" | "random"> {
  /** Milliseconds that pass evenly, whatever is done to the clock. */
  readonly stopwatch: () => number;
  /** Of topupd. */
  readonly version: string;
  /** What to type to call it again, from the folder that it was started in. */
  readonly program: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Data, and nothing else. */
  readonly stdout: (text: string) => void;
  /**
   * More data than is held in memory. Resolves with whether all of it was written: a reader who has seen enough ends
   * it before. Rejects with CommandFailed where it cannot be written.
   */
  readonly streamOut: (pieces: AsyncIterable<Uint8Array>) => Promise<boolean>;
  /** Everything that is no data. */
  readonly stderr: (text: string) => void;
  /** Of whoever runs the process, as the operating system knows them. */
  readonly userName: () => string;
  /** Whether somebody watches stderr. */
  readonly isTerminal: boolean;
  readonly openStore: (config: Config, options?: StoreOptions) => Promise<Store>;
  /** Resolves without changing anything, whatever state the database is in. */
  readonly readMigrations: (config: Config) => Promise<MigrationState[]>;
  /** A file's bytes from its beginning; rejects where it cannot be read. There is none for stdin. */
  readonly openFile: (path: string) => AsyncIterable<Uint8Array>;
  /** Has the machine serve others first from now on: for work that has time, beside a service that has none. */
  readonly lowerPriority: () => void;
  /**
   * Writes a file that has its name only once all of it is on the disk, and that only its owner can read. Resolves
   * with its bytes; rejects with what the pieces, or the system, reject with, and there is no new file then.
   */
  readonly writeFile: (
    path: string,
    pieces: AsyncIterable<Uint8Array>,
    options: { readonly overwrite: boolean },
  ) => Promise<number>;
  /** Makes a file that only this process knows: for what staff send, and for stdin, which may be read twice. */
  readonly createTemporaryFile: () => TemporaryFile;
  /** Where the files of the console are, once it is built. */
  readonly consoleFolder: string;
  /** What counts; to be asked for only where metrics are served, since it takes a while to load. */
  readonly createMetrics: (config: Config) => Promise<Metrics>;
  /** What is loaded for each kind of target where it is first asked for. */
  readonly targets: TargetTools;
  /** What is loaded for accounts of staff where it is first asked for. */
  readonly accounts: AccountTools;
  /** Asks on the terminal, and does not show what is typed; undefined where stdin is none. */
  readonly askSecretly: ((question: string) => Promise<string>) | undefined;
  readonly openStdin: () => AsyncIterable<Uint8Array>;
  /** All of stdin. */
  readonly readStdin: () => Promise<string>;
  /** Of a service, where nobody says how many. */
  readonly defaultWorkers: number;
  /** For a service's processes. */
  readonly prepareProcesses: (config: Config, provider: ProviderSettings) => ServiceProcesses;
  /** Who has begun this process to be one of several; undefined where nobody has. */
  readonly supervisor: SupervisorProcess | undefined;
  readonly openLog: (config: Config) => ServiceLog;
  /** Resolves early where the signal says so. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** Resolves once the process is asked to stop, with the signal's name; where `hangUp` says so, by SIGHUP as well. */
  readonly untilAskedToStop: (options?: { readonly hangUp: boolean }) => Promise<string>;
}

export interface StoreOptions {
  readonly mustExist?: boolean;
  /** Refuses a database to which anything was ever added. */
  readonly mustBeNew?: boolean;
  readonly observeBatch?: ObserveBatch | undefined;
  /** Of another time than the process's. */
  readonly clock?: Ports["clock"];
}

export interface ServiceLog {
  readonly logger: FastifyBaseLogger;
  /** Takes a line that is complete, of the level `info`; undefined where such lines are not logged. */
  readonly logLine: ((line: string) => void) | undefined;
}

/** A command that could not be done: its message is all that the operator sees (exit code 1). */
export class CommandFailed extends Error {
  override readonly name = "CommandFailed";
}

/** A command that did its work, and found, or left, something that is not as it should be (exit code 3). */
export class FoundWrong extends Error {
  override readonly name = "FoundWrong";
}

/** A command that was called wrongly (exit code 2). */
export class WrongUsage extends Error {
  override readonly name = "WrongUsage";
}

/** Whether the system refused something of a file, and not topupd. */
export function isFileError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && "syscall" in error;
}

/** @param cannot what the system may refuse of the file, such as `be read`. */
export async function withFile<Result>(file: string, cannot: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!isFileError(error)) throw error;
    if (error.code === "EEXIST") throw new CommandFailed(`${file} is there already: name another file`);
    throw new CommandFailed(`${file} cannot ${cannot}: ${error.message}`);
  }
}
