import type { Config } from "../../config.ts";
import { type Instant, isoTime } from "../../domain/wall-time.ts";
import { type MetricsServer, mergeFamilies, serveMetrics, single } from "../../metrics/exposition.ts";
import { FigureWindow } from "../../metrics/service-figures.ts";
import { readPartners } from "../../office/partners/sql.ts";
import { SharedLookUps } from "../../partner/gathering.ts";
import type { ProviderSettings, Store } from "../../store/store.ts";
import { type ProcessCount, type ServiceState, wellState } from "../../system/service-state.ts";
import { CommandFailed, listening } from "./failures.ts";
import { Member, type StartMember } from "./member.ts";
import type { Role, Served, ServiceProcesses, Urls } from "./processes.ts";
import type { Runtime, ServiceLog } from "./runtime.ts";

/*
 * A service is a supervisor, workers that accept connections, the settler (SQLite only), and the console if it is served.
 * The supervisor starts each process, restarts it if it ends or hangs, collects its metrics, and stops it.
 */

/** Interval of pings and of clock checks. */
const CHECKED_EVERY_MS = 1_000;
/** Interval at which the console gets the figures of the service. */
const MEASURED_EVERY_MS = 5_000;
/** A smaller step back may be an ordinary correction. */
const SET_BACK_MS = 60_000;

/** A running service. */
export interface Service {
  /** Base URL, without a slash at its end. */
  readonly url: string;
  /** Undefined if metrics are not served. */
  readonly metricsUrl: string | undefined;
  /** Undefined if the console is not served. */
  readonly consoleUrl: string | undefined;
  readonly counterUrl: string | undefined;
  readonly provider: ProviderSettings;
  /** Whether the database has no partner; false if the store failed. */
  readonly lacksPartners: boolean;
  /** Resolves with the name of the signal. */
  readonly askedToStop: Promise<string>;
  readonly stop: Served["stop"];
}

/** Migrates the database, starts all processes, and resolves when all are ready. @throws CommandFailed */
export async function superviseService(
  runtime: Runtime,
  config: Config,
  log: ServiceLog,
  workers: number,
): Promise<Service> {
  const onCopy = (file: string) => log.logger.info({ file }, "before the upgrade, the database was copied");
  const store = await runtime.openStore(config, { onCopy });
  let lookUps: SharedLookUps | undefined;
  const close = async () => {
    await lookUps?.close();
    await store.close();
  };
  try {
    const askedToStop = runtime.untilAskedToStop();
    const warn = (error: unknown) =>
      log.logger.warn({ cause: (error as Error).message }, "look-ups are counted without the other services");
    lookUps = await SharedLookUps.begin({ store, clock: runtime.clock, onFailure: warn });
    lookUps.keepWriting(runtime.sleep);
    const processes = runtime.prepareProcesses(config, store.provider);
    const supervised = await supervise(runtime, config, log, processes, lookUps, workers);
    const stop: Service["stop"] = async (options) => {
      await supervised.stop(options);
      await close();
    };
    return { ...supervised, stop, provider: store.provider, lacksPartners: await lacksPartners(store), askedToStop };
  } catch (error) {
    await close();
    throw error;
  }
}

function lacksPartners({ engine }: Store): Promise<boolean> {
  return readPartners(engine.db).then(
    (partners) => partners.length === 0,
    () => false,
  );
}

