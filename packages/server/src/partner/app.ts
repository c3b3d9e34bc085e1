import { createServer, type Server } from "node:http";
import { Server as NetServer, type Socket } from "node:net";
import type { AddressList } from "../domain/address-list.ts";
import { HEAD_LIMITS, urlOf } from "../system/port-guard.ts";
import { type ServiceState, wellState } from "../system/service-state.ts";
import { FastDoor } from "./fast-door.ts";
import type { AttemptNotes } from "./gathering.ts";
import { NodeDoor } from "./node-door.ts";
import { contractPages } from "./openapi/publish.ts";
import { operationsOf } from "./operations.ts";
import { healthPages } from "./pages.ts";
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
import { logRequests, noteAttempts, observeRequests } from "./request-observers.ts";
import { type Retirement, retirementHeaders, type Version } from "./versions/version.ts";

export interface AppOptions {
  readonly ports: Ports;
  /** Milliseconds that pass evenly, whatever is done to the clock. */
  readonly stopwatch: () => number;
  /** What stands before the version in every path. */
  readonly prefix: string;
  /** Scheme, host and port by which partners reach the service; undefined if nobody has said it. */
  readonly publicUrl: string | undefined;
  /** For how many days a subscription that has ended stays listed. */
  readonly lapsedDays: number;
  /** Whose word on the address of whoever calls is taken; undefined where nobody's is. */
  readonly trustedProxies: AddressList | undefined;
  /** By the name of the version; a version that is not named stays. */
  readonly retirements: Readonly<Record<string, Retirement>>;
  readonly log: (level: "info" | "warn" | "error", fields: object, message: string) => void;
  /** Takes a line of the log for each request; undefined where there is none to be. */
  readonly logLine: ((line: string) => void) | undefined;
  /** How far the process is on its way to its end. */
  readonly phase: () => Phase;
  /** Takes refused calls of partners; undefined where nobody asks for them. */
  readonly attempts?: Pick<AttemptNotes, "note"> | undefined;
  /** Shared with the service's other processes. */
  readonly state?: ServiceState | undefined;
  /** False leaves every request to node:http: for tests that hold the doors against each other. */
  readonly hasFastDoor?: boolean | undefined;
}

/** `draining` still takes everything, and says that it should be sent nothing; `closing` ends every socket after its answer. */
export type Phase = "serving" | "draining" | "closing";

/** The service, and the means to begin and end it. */
export interface App {
  readonly server: Server;
  /** Of calls that came by the fast door. */
  readonly fastCalls: () => number;
  /** Resolves with the URL, without a slash at its end. */
  readonly listen: (options: { readonly host: string; readonly port: number }) => Promise<string>;
  /** Takes no more sockets. */
  readonly stopListening: () => void;
  /** Resolves once all that is in hand is answered, and every socket has ended. */
  readonly close: () => Promise<void>;
  /** Destroys all sockets, whatever is in hand. */
  readonly destroyAll: () => void;
}

/** Builds the service: the only place that does, for serving and for tests alike. */
export function buildApp(options: AppOptions): App {
  const { log, logLine, phase, attempts, stopwatch, trustedProxies, state = wellState() } = options;
  const { store, clock, observer } = options.ports;
  const recording = new Recording(clock, state, (cause) => {
    tell(() => observer?.recordingChanged(state.recordingFailsSince));
    if (cause === undefined) log("info", {}, "top-ups are recorded again");
    else log("warn", { cause }, "no top-up can be recorded");
  });
  const ports = { ...options.ports, recording };
  let isClosing = false;
  const pipeline = new Pipeline({
    ...{ ports, stopwatch, log },
    nextId: requestIds(ports.random),
    observers: [
      ...(logLine === undefined ? [] : [logRequests(clock, logLine)]),
      ...(observer === undefined ? [] : [observeRequests(observer)]),
      ...(attempts === undefined ? [] : [noteAttempts(clock, attempts)]),
    ],
    isClosing: () => isClosing || phase() === "closing",
  });
  const { prefix, lapsedDays, retirements } = options;
  const headersOf = ({ name, successor }: Version) => {
    const retirement = retirements[name];
    if (retirement === undefined || successor === undefined) return [];
    return retirementHeaders(retirement, `${prefix}/${successor}/`);
  };
  const operations = operationsOf({ ports, prefix, lapsedDays, headersOf });
  const health = healthPages({ store, state, log, isDraining: () => phase() !== "serving" });
  const routes = [...operations, ...health, ...contractPages({ ...options, provider: store.provider })];
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
    // Node's HTTP server would cut sockets whose next request is still on its way.
    stopListening: () => NetServer.prototype.close.call(server),
    close: () =>
      new Promise((resolve) => {
        isClosing = true;
        server.once("close", resolve).close();
        // Node does not count a socket as idle that was never used.
        for (const socket of sockets) if (!fastDoor.isBusy(socket) && !nodeDoor.isBusy(socket)) socket.destroy();
      }),
    destroyAll: () => {
      for (const socket of sockets) socket.destroy();
    },
  };
}
