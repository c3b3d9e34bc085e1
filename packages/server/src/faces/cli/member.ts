import type { Instant } from "../../domain/wall-time.ts";
import { countersOf, type Family, mergeFamilies } from "../../metrics/exposition.ts";
import type { ChildProcess, FromChild, Role, ToChild } from "./processes.ts";
import type { Runtime } from "./runtime.ts";

/* A process of the service, as its supervisor knows it: started, pinged, started again if it ends or hangs, and stopped. */

/** One that has run for so long is begun again at once. */
const LONG_RUN_MS = 10_000;
const SHORTEST_PAUSE_MS = 100;
/** Also for the settler: it is to be back within two seconds. */
const LONGEST_PAUSE_MS = 1_000;
/** How much longer than it was told to a process may take to end. */
const ENDING_MS = 3_000;
/** How long a process may take to tell its metrics. */
const COLLECTING_MS = 2_500;
/** Pings without an answer after which a process counts as away, and after which it is killed. */
const SILENT_AFTER = 2;
const KILLED_AFTER = 10;

export interface MemberHooks {
  readonly onReady: (url: string) => void;
  /** Where the first of it could not begin. */
  readonly onFailed: (message: string) => void;
  readonly onRecording: (failsSince: Instant | undefined) => void;
  readonly onCheckpoints: (failure: string | undefined) => void;
  /** It has not answered two pings. */
  readonly onSilent: () => void;
  /** It works again after `onSilent` or `onEnded`. */
  readonly onBack: () => void;
  /** Where it ended though nobody had asked for it. */
  readonly onEnded: (how: string) => void;
}

/** One place in the service: the process that has it, and what is left of those that had it before. */
export class Member {
  readonly what: Role;
  restarts = 0;
  /** Since when it has been ended, or has not answered; undefined while it works, and before it is ready for the first time. */
  awaySince: Instant | undefined;
  readonly #start: () => ChildProcess;
  readonly #runtime: Pick<Runtime, "clock" | "sleep">;
  readonly #hooks: MemberHooks;
  readonly #collecting = new Map<number, (families: readonly Family[]) => void>();
  readonly #stopping = new AbortController();
  #process: ChildProcess | undefined;
  /** Whether it has started to work, and is ready for messages. */
  #isReady = false;
  /** How many pings it has not answered. */
  #unanswered = 0;
  #running: Promise<void> | undefined;
  #last: readonly Family[] = [];
  /** The counters of processes that have ended: a sum never falls. */
  #departed: readonly Family[] = [];
  #lastId = 0;

  constructor(what: Role, start: () => ChildProcess, runtime: Pick<Runtime, "clock" | "sleep">, hooks: MemberHooks) {
    this.what = what;
    this.#start = start;
    this.#runtime = runtime;
    this.#hooks = hooks;
  }

  begin(): void {
    this.#running = this.#keepRunning();
  }

  send(message: ToChild): void {
    this.#process?.send(message);
  }

  /**
   * To be called every second. Pings are counted and no time is measured: a pause of the supervisor itself does not count
   * against its children. A process that is not ready yet may take its time, as to open a database does on a slow disk.
   */
  ping(): void {
    if (!this.#isReady || this.#stopping.signal.aborted) return;
    if (this.#unanswered >= SILENT_AFTER && this.awaySince === undefined) {
      this.awaySince = this.#runtime.clock();
      this.#hooks.onSilent();
    }
    // Also one that waits for its disk, whose end comes once the disk has answered.
    if (this.#unanswered >= KILLED_AFTER) this.#process?.kill();
    else {
      this.#unanswered += 1;
      this.send({ kind: "ping" });
    }
  }

  /** Resolves once it has ended. One that is not ready yet, or hangs, is killed: it has nothing in hand, or never ends. */
  async stop(drainSeconds: number, withinSeconds: number): Promise<void> {
    this.#stopping.abort();
    if (this.#isReady) this.send({ kind: "stop", drainSeconds });
    else this.#process?.kill();
    const ended = new AbortController();
    const late = this.#runtime.sleep((drainSeconds + withinSeconds) * 1000 + ENDING_MS, ended.signal);
    await Promise.race([this.#running, late]);
    ended.abort();
    this.#process?.kill();
    await this.#running;
  }

  /** What it tells within its time, and otherwise what it told last. */
  async collect(): Promise<readonly Family[]> {
    if (this.#process !== undefined) {
      this.#lastId += 1;
      const id = this.#lastId;
      const collected = new Promise<readonly Family[]>((resolve) => this.#collecting.set(id, resolve));
      this.send({ kind: "collect", id });
      const late = this.#runtime.sleep(COLLECTING_MS).then(() => this.#last);
      this.#last = await Promise.race([collected, late]);
      this.#collecting.delete(id);
    }
    return mergeFamilies([this.#departed, this.#last]);
  }

  async #keepRunning(): Promise<void> {
    const { clock, sleep } = this.#runtime;
    const { signal } = this.#stopping;
    for (let pause = 0; !signal.aborted; ) {
      const begun = clock();
      const child = this.#start();
      this.#process = child;
      child.onMessage((message) => this.#hear(message));
      const ended = await child.ended;
      const how = this.#unanswered >= KILLED_AFTER ? `it did not answer for ${KILLED_AFTER} seconds` : ended;
      this.#process = undefined;
      this.#isReady = false;
      this.#unanswered = 0;
      this.#departed = mergeFamilies([this.#departed, countersOf(this.#last)]);
      this.#last = [];
      if (signal.aborted) return;
      this.awaySince ??= clock();
      this.#hooks.onEnded(how);
      this.restarts += 1;
      pause = clock() - begun >= LONG_RUN_MS ? 0 : Math.min(Math.max(SHORTEST_PAUSE_MS, pause * 2), LONGEST_PAUSE_MS);
      await sleep(pause, signal);
    }
  }

  #hear(message: FromChild): void {
    if (message.kind === "ready") {
      this.#isReady = true;
      this.#works();
      this.#hooks.onReady(message.url);
    }
    if (message.kind === "pong") {
      this.#unanswered = 0;
      this.#works();
    }
    if (message.kind === "failed") this.#hooks.onFailed(message.message);
    if (message.kind === "collected") this.#collecting.get(message.id)?.(message.families);
    if (message.kind === "checkpoints") this.#hooks.onCheckpoints(message.failure);
    if (message.kind === "recording") this.#hooks.onRecording(message.failsSince);
  }

  #works(): void {
    if (this.awaySince === undefined) return;
    this.awaySince = undefined;
    this.#hooks.onBack();
  }
}
