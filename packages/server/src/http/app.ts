import fastify, {
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from "fastify";
import type { AddressList } from "../domain/address-list.ts";
import { tell } from "../operations/observer.ts";
import type { Ports } from "../operations/ports.ts";
import { Recording } from "../operations/recording.ts";
import { StoreUnavailable } from "../store/errors.ts";
import { authenticateRequests } from "./authenticate.ts";
import { TOP_UP_OPERATION } from "./contract.ts";
import { BODY_MAX_BYTES, type FailureReason, sendFailure } from "./failures.ts";
import { addHealth } from "./health.ts";
import { MalformedBody, readBodiesAsJson, UnsupportedBody } from "./json-body.ts";
import { LazyLogger } from "./lazy-logger.ts";
import { logRequests } from "./log-requests.ts";
import { observeRequests } from "./observe-requests.ts";
import { publishContract } from "./openapi/publish.ts";
import { type RequestHearer, receiveRequests } from "./reception.ts";
import { requestIds } from "./request-ids.ts";
import { type Retirement, retirementHeaders } from "./retirement.ts";
import { addOperations } from "./routes.ts";
import { Sockets } from "./sockets.ts";
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
  const nextId = requestIds(options.ports.random);
  const app = fastify({
    loggerInstance: new LazyLogger(() => options.logger),
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: "requestId" }),
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

  const hearers = hearersOf(app, options);
  const sockets = new Sockets(nextId, (...refusal) => {
    for (const hearer of hearers) hearer.refusedBare(...refusal);
  });
  sockets.watch(app.server);
  watchUnanswered(app.server, sockets);
  readBodiesAsJson(app);
  app.decorateRequest("caller", undefined);
  app.decorateRequest("refusedHolder", undefined);
  app.decorateRequest("outcome", undefined);
  app.decorateRequest("isDecided", false);
  receiveRequests(app, { sockets, hearers });
  const writes = new TurnWrites();
  app.addHook("onSend", (request, reply, _payload, done) => {
    request.isDecided = true;
    // Or the socket of an answered request would keep the process from ending.
    if (options.phase() === "closing") reply.header("connection", "close");
    writes.hold(done, (error) => {
      request.log.error({ err: error }, "an answer could not be written");
      reply.raw.destroy();
    });
  });
  app.setErrorHandler((error, request, reply) => {
    sendError(error, request, reply);
  });
  const { store } = options.ports;
  const recording = watchRecording(app, options.ports);
  addHealth(app, { store, recording, isDraining: () => options.phase() !== "serving" });

  publishContract(app, { ...options, provider: store.provider });
  const watched = { ...options, ports: { ...options.ports, recording } };
  for (const version of VERSIONS) {
    await app.register((scope) => addVersion(scope, version, watched), { prefix: options.prefix });
  }
  return { app, sockets };
}

function hearersOf(app: FastifyInstance, { ports: { clock, observer }, logLine }: AppOptions): RequestHearer[] {
  return [
    ...(logLine === undefined ? [] : [logRequests(app, { clock, write: logLine })]),
    ...(observer === undefined ? [] : [observeRequests(app, observer)]),
  ];
}

function watchRecording(app: FastifyInstance, { clock, observer }: Ports): Recording {
  const recording = new Recording({
    clock,
    onChange: (cause) => {
      tell(() => observer?.recordingChanged(recording.failsSince));
      if (cause === undefined) app.log.info("top-ups are recorded again");
      else app.log.warn({ cause }, "no top-up can be recorded");
    },
  });
  return recording;
}

async function addVersion(scope: FastifyInstance, version: Version, options: AppOptions): Promise<void> {
  announceRetirement(scope, version, options);
  authenticateRequests(scope, options);
  addOperations(scope, version, options.ports, options.lapsedDays);
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

function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const reason = reasonOf(error);
  if (reason === "internal_error") request.log.error({ err: error }, "a request failed");
  if (reason === "unavailable") request.log.warn({ cause: (error as Error).message }, "the store is unavailable");
  return sendFailure(reply, reason, { isTopUp: request.routeOptions.url?.endsWith(`/${TOP_UP_OPERATION}`) === true });
}

function reasonOf(error: unknown): FailureReason {
  if (error instanceof StoreUnavailable) return "unavailable";
  if (error instanceof MalformedBody) return "malformed_json";
  if (error instanceof UnsupportedBody) return "unsupported_media_type";
  const { code, statusCode = 500 } = error as Partial<FastifyError>;
  if (code === "FST_ERR_CTP_INVALID_MEDIA_TYPE") return "unsupported_media_type";
  if (code === "FST_ERR_CTP_BODY_TOO_LARGE") return "body_too_large";
  return statusCode < 500 ? "malformed_json" : "internal_error";
}
