import type { Config } from "../../config.ts";
import { type Instant, isoTime } from "../../domain/wall-time.ts";
import { type MetricsServer, mergeFamilies, serveMetrics, single } from "../../metrics/exposition.ts";
import { type ServiceState, wellState } from "../../system/service-state.ts";
import { Member } from "./member.ts";
import type { ChildProcess, Role, ServiceProcesses } from "./processes.ts";
import { CommandFailed, type Runtime, type ServiceLog } from "./runtime.ts";
import { lackingOf, listening, type Service } from "./service.ts";

/*
 * A service is a supervisor, workers that take the connections, on SQLite the settler, and, if it is wanted, the console.
 * The supervisor starts each, and another one if it ends or hangs; it collects their metrics, and stops them.
 */

/** How often each process is pinged, and the clock looked at. */
const WATCHED_EVERY_MS = 1_000;
/** Less may be an ordinary correction. */
const SET_BACK_MS = 60_000;

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
  const state = wellState();
  /** When a worker first failed to record a top-up; undefined once any worker has recorded one. */
  let failsSince: Instant | undefined;
  const share = () => {
    state.recordingFailsSince = failsSince ?? members.find(isSettler)?.awaySince;
    for (const member of members) member.send({ kind: "state", state: { ...state } });
  };
  const add = (what: Role, start: () => ChildProcess) =>
    new Promise<string>((onReady, onFailed) => {
      const member = new Member(what, start, runtime, {
        onReady: (url) => {
          onReady(url);
          share();
        },
        onFailed: (message) => onFailed(new CommandFailed(message)),
        onRecording: (since) => {
          failsSince = since === undefined ? undefined : (failsSince ?? since);
          share();
        },
        onCheckpoints: (cause) => {
          if (cause === undefined) logger.info("the log of the database is written into its file again");
          else logger.warn({ cause }, "the log of the database cannot be written into its file, and grows");
        },
        onSilent: () => {
          logger.warn(`a ${what} does not answer`);
          share();
        },
        onEnded: (cause) => {
          logger.error({ cause }, `a ${what} has ended, and another one begins`);
          share();
        },
        onBack: () => {
          logger.info(`a ${what} answers again`);
          share();
        },
      });
      members.push(member);
      member.begin();
    });
  const watching = new AbortController();
  const watch = async () => {
    const readSetBack = watchClock(runtime.clock);
    for (;;) {
      await runtime.sleep(WATCHED_EVERY_MS, watching.signal);
      if (watching.signal.aborted) return;
      for (const member of members) member.ping();
      const setBackFrom = readSetBack();
      if (setBackFrom === state.clockSetBackFrom) continue;
      state.clockSetBackFrom = setBackFrom;
      sayOfClock(logger, setBackFrom);
      share();
    }
  };
  let metricsServer: MetricsServer | undefined;
  const stop: Service["stop"] = async ({ drainSeconds }) => {
    watching.abort();
    // The settler goes last: workers finish what they have in hand.
    const others = members.filter((member) => !isSettler(member));
    await Promise.all(others.map((member) => member.stop(drainSeconds, config.shutdownSeconds)));
    await members.find(isSettler)?.stop(0, 0);
    await metricsServer?.close();
    clearUp();
  };
  try {
    metricsServer = await serveMetricsOf(members, state, runtime, config);
    const settler = startSettler === undefined ? [] : [add("settler", startSettler)];
    const serving = Array.from({ length: workers }, () => add("worker", startWorker));
    const staff = config.consolePort === undefined ? undefined : add("console", startConsole);
    void watch();
    const [url, consoleUrl] = await Promise.all([serving[0], staff, ...serving, ...settler]);
    return { url: url as string, metricsUrl: metricsServer?.url, consoleUrl, stop };
  } catch (error) {
    await stop({ drainSeconds: 0 });
    throw error;
  }
}

const isSettler = ({ what }: Member) => what === "settler";

/** @returns what reads the latest time that the clock has shown, if it shows more than a minute less now. */
function watchClock(clock: () => Instant): () => Instant | undefined {
  let latest = clock();
  return () => {
    const now = clock();
    latest = Math.max(latest, now);
    return latest - now > SET_BACK_MS ? latest : undefined;
  };
}

function sayOfClock(logger: ServiceLog["logger"], setBackFrom: Instant | undefined): void {
  if (setBackFrom === undefined)
    logger.info("the clock has caught up with the time that it showed before it was set back");
  else {
    const cause = `latest time shown: ${isoTime(setBackFrom)}`;
    logger.warn({ cause }, "the clock was set back: new top-ups can have earlier times than older ones");
  }
}

async function serveMetricsOf(
  members: readonly Member[],
  state: ServiceState,
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
        "topupd_recording_fails_since_seconds",
        "Since when no top-up can be recorded, in seconds since 1970; 0 if they can.",
        (state.recordingFailsSince ?? 0) / 1000,
      ),
      single(
        "gauge",
        "topupd_processes",
        "Workers, the settler if there is one, and the console if it is served.",
        members.length,
      ),
      single(
        "counter",
        "topupd_process_restarts_total",
        "Processes that ended or hung and were started again.",
        restarts,
      ),
    ];
  };
  return listening(serveMetrics({ host, port }, collect), config, "metricsHost", "metricsPort");
}
