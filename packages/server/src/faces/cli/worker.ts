import type { Config } from "../../config.ts";
import type { TrialCall } from "../../domain/practice.ts";
import type { Target } from "../../domain/target.ts";
import { alertWatch } from "../../office/alerts/watch.ts";
import { reversePractised } from "../../office/practice/reversals.ts";
import { buildApp, type Phase } from "../../partner/app.ts";
import { CallNotes, TokenUses } from "../../partner/gathering.ts";
import type { Observer } from "../../partner/ports.ts";
import { dueOf } from "../../store/due.ts";
import { outboxOf } from "../../store/outbox.ts";
import { sessionsDueOf } from "../../store/sessions-due.ts";
import type { RefusedCall } from "../../store/store.ts";
import { mailerOf } from "../../system/mail.ts";
import { startDeliveringDue } from "../../workers/deliver-due.ts";
import { startDelivering } from "../../workers/deliver-events.ts";
import { startEndingSessions } from "../../workers/end-sessions.ts";
import { startTellingEnds } from "../../workers/tell-ends.ts";
import { Lease, startRepeating } from "../../workers/worker.ts";
import { listening } from "./failures.ts";
import { askSupervisor } from "./look-ups.ts";
import type { ChildParts, Served } from "./processes.ts";
import type { Runtime, ServiceLog } from "./runtime.ts";

/** Grace period: idle sockets may send one more request, and its answer closes them. */
const FAREWELL_MS = 300;
/** Bytes of the random name that holds leases of this process. */
const HOLDER_BYTES = 9;

/** Serves partners, and delivers to targets. @throws CommandFailed if it cannot listen. */
export async function serveWorker(
  { clock, random, stopwatch, sleep, targetTools }: Runtime,
  config: Config,
  { logger, logLine }: ServiceLog,
  { store, state, metrics, supervisor }: ChildParts,
): Promise<Served> {
  const observer: Observer = {
    requestAnswered: (...what) => metrics?.observer.requestAnswered(...what),
    topUpRecorded: (topUp) => metrics?.observer.topUpRecorded(topUp),
    recordingChanged: (failsSince) => supervisor.send({ kind: "recording", failsSince }),
  };
  const targets = targetTools(config.privateTargets);
  let phase: Phase = "serving";
  const warnOf = (message: string) => (error: unknown) => {
    const cause = error instanceof Error ? error.message : String(error);
    logger.warn({ cause }, message);
  };
  const tokenUses = new TokenUses({
    record: (uses) => store.recordTokenUses(uses),
    onFailure: warnOf("the times of last use of tokens could not be written yet"),
  });
  const refusedCalls = new CallNotes({
    record: (calls: readonly RefusedCall[]) => store.recordRefusedCalls(calls),
    onFailure: warnOf("refused calls could not be recorded"),
  });
  const trialCalls = new CallNotes({
    record: (calls: readonly TrialCall[]) => store.recordTrialCalls(calls),
    onFailure: warnOf("calls in the trial environment could not be recorded"),
  });
  const app = buildApp({
    ports: { store, clock, random, tokenUses, observer, countLookUp: askSupervisor(supervisor) },
    stopwatch,
    trustedProxies: config.trustedProxies,
    prefix: config.prefix,
    currency: config.currency,
    publicUrl: config.publicUrl,
    lapsedDays: config.lapsedDays,
    retirements: { "v1.0.0": { deprecatedAt: config.v100DeprecatedOn, sunsetAt: config.v100SunsetOn } },
    log: (level, fields, message) => logger[level](fields, message),
    logLine,
    phase: () => phase,
    refusedCalls,
    trialCalls,
    state,
  });
  const url = await listening(app.listen({ host: config.host, port: config.port }), config, "host", "port");
  tokenUses.keepWriting(sleep);
  refusedCalls.keepWriting(sleep);
  trialCalls.keepWriting(sleep);
  const workerPorts = {
    store: {
      provider: store.provider,
      outbox: outboxOf(store.engine),
      due: dueOf(store.engine),
      sessionsDue: sessionsDueOf(store.engine),
    },
    clock,
    stopwatch,
    random,
    sleep,
    observer: metrics?.deliveryObserver,
    holder: Buffer.from(random(HOLDER_BYTES)).toString("hex"),
    createSender: (target: Target) => targets.createSender(target, store),
    createTeller: (target: Target) => targets.createTeller(target, store),
    createSessionTools: (target: Target) => targets.createSessionTools(target),
    log: (level: "info" | "warn", fields: object, message: string) => logger[level](fields, message),
  };
  const reversing = startRepeating(workerPorts, {
    everyMs: 1_000,
    work: () => reversePractised({ store, clock, random }),
    failure: "practice top-ups are reversed late",
  });
  const lease = new Lease(workerPorts.store.outbox, workerPorts, "alerts");
  const { currency, numberGrouping, consoleNames: [name] = [] } = config;
  const words = { currency, numberGrouping, consoleUrl: name === undefined ? undefined : `https://${name}` };
  const alerting = startRepeating(workerPorts, {
    everyMs: 30_000,
    work: alertWatch({
      ...{ store, clock, lease, mailer: mailerOf(config, { clock }), words, log: workerPorts.log },
      backsUpHourly: config.backupFolder !== undefined,
      observe: metrics?.observeProblems,
    }),
    failure: "alerts are late",
    lease,
  });
  const trialLease = new Lease(workerPorts.store.outbox, workerPorts, "trial");
  const restoring = startRepeating(workerPorts, {
    everyMs: 20_000,
    async work() {
      const { restoreTrial } = await import("./demo/trial.ts");
      if (await trialLease.take()) await restoreTrial({ store, clock, random });
    },
    failure: "the trial customers are restored late",
    lease: trialLease,
  });
  const delivering = [startDelivering, startDeliveringDue, startEndingSessions, startTellingEnds];
  const workers = [...delivering.map((start) => start(workerPorts)), reversing, restoring, alerting];
  // One failed connection must not end the service.
  app.server.on("error", (error) => logger.error({ err: error }, "a connection could not be accepted"));
  return {
    url,
    async stop({ drainSeconds }) {
      phase = "draining";
      const handedOver = Promise.all(workers.map((worker) => worker.stop()));
      await sleep(drainSeconds * 1000);
      // Node would cut a socket whose next request is still on its way, since it is idle. So new connections are refused
      // first, and open ones have a moment to get an answer that closes them.
      phase = "closing";
      app.stopListening();
      await sleep(FAREWELL_MS);
      const closed = app.close();
      const deadline = new AbortController();
      const inTime = await Promise.race([
        closed.then(() => true),
        sleep(config.shutdownSeconds * 1000, deadline.signal).then(() => false),
      ]);
      deadline.abort();
      if (!inTime) {
        logger.warn("unfinished requests were cut off at the deadline");
        app.destroyAll();
        await closed;
      }
      await handedOver;
      await tokenUses.close();
      await refusedCalls.close();
      await trialCalls.close();
    },
  };
}
