import type { Config } from "../config.ts";
import {
  countersOf,
  type Family,
  type MetricsServer,
  mergeFamilies,
  serveMetrics,
  single,
} from "../metrics/metrics.ts";
import { CommandFailed, type Runtime, type ServiceLog } from "./runtime.ts";
import { lackingOf, listening, type Service } from "./service.ts";

/*
 * A service of several processes: a supervisor, workers that take the connections, on SQLite the settler, and, where it is
 * wanted, the console. The supervisor begins each, and another where one ends; it asks them for their metrics, and has them end.
 */

/** A process of the service, as its supervisor knows it. */
export interface ChildProcess {
  readonly send: (message: ToChild) => void;
  readonly onMessage: (hear: (message: FromChild) => void) => void;
  /** Resolves with how it ended. */
  readonly ended: Promise<string>;
  readonly kill: () => void;
}

export type ToChild =
  | { readonly kind: "collect"; readonly id: number }
  | { readonly kind: "stop"; readonly drainSeconds: number }
  /** When the first of the workers failed to record a top-up; undefined where none fails. */
  | { readonly kind: "recording"; readonly failsSince: number | undefined };

export type FromChild =
  | { readonly kind: "ready"; readonly url: string }
  /** It cannot begin, and says why. */
  | { readonly kind: "failed"; readonly message: string }
  | { readonly kind: "collected"; readonly id: number; readonly families: readonly Family[] }
  | { readonly kind: "recording"; readonly failsSince: number | undefined }
  /** Why the settler cannot write the log of the database into its file; undefined where it can again. */
  | { readonly kind: "checkpoints"; readonly trouble: string | undefined };

/** One that has run for so long is begun again at once. */
const LONG_RUN_MS = 10_000;
const SHORTEST_PAUSE_MS = 100;
/** Also for the settler: it is to be back within two seconds. */
const LONGEST_PAUSE_MS = 1_000;
/** How much longer than it was told to a process may take to end. */
const ENDING_MS = 3_000;
/** How long a process may take to tell its metrics. */
const COLLECTING_MS = 2_500;

interface MemberHooks {
  readonly onReady: (url: string) => void;
  /** Where the first of it could not begin. */
  readonly onFailed: (message: string) => void;
  readonly onRecording: () => void;
  readonly onCheckpoints: (trouble: string | undefined) => void;
  /** Where it ended though nobody had asked for it. */
  readonly onEnded: (how: string) => void;
}

/** One place in the service: the process that has it, and what is left of those that had it before. */
class Member {
  failsSince: number | undefined;
  restarts = 0;
  readonly #start: () => ChildProcess;
  readonly #runtime: Pick<Runtime, "clock" | "sleep">;
  readonly #hooks: MemberHooks;
  readonly #collecting = new Map<number, (families: readonly Family[]) => void>();
  readonly #stopping = new AbortController();
  #process: ChildProcess | undefined;
  /** Whether it has begun to do its work, and heeds what it is told. */
  #isReady = false;
  #running: Promise<void> | undefined;
  #last: readonly Family[] = [];
  /** The counters of processes that have ended: a sum never falls. */
  #departed: readonly Family[] = [];
  #lastId = 0;

  constructor(start: () => ChildProcess, runtime: Pick<Runtime, "clock" | "sleep">, hooks: MemberHooks) {
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
      const how = await child.ended;
      this.#process = undefined;
      this.#isReady = false;
      this.#departed = mergeFamilies([this.#departed, countersOf(this.#last)]);
      this.#last = [];
      this.failsSince = undefined;
      if (signal.aborted) return;
      this.#hooks.onEnded(how);
      this.restarts += 1;
      pause = clock() - begun >= LONG_RUN_MS ? 0 : Math.min(Math.max(SHORTEST_PAUSE_MS, pause * 2), LONGEST_PAUSE_MS);
      await sleep(pause, signal);
    }
  }

  #hear(message: FromChild): void {
    if (message.kind === "ready") {
      this.#isReady = true;
      this.#hooks.onReady(message.url);
    }
    if (message.kind === "failed") this.#hooks.onFailed(message.message);
    if (message.kind === "collected") this.#collecting.get(message.id)?.(message.families);
    if (message.kind === "checkpoints") this.#hooks.onCheckpoints(message.trouble);
    if (message.kind === "recording") {
      this.failsSince = message.failsSince;
      this.#hooks.onRecording();
    }
  }
}

