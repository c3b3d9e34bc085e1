import fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from "fastify";
import type { AddressList } from "../domain/address-list.ts";
import type { AttemptNotes } from "../services/partner/attempts.ts";
import { Recording, tell } from "../services/partner/observer.ts";
import type { Ports } from "../services/ports.ts";
import { type ServiceState, wellState } from "../services/service-state.ts";
import { authenticateRequests } from "./authenticate.ts";
import { BODY_MAX_BYTES, errorSender } from "./failures.ts";
import { addHealth } from "./health.ts";
import { publishContract } from "./openapi/publish.ts";
import { receiveRequests, requestIds } from "./reception.ts";
import { logRequests, noteAttempts, observeRequests } from "./request-hearers.ts";
import { addOperations, readBodiesAsJson } from "./routes.ts";
import type { Sockets } from "./sockets.ts";
import { type Retirement, retirementHeaders, VERSIONS, type Version } from "./versions/version.ts";

const ESCAPED_PATH = /^[^?]*%/;
const UNKNOWN_PATH = "/unknown";

/** A request must have arrived whole in this time. */
const REQUEST_TIMEOUT_MS = 10_000;
/** How often slow requests are looked for: Node's own half minute would let them go on for as long. */
const CHECKING_INTERVAL_MS = 1_000;
/** How long an answer may lie unread. {@link Sockets} spares whoever waits for one. */
const UNREAD_TIMEOUT_MS = 30_000;
/** Longer than the idle timeout of common proxies, so that it is they who close. */
const KEEP_ALIVE_TIMEOUT_MS = 75_000;

export interface AppOptions {
  readonly ports: Ports;
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
  readonly logger: FastifyBaseLogger;
  /** Takes a line of the log for each request; undefined where there is none to be. */
  readonly logLine: ((line: string) => void) | undefined;
  /** How far the process is on its way to its end. */
  readonly phase: () => Phase;
  /** Takes refused calls of partners; undefined where nobody asks for them. */
  readonly attempts?: Pick<AttemptNotes, "note"> | undefined;
  /** Shared with the service's other processes. */
  readonly state?: ServiceState | undefined;
}

/** `draining` still takes everything, and says that it should be sent nothing; `closing` ends every socket after its answer. */
export type Phase = "serving" | "draining" | "closing";

/** The service, and the means to end it. */
export interface App {
  readonly app: FastifyInstance;
  readonly sockets: Pick<Sockets, "destroyAll" | "destroyIdle">;
}

/** Builds the service: the only place that does, for serving and for tests alike. */
export async function buildApp(options: AppOptions): Promise<App> {
  const { logger, logLine, phase, attempts, state = wellState() } = options;
  const { store, clock, observer } = options.ports;
  const nextId = requestIds(options.ports.random);
  // A library's words may quote what was sent: it has no log.
  const app = fastify({
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: nextId,
    bodyLimit: BODY_MAX_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    connectionTimeout: UNREAD_TIMEOUT_MS,
    // Requests that arrive while the process stops are in hand too, and are answered.
    return503OnClosing: false,
    clientErrorHandler: (error, socket) => sockets.onClientError(error, socket),
    // No path that is served needs an escape. Decoded, an escaped one would be served all the same, and one that cannot
    // be decoded would meet no hook.
    rewriteUrl: ({ url = "" }) => (ESCAPED_PATH.test(url) ? UNKNOWN_PATH : url),
    http: {
      requireHostHeader: false,
      headersTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: CHECKING_INTERVAL_MS,
    },
  }) as unknown as FastifyInstance;

  const sockets = receiveRequests(app, {
    nextId,
    hearers: [
      ...(logLine === undefined ? [] : [logRequests(clock, logLine)]),
      ...(observer === undefined ? [] : [observeRequests(observer)]),
      ...(attempts === undefined ? [] : [noteAttempts(clock, attempts)]),
    ],
    isClosing: () => phase() === "closing",
    onWriteError: ({ id: requestId }, err) => logger.error({ requestId, err }, "an answer could not be written"),
  });
  readBodiesAsJson(app);
  for (const name of ["caller", "refusedHolder"]) app.decorateRequest(name, undefined);
  const sendError = errorSender(logger);
  app.setErrorHandler((error, _request, reply) => sendError(error, reply));

  const recording = new Recording(clock, state, (cause) => {
    tell(() => observer?.recordingChanged(state.recordingFailsSince));
    if (cause === undefined) logger.info("top-ups are recorded again");
    else logger.warn({ cause }, "no top-up can be recorded");
  });
  addHealth(app, { store, state, logger, isDraining: () => phase() !== "serving" });
  publishContract(app, { ...options, provider: store.provider });
  const ports = { ...options.ports, recording };
  for (const version of VERSIONS) {
    const addVersion = async (scope: FastifyInstance) => {
      announceRetirement(scope, version, options);
      authenticateRequests(scope, ports, options.trustedProxies, sendError);
      addOperations(scope, version, { ports, lapsedDays: options.lapsedDays, sendError });
    };
    await app.register(addVersion, { prefix: options.prefix });
  }
  return { app, sockets };
}

function announceRetirement(scope: FastifyInstance, { name, successor }: Version, options: AppOptions): void {
  const retirement = options.retirements[name];
  if (retirement === undefined || successor === undefined) return;
  const headers = retirementHeaders(retirement, `${options.prefix}/${successor}/`);
  scope.addHook("onRequest", (_request, reply, done) => {
    reply.headers(headers);
    done();
  });
}
