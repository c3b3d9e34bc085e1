import { createServer, type Server } from "node:http";
import { Server as NetServer, type Socket } from "node:net";
import type { AddressList } from "../domain/address-list.ts";
import { LATE_MS, type TrialCall } from "../domain/practice.ts";
import type { RefusedCall } from "../store/store.ts";
import { HEAD_LIMITS, urlOf } from "../system/port-guard.ts";
import { type ServiceState, wellState } from "../system/service-state.ts";
import { reportRoutes } from "./extension/report.ts";
import { FastDoor } from "./fast-door.ts";
import type { CallNotes } from "./gathering.ts";
import { NodeDoor } from "./node-door.ts";
import { operationsOf } from "./operations.ts";
import { contractPages, healthPages } from "./pages.ts";
import {
  KEEP_ALIVE_TIMEOUT_MS,
  LOOKING_EVERY_MS,
  Pipeline,
  REQUEST_TIMEOUT_MS,
  requestIds,
  UNREAD_TIMEOUT_MS,
} from "./pipeline.ts";
import { AnswerText } from "./plain-http.ts";
import { type Ports, Recording, tell } from "./ports.ts";
import { logRequests, noteRefusedCalls, noteTrialCalls, observeRequests } from "./request-observers.ts";
import { type Retirement, retirementHeaders, type Version } from "./versions/version.ts";

export interface AppOptions {
  readonly ports: Ports;
  /** Monotonic milliseconds. */
  readonly stopwatch: () => number;
  /** The path before the version, in every URL. */
  readonly prefix: string;
  /** Scheme, host and port that partners use; undefined if not set. */
  readonly publicUrl: string | undefined;
  /** Currency code for partners; undefined if not set. */
  readonly currency?: string | undefined;
  /** Days that an ended subscription stays listed. */
  readonly lapsedDays: number;
  /** Proxies trusted to report the caller's address; undefined means none. */
  readonly trustedProxies: AddressList | undefined;
  /** Retirement dates by version name; other versions are not retired. */
  readonly retirements: Readonly<Record<string, Retirement>>;
  readonly log: (level: "info" | "warn" | "error", fields: object, message: string) => void;
  /** Writes the log line of a request; undefined: requests are not logged. */
  readonly logLine: ((line: string) => void) | undefined;
  readonly phase: () => Phase;
  /** Stores refused calls; undefined: they are not stored. */
  readonly refusedCalls?: Pick<CallNotes<RefusedCall>, "note"> | undefined;
  /** Stores the calls of the trial environment; undefined: they are not stored. */
  readonly trialCalls?: Pick<CallNotes<TrialCall>, "note"> | undefined;
  /** State shared by all processes of the service. */
  readonly state?: ServiceState | undefined;
  /** False sends every request to node:http, for tests that compare the doors. */
  readonly hasFastDoor?: boolean | undefined;
  /** Age of a late answer to the practice customer (default {@link LATE_MS}). */
  readonly lateMs?: number | undefined;
}

/** `draining` serves requests, but `/readyz` answers 503; `closing` ends every socket after its answer. */
export type Phase = "serving" | "draining" | "closing";

export interface App {
  readonly server: Server;
  /** Number of calls that the fast door has taken. */
  readonly fastCalls: () => number;
  /** Resolves with the URL, without a trailing slash. */
  readonly listen: (options: { readonly host: string; readonly port: number }) => Promise<string>;
  /** Accepts no more sockets. */
  readonly stopListening: () => void;
  /** Resolves when all calls are answered and all sockets have ended. */
  readonly close: () => Promise<void>;
  /** Destroys all sockets, even with unanswered calls. */
  readonly destroyAll: () => void;
}

/** Builds the service, for production and for tests. */
export function buildApp(options: AppOptions): App {
  const { log, logLine, phase, refusedCalls, trialCalls, stopwatch, trustedProxies, state = wellState() } = options;
  const { store, clock, observer } = options.ports;
  const recording = new Recording(clock, state, (cause) => {
    tell(() => observer?.recordingChanged(state.recordingFailsSince));
    if (cause === undefined) log("info", {}, "top-ups are recorded again");
    else log("warn", { cause }, "no top-up can be recorded");
  });
  const ports = { ...options.ports, recording };
  let isClosing = false;
  const pipeline = new Pipeline({
    ports,
    stopwatch,
    log,
    nextId: requestIds(ports.random),
    observers: [
      ...(logLine === undefined ? [] : [logRequests(clock, logLine)]),
      ...(observer === undefined ? [] : [observeRequests(observer)]),
      ...(refusedCalls === undefined ? [] : [noteRefusedCalls(clock, refusedCalls)]),
      ...(trialCalls === undefined ? [] : [noteTrialCalls(clock, trialCalls)]),
    ],
    isClosing: () => isClosing || phase() === "closing",
    lateMs: options.lateMs ?? LATE_MS,
  });
  const { prefix, lapsedDays, retirements } = options;
  const headersOf = ({ name, successor }: Version) => {
    const retirement = retirements[name];
    if (retirement === undefined || successor === undefined) return [];
    return retirementHeaders(retirement, `${prefix}/${successor}/`);
  };
  const operations = operationsOf({ ports, prefix, lapsedDays, headersOf });
  const health = healthPages({ store, state, log, isDraining: () => phase() !== "serving" });
  const reports = reportRoutes({ ports, prefix, currency: options.currency, headersOf });
  const routes = [...operations, ...reports, ...health, ...contractPages({ ...options, provider: store.provider })];
  const answerText = new AnswerText(clock);
  const server = createServer({
    ...HEAD_LIMITS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    requireHostHeader: false,
  });
  server.timeout = UNREAD_TIMEOUT_MS;
  const nodeDoor = new NodeDoor({ pipeline, routes, trustedProxies, answerText });
  nodeDoor.watch(server);
  const [toNode] = server.listeners("connection") as ((socket: Socket) => void)[];
  const handOver = (socket: Socket, isTrusted: boolean) => {
    if (isTrusted) nodeDoor.trust(socket);
    toNode?.call(server, socket);
  };
  const fastDoor = new FastDoor({ pipeline, operations, trustedProxies, answerText, handOver });
  if (options.hasFastDoor !== false) server.removeAllListeners("connection").on("connection", fastDoor.take);
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  server.once("listening", () => {
    const looking = setInterval(() => {
      pipeline.answerLate();
      fastDoor.look();
    }, LOOKING_EVERY_MS).unref();
    server.once("close", () => clearInterval(looking));
  });
  return {
    server,
    fastCalls: () => fastDoor.served,
    listen: ({ host, port }) =>
      new Promise((resolve, reject) => {
        server.once("error", reject).listen({ host, port }, () => {
          server.off("error", reject);
          resolve(urlOf(server));
        });
      }),
    // The close of http.Server would destroy sockets whose next request is arriving.
    stopListening: () => NetServer.prototype.close.call(server),
    close: () =>
      new Promise((resolve) => {
        isClosing = true;
        server.once("close", resolve).close();
        // Node does not count an unused socket as idle.
        for (const socket of sockets) if (!fastDoor.isBusy(socket) && !nodeDoor.isBusy(socket)) socket.destroy();
      }),
    destroyAll: () => {
      for (const socket of sockets) socket.destroy();
    },
  };
}