/** What begins the processes of a service. */
export interface ServiceProcesses {
  readonly startWorker: () => ChildProcess;
  /** Of what serves the console and the staff API. */
  readonly startConsole: () => ChildProcess;
  /** Undefined where each worker settles by itself. */
  readonly startSettler: (() => ChildProcess) | undefined;
  /** To be called once all have ended. */
  readonly clearUp: () => void;
}

/** Brings the database up to date, begins all processes, and resolves once all are ready. @throws CommandFailed */
export async function superviseService(
  runtime: Runtime,
  config: Config,
  log: ServiceLog,
  workers: number,
): Promise<Service> {
  const store = await runtime.openStore(config);
  try {
    const askedToStop = runtime.untilAskedToStop();
    const processes = runtime.prepareProcesses(config, store.provider);
    const supervised = await supervise(runtime, config, log, processes, workers);
    return { ...supervised, provider: store.provider, ...(await lackingOf(store)), askedToStop };
  } finally {
    await store.close();
  }
}

async function supervise(
  runtime: Runtime,
  config: Config,
  { logger }: ServiceLog,
  { startWorker, startConsole, startSettler, clearUp }: ServiceProcesses,
  workers: number,
): Promise<Pick<Service, "url" | "metricsUrl" | "consoleUrl" | "stop">> {
  const members: Member[] = [];
  const add = (what: string, start: () => ChildProcess) =>
    new Promise<string>((onReady, onFailed) => {
      const member = new Member(start, runtime, {
        onReady: (url) => {
          onReady(url);
          shareRecording(members);
        },
        onFailed: (message) => onFailed(new CommandFailed(message)),
        onRecording: () => shareRecording(members),
        onCheckpoints: (cause) => {
          if (cause === undefined) logger.info("the log of the database is written into its file again");
          else logger.warn({ cause }, "the log of the database cannot be written into its file, and grows");
        },
        onEnded: (cause) => logger.error({ cause }, `a ${what} has ended, and another one begins`),
      });
      members.push(member);
      member.begin();
    });
  let metricsServer: MetricsServer | undefined;
  const stop: Service["stop"] = async ({ drainSeconds }) => {
    const [settlers, others] = startSettler === undefined ? [[], members] : [members.slice(0, 1), members.slice(1)];
    // The settler goes last: workers finish what they have in hand.
    await Promise.all(others.map((member) => member.stop(drainSeconds, config.shutdownSeconds)));
    await Promise.all(settlers.map((member) => member.stop(0, 0)));
    await metricsServer?.close();
    clearUp();
  };
  try {
    metricsServer = await serveMetricsOf(members, runtime, config);
    const settler = startSettler === undefined ? [] : [add("settler", startSettler)];
    const serving = Array.from({ length: workers }, () => add("worker", startWorker));
    const staff = config.consolePort === undefined ? undefined : add("console", startConsole);
    const [url, consoleUrl] = await Promise.all([serving[0], staff, ...serving, ...settler]);
    return { url: url as string, metricsUrl: metricsServer?.url, consoleUrl, stop };
  } catch (error) {
    await stop({ drainSeconds: 0 });
    throw error;
  }
}

/** `/readyz` says of the service, whichever process is asked, since when no top-up can be recorded. */
function shareRecording(members: readonly Member[]): void {
  const fails = members.flatMap(({ failsSince }) => failsSince ?? []);
  const failsSince = fails.length === 0 ? undefined : Math.min(...fails);
  for (const member of members) member.send({ kind: "recording", failsSince });
}

async function serveMetricsOf(
  members: readonly Member[],
  runtime: Runtime,
  config: Config,
): Promise<MetricsServer | undefined> {
  const { metricsHost: host, metricsPort: port } = config;
  if (port === undefined) return undefined;
  const own = await runtime.createMetrics(config);
  const collect = async () => {
    const told = await Promise.all(members.map((member) => member.collect()));
    const restarts = members.reduce((sum, member) => sum + member.restarts, 0);
    return [
      ...mergeFamilies([...told, await own.collect(undefined)]),
      single(
        "gauge",
        "topupd_processes",
        "Workers, and the settler and the console where there are any.",
        members.length,
      ),
      single("counter", "topupd_process_restarts_total", "Processes that ended, and were begun again.", restarts),
    ];
  };
  return listening(serveMetrics({ host, port }, collect), config, "metricsHost", "metricsPort");
}