async function supervise(
  runtime: Runtime,
  config: Config,
  { logger }: ServiceLog,
  { startWorker, startConsole, startSettler, clearUp }: ServiceProcesses,
  lookUps: SharedLookUps,
  workers: number,
): Promise<Pick<Service, "url" | "metricsUrl" | "consoleUrl" | "counterUrl" | "stop">> {
  const members: Member[] = [];
  const state = wellState();
  /** Time of the first failed top-up; undefined once any worker has recorded one. */
  let failsSince: Instant | undefined;
  const share = () => {
    state.recordingFailsSince = failsSince ?? members.find(isSettler)?.unavailableSince;
    for (const member of members) member.send({ kind: "state", state: { ...state } });
  };
  const add = (what: Role, start: StartMember) =>
    new Promise<Urls>((onReady, onFailed) => {
      const member = new Member(what, start, runtime, {
        onReady: (urls) => {
          onReady(urls);
          share();
        },
        onFailed: (message) => onFailed(new CommandFailed(message)),
        onRecording: (since) => {
          failsSince = since === undefined ? undefined : (failsSince ?? since);
          share();
        },
        onCheckpoints: (cause) => {
          if (cause === undefined) logger.info("the write-ahead log can be checkpointed again");
          else logger.warn({ cause }, "the write-ahead log cannot be checkpointed, and grows");
        },
        onLookUp: (lookUp) => lookUps.count(lookUp),
        onSilent: () => {
          logger.warn(`a ${what} does not answer`);
          share();
        },
        onEnded: (cause) => {
          logger.error({ cause }, `a ${what} has ended and is restarted`);
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
  const stopping = new AbortController();
  const keepChecking = async () => {
    const readSetBack = setBackReader(runtime.clock);
    for (;;) {
      await runtime.sleep(CHECKED_EVERY_MS, stopping.signal);
      if (stopping.signal.aborted) return;
      for (const member of members) member.ping();
      const setBackFrom = readSetBack();
      if (setBackFrom === state.clockSetBackFrom) continue;
      state.clockSetBackFrom = setBackFrom;
      logClock(logger, setBackFrom);
      share();
    }
  };
  const keepMeasuring = async () => {
    const figures = new FigureWindow(runtime.stopwatch());
    const serving = members.filter(({ what }) => what === "worker");
    for (;;) {
      await runtime.sleep(MEASURED_EVERY_MS, stopping.signal);
      if (stopping.signal.aborted) return;
      const collected = await Promise.all(serving.map((member) => member.collect("calls")));
      const shown = figures.add(runtime.stopwatch(), mergeFamilies(collected), countProcesses(members));
      members.find(({ what }) => what === "console")?.send({ kind: "figures", figures: shown });
    }
  };
  let metricsServer: MetricsServer | undefined;
  const stop: Service["stop"] = async ({ drainSeconds }) => {
    stopping.abort();
    // The settler is stopped last, since workers finish their requests with it.
    const others = members.filter((member) => !isSettler(member));
    await Promise.all(others.map((member) => member.stop(drainSeconds, config.shutdownSeconds)));
    await members.find(isSettler)?.stop(0, 0);
    await metricsServer?.close();
    clearUp();
  };
  try {
    metricsServer = await serveMetricsOf(members, state, runtime, config);
    const settler = startSettler === undefined ? [] : [add("settler", startSettler)];
    // Several workers share a socket as long as one of them runs.
    const portOf = (urls: Urls | undefined) => (workers === 1 ? portFlags("--port", urls?.url) : []);
    const serving = Array.from({ length: workers }, () => add("worker", (urls) => startWorker(portOf(urls))));
    const startStaff: StartMember = (urls) =>
      startConsole([...portFlags("--console-port", urls?.url), ...portFlags("--counter-port", urls?.counterUrl)]);
    const staff = config.consolePort === undefined ? undefined : add("console", startStaff);
    void keepChecking();
    if (staff !== undefined) void keepMeasuring();
    const [worker, desk] = await Promise.all([serving[0], staff, ...serving, ...settler]);
    const { url: consoleUrl, counterUrl } = desk ?? {};
    return { url: worker?.url ?? "", metricsUrl: metricsServer?.url, consoleUrl, counterUrl, stop };
  } catch (error) {
    await stop({ drainSeconds: 0 });
    throw error;
  }
}

/** Flags by which a process listens where the previous one did, if that one had a free port. */
function portFlags(flag: string, url: string | undefined): string[] {
  return url === undefined ? [] : [flag, new URL(url).port || "80"];
}

const isSettler = ({ what }: Member) => what === "settler";

function countProcesses(members: readonly Member[]): ProcessCount[] {
  return [...new Set(members.map(({ what }) => what))].map((role) => {
    const own = members.filter(({ what }) => what === role);
    return {
      role,
      count: own.length,
      unavailable: own.filter(({ unavailableSince }) => unavailableSince !== undefined).length,
      restarts: own.reduce((sum, { restarts }) => sum + restarts, 0),
    };
  });
}

/** @returns a function that reads the latest time the clock has shown, if it is now more than a minute behind it. */
function setBackReader(clock: () => Instant): () => Instant | undefined {
  let latest = clock();
  return () => {
    const now = clock();
    latest = Math.max(latest, now);
    return latest - now > SET_BACK_MS ? latest : undefined;
  };
}

function logClock(logger: ServiceLog["logger"], setBackFrom: Instant | undefined): void {
  if (setBackFrom === undefined) logger.info("the clock has reached the time that it showed before it was set back");
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
    const collected = await Promise.all(members.map((member) => member.collect("all")));
    const restarts = members.reduce((sum, member) => sum + member.restarts, 0);
    return [
      ...mergeFamilies([...collected, await own.collect(undefined)]),
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
