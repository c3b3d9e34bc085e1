import type { Instant } from "../../domain/wall-time.ts";
import type { Family } from "../../metrics/exposition.ts";
import type { Metrics } from "../../metrics/metrics.ts";
import type { Store } from "../../store/store.ts";
import type { ServiceState } from "../../system/service-state.ts";

/* The processes of a service, and the messages between its supervisor and the others, its children. */

export type Role = "settler" | "worker" | "console";

export interface ChildProcess {
  readonly send: (message: ToChild) => void;
  readonly onMessage: (hear: (message: FromChild) => void) => void;
  /** Resolves with how it ended. */
  readonly ended: Promise<string>;
  readonly kill: () => void;
}

export type ToChild =
  | { readonly kind: "ping" }
  | { readonly kind: "collect"; readonly id: number }
  | { readonly kind: "stop"; readonly drainSeconds: number }
  | { readonly kind: "state"; readonly state: ServiceState };

export type FromChild =
  | { readonly kind: "ready"; readonly url: string }
  | { readonly kind: "pong" }
  /** It cannot begin, and says why. */
  | { readonly kind: "failed"; readonly message: string }
  | { readonly kind: "collected"; readonly id: number; readonly families: readonly Family[] }
  /** A worker failed to record a top-up, or recorded one after a failure (undefined). */
  | { readonly kind: "recording"; readonly failsSince: Instant | undefined }
  /** Why the settler cannot write the log of the database into its file; undefined where it can again. */
  | { readonly kind: "checkpoints"; readonly failure: string | undefined };

/** The supervisor, as its children see it. */
export interface SupervisorProcess {
  /** The role of this process. */
  readonly role: "worker" | "console";
  readonly send: (message: FromChild) => void;
  readonly onMessage: (hear: (message: ToChild) => void) => void;
  /** Ends the channel, which would keep this process from its end. */
  readonly leave: () => void;
}

/** What a child serves from. */
export interface ChildParts {
  readonly store: Store;
  /** As the supervisor last sent it. */
  readonly state: ServiceState;
  /** Undefined if none are served. */
  readonly metrics: Metrics | undefined;
  readonly supervisor: Pick<SupervisorProcess, "send">;
}

/** A child that serves. */
export interface Served {
  readonly url: string;
  /** Finishes what is in hand, within the deadline. The store stays open. */
  readonly stop: (options: { readonly drainSeconds: number }) => Promise<void>;
}

/** Starts the processes of a service. */
export interface ServiceProcesses {
  readonly startWorker: () => ChildProcess;
  /** Starts the process of the console and the staff API. */
  readonly startConsole: () => ChildProcess;
  /** Undefined where each worker settles by itself. */
  readonly startSettler: (() => ChildProcess) | undefined;
  /** To be called once all have ended. */
  readonly clearUp: () => void;
}
