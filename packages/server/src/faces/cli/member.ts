import type { CountedLookUp } from "../../domain/partner-limits.ts";
import type { Instant } from "../../domain/wall-time.ts";
import { countersOf, type Family, mergeFamilies } from "../../metrics/exposition.ts";
import type { ChildProcess, Collected, FromChild, Role, ToChild, Urls } from "./processes.ts";
import type { Runtime } from "./runtime.ts";

/* A child, as its supervisor handles it: started, pinged, restarted if it ends or hangs, and stopped. */

/** A process that ran for this long is restarted without a pause. */
const LONG_RUN_MS = 10_000;
const SHORTEST_PAUSE_MS = 100;
/** Short, since the settler must be back within two seconds. */
const LONGEST_PAUSE_MS = 1_000;
/** Extra time that a process may take to end. */
const ENDING_MS = 3_000;
/** Time within which a process must send its metrics. */
const COLLECTING_MS = 2_500;
/** Numbers of unanswered pings that make a process unavailable, and that have it killed. */
const SILENT_AFTER = 2;
const KILLED_AFTER = 10;

export interface MemberHooks {
  readonly onReady: (urls: Urls) => void;
  /** Called if the first process cannot start. */
  readonly onFailed: (message: string) => void;
  readonly onRecording: (failsSince: Instant | undefined) => void;
  readonly onCheckpoints: (failure: string | undefined) => void;
  /** Returns the milliseconds that a look-up must wait. */
  readonly onLookUp: (lookUp: CountedLookUp) => number;
  /** Called after two unanswered pings. */
  readonly onSilent: () => void;
  /** Called when the process works again after `onSilent` or `onEnded`. */
  readonly onBack: () => void;
  /** Called when the process ended without being stopped. */
  readonly onEnded: (how: string) => void;
}

/** @param urls where the previous process of the member listened. */
export type StartMember = (urls?: Urls) => ChildProcess;

/** One role in the service: its current process, and the counters of its previous ones. */
export class Member {
  readonly what: Role;
  restarts = 0;
  /** Start of an end or silence of the process; undefined while it works, and before it is first ready. */
  unavailableSince: Instant | undefined;
  readonly #start: StartMember;
  readonly #runtime: Pick<Runtime, "clock" | "sleep">;
  readonly #hooks: MemberHooks;
  readonly #collecting = new Map<number, (families: readonly Family[]) => void>();
  readonly #stopping = new AbortController();
  #process: ChildProcess | undefined;
  /** URLs of the last process that was ready. */
  #urls: Urls | undefined;
  /** Whether the process serves and can receive messages. */
  #isReady = false;
  /** Number of unanswered pings. */
  #unanswered = 0;
  #running: Promise<void> | undefined;
  #last: readonly Family[] = [];
  /** Counters of ended processes, kept so that sums never fall. */
  #departed: readonly Family[] = [];
  #lastId = 0;

  constructor(what: Role, start: StartMember, runtime: Pick<Runtime, "clock" | "sleep">, hooks: MemberHooks) {
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
   * Call it every second. It counts pings instead of time, so that a pause of the supervisor does not count against its
   * children. A process that is not ready yet has no limit: to open a database can take long on a slow disk.
   */
  ping(): void {
    if (!this.#isReady || this.#stopping.signal.aborted) return;
    if (this.#unanswered >= SILENT_AFTER && this.unavailableSince === undefined) {
      this.unavailableSince = this.#runtime.clock();
      this.#hooks.onSilent();
    }
    // A process that waits for its disk is killed too. It ends when the disk answers.
    if (this.#unanswered >= KILLED_AFTER) this.#process?.kill();
    else {
      this.#unanswered += 1;
      this.send({ kind: "ping" });
    }
  }

  /** Resolves when the process has ended. A process that is not ready yet, or hangs, is killed. */
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

  /** The metrics that the process sends in time, otherwise the last ones that it sent. */
  async collect(what: Collected): Promise<readonly Family[]> {
    if (this.#process !== undefined) {
      this.#lastId += 1;
      const id = this.#lastId;
      const collected = new Promise<readonly Family[]>((resolve) => this.#collecting.set(id, resolve));
      this.send({ kind: "collect", id, what });
      const late = this.#runtime.sleep(COLLECTING_MS).then(() => []);
      const sent = await Promise.race([collected, late]);
      const names = new Set(sent.map(({ name }) => name));
      this.#last = [...this.#last.filter(({ name }) => !names.has(name)), ...sent];
      this.#collecting.delete(id);
    }
    return mergeFamilies([this.#departed, this.#last]);
  }

  async #keepRunning(): Promise<void> {
    const { clock, sleep } = this.#runtime;
    const { signal } = this.#stopping;
    for (let pause = 0; !signal.aborted; ) {
      const begun = clock();
      const child = this.#start(this.#urls);
      this.#process = child;
      child.onMessage((message) => this.#receive(message));
      const ended = await child.ended;
      const how = this.#unanswered >= KILLED_AFTER ? `it did not answer for ${KILLED_AFTER} seconds` : ended;
      this.#process = undefined;
      this.#isReady = false;
      this.#unanswered = 0;
      this.#departed = mergeFamilies([this.#departed, countersOf(this.#last)]);
      this.#last = [];
      if (signal.aborted) return;
      this.unavailableSince ??= clock();
      this.#hooks.onEnded(how);
      this.restarts += 1;
      pause = clock() - begun >= LONG_RUN_MS ? 0 : Math.min(Math.max(SHORTEST_PAUSE_MS, pause * 2), LONGEST_PAUSE_MS);
      await sleep(pause, signal);
    }
  }

  #receive(message: FromChild): void {
    if (message.kind === "ready") {
      this.#isReady = true;
      this.#urls = message;
      this.#works();
      this.#hooks.onReady(message);
    }
    if (message.kind === "pong") {
      this.#unanswered = 0;
      this.#works();
    }
    if (message.kind === "failed") this.#hooks.onFailed(message.message);
    if (message.kind === "collected") this.#collecting.get(message.id)?.(message.families);
    if (message.kind === "checkpoints") this.#hooks.onCheckpoints(message.failure);
    if (message.kind === "look_up")
      this.send({ kind: "looked_up", id: message.id, wait: this.#hooks.onLookUp(message.lookUp) });
    if (message.kind === "recording") this.#hooks.onRecording(message.failsSince);
  }

  #works(): void {
    if (this.unavailableSince === undefined) return;
    this.unavailableSince = undefined;
    this.#hooks.onBack();
  }
}
