import fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from "fastify";
import type { AddressList } from "../domain/address-list.ts";
import type { Instant } from "../domain/wall-time.ts";
import { tell } from "../services/partner/observer.ts";
import { Recording } from "../services/partner/recording.ts";
import type { Ports } from "../services/ports.ts";
import { authenticateRequests } from "./authenticate.ts";
import { BODY_MAX_BYTES } from "./failures.ts";
import { addHealth } from "./health.ts";
import { readBodiesAsJson } from "./json-body.ts";
import { logRequests } from "./log-requests.ts";
import { observeRequests } from "./observe-requests.ts";
import { publishContract } from "./openapi/publish.ts";
import { type RequestHearer, receiveRequests } from "./reception.ts";
import { requestIds } from "./request-ids.ts";
import { type Retirement, retirementHeaders } from "./retirement.ts";
import { addOperations } from "./routes.ts";
import { errorSender } from "./send-error.ts";
import type { Sockets } from "./sockets.ts";
import { TurnWrites } from "./turn-writes.ts";
import { watchUnanswered } from "./unanswered.ts";
import type { Version } from "./versions/version.ts";
import { VERSIONS } from "./versions/versions.ts";

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
  /** Since when another process of the service has been unable to record a top-up. */
  readonly failsElsewhere?: (() => Instant | undefined) | undefined;
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
  const { logger, phase } = options;
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

  const sockets = receiveRequests(app, nextId, hearersOf(options));
  watchUnanswered(app.server, sockets);
  readBodiesAsJson(app);
  for (const name of ["caller", "refusedHolder"]) app.decorateRequest(name, undefined);
  const writes = new TurnWrites();
  app.addHook("onSend", (request, reply, _payload, done) => {
    request.isDecided = true;
    // Or the socket of an answered request would keep the process from ending.
    if (phase() === "closing") reply.header("connection", "close");
    writes.hold(done, (err) => {
      logger.error({ requestId: request.id, err }, "an answer could not be written");
      reply.raw.destroy();
    });
  });
  const sendError = errorSender(logger);
  app.setErrorHandler((error, _request, reply) => sendError(error, reply));

  const { store } = options.ports;
  const recording = watchRecording(options.ports, logger);
  const failsSince = () => options.failsElsewhere?.() ?? recording.failsSince;
  addHealth(app, { store, failsSince, logger, isDraining: () => phase() !== "serving" });
  publishContract(app, { ...options, provider: store.provider });
  const watched = { ...options, ports: { ...options.ports, recording } };
  for (const version of VERSIONS) {
    const addVersion = async (scope: FastifyInstance) => {
      announceRetirement(scope, version, options);
      authenticateRequests(scope, watched, sendError);
      addOperations(scope, version, watched, sendError);
    };
    await app.register(addVersion, { prefix: options.prefix });
  }
  return { app, sockets };
}

function hearersOf({ ports: { clock, observer }, logLine }: AppOptions): RequestHearer[] {
  return [
    ...(logLine === undefined ? [] : [logRequests({ clock, write: logLine })]),
    ...(observer === undefined ? [] : [observeRequests(observer)]),
  ];
}

function watchRecording({ clock, observer }: Ports, logger: FastifyBaseLogger): Recording {
  const recording = new Recording({
    clock,
    onChange: (cause) => {
      tell(() => observer?.recordingChanged(recording.failsSince));
      if (cause === undefined) logger.info("top-ups are recorded again");
      else logger.warn({ cause }, "no top-up can be recorded");
    },
  });
  return recording;
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
