import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { CountedLookUp } from "../../domain/partner-limits.ts";
import type { Instant } from "../../domain/wall-time.ts";
import type { Family } from "../../metrics/exposition.ts";
import type { Metrics } from "../../metrics/metrics.ts";
import type { Store } from "../../store/store.ts";
import type { ServiceFigures, ServiceState } from "../../system/service-state.ts";
import { CommandFailed } from "./failures.ts";

/* The processes of a service, and the messages between the supervisor and its children. */

export type Role = "settler" | "worker" | "console";

export interface ChildProcess {
  readonly send: (message: ToChild) => void;
  readonly onMessage: (listener: (message: FromChild) => void) => void;
  /** Resolves with the cause of its end. */
  readonly ended: Promise<string>;
  readonly kill: () => void;
}

export type ToChild =
  | { readonly kind: "ping" }
  /** Milliseconds that a look-up must wait; 0 if it may be answered. */
  | { readonly kind: "looked_up"; readonly id: number; readonly wait: number }
  | { readonly kind: "collect"; readonly id: number; readonly what: Collected }
  | { readonly kind: "stop"; readonly drainSeconds: number }
  | { readonly kind: "state"; readonly state: ServiceState }
  /** Sent to the console only. */
  | { readonly kind: "figures"; readonly figures: ServiceFigures };

/** `all`: the metrics. `calls`: only the counters of calls and top-ups, for the console. */
export type Collected = "all" | "calls";

export type FromChild =
  | ({ readonly kind: "ready" } & Urls)
  | { readonly kind: "pong" }
  | { readonly kind: "look_up"; readonly id: number; readonly lookUp: CountedLookUp }
  /** The child cannot start. */
  | { readonly kind: "failed"; readonly message: string }
  | { readonly kind: "collected"; readonly id: number; readonly families: readonly Family[] }
  /** A worker failed to record a top-up, or recorded one after a failure (undefined). */
  | { readonly kind: "recording"; readonly failsSince: Instant | undefined }
  /** Why the write-ahead log cannot be checkpointed; undefined once it can. */
  | { readonly kind: "checkpoints"; readonly failure: string | undefined };

/** The supervisor, as its children use it. */
export interface SupervisorProcess {
  /** The role of this process. */
  readonly role: "worker" | "console";
  readonly send: (message: FromChild) => void;
  readonly onMessage: (listener: (message: ToChild) => void) => void;
  /** Closes the channel. An open channel keeps this process running. */
  readonly leave: () => void;
}

/** Tools of a child that serves. */
export interface ChildParts {
  readonly store: Store;
  /** The state that the supervisor sent last. */
  readonly state: ServiceState;
  /** Undefined if metrics are not served. */
  readonly metrics: Metrics | undefined;
  readonly supervisor: Pick<SupervisorProcess, "send" | "onMessage">;
}

/** URLs of a child. */
export interface Urls {
  readonly url: string;
  /** The counter, in the console's process. */
  readonly counterUrl?: string | undefined;
}

/** The running part of a child. */
export interface Served extends Urls {
  /** Finishes current requests within the deadline. The store stays open. */
  readonly stop: (options: { readonly drainSeconds: number }) => Promise<void>;
}

/** Starts the processes of a service. `flags` are added to those of the service. */
export interface ServiceProcesses {
  readonly startWorker: (flags: readonly string[]) => ChildProcess;
  /** Starts the process of the console and the staff API. */
  readonly startConsole: (flags: readonly string[]) => ChildProcess;
  /** Undefined if there is no settler (PostgreSQL). */
  readonly startSettler: (() => ChildProcess) | undefined;
  /** Removes temporary files. Call it when all processes have ended. */
  readonly clearUp: () => void;
}

/** Bytes of a path. The system allows about a hundred for a whole socket path. */
const LONGEST_PLACE = 70;
const NAME = /^topupd-(\d+)-\w{6}$/;

export interface SocketFolderOptions {
  /** Folder for temporary files. */
  readonly place: string;
  /** Number of this process. */
  readonly pid: number;
  readonly isRunning: (pid: number) => boolean;
}

/**
 * Makes the folder for the settler's socket, and removes the folders of killed supervisors. If another process now has a
 * killed supervisor's number, the folder stays until that process ends.
 * @throws CommandFailed if the folder cannot be made, or if its path is too long for a socket.
 */
export function makeSocketFolder({ place, pid, isRunning }: SocketFolderOptions): string {
  if (Buffer.byteLength(place) > LONGEST_PLACE)
    throw new CommandFailed(`TMPDIR is too long a path: ${place}. Use a shorter one`);
  try {
    for (const name of readdirSync(place)) {
      const owner = Number(NAME.exec(name)?.[1] ?? Number.NaN);
      // In a container, a killed supervisor often had the same number as this process.
      if (owner === pid || (owner > 0 && !isRunning(owner))) removeFolder(join(place, name));
    }
    return mkdtempSync(join(place, `topupd-${pid}-`));
  } catch (error) {
    throw new CommandFailed(
      `cannot make a folder in ${place}: ${(error as Error).message}. Name another one in TMPDIR`,
    );
  }
}

function removeFolder(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch {
    // The folder belongs to another user.
  }
}
