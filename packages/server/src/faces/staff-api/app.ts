import { existsSync } from "node:fs";
import { join } from "node:path";
import fastifyCookie from "@fastify/cookie";
import fastifyStatic from "@fastify/static";
import fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from "fastify";
import type { AddressList } from "../../domain/address-list.ts";
import { type Instant, isoTime } from "../../domain/wall-time.ts";
import { keepBulk } from "../../office/bulk/keep.ts";
import { Uploads } from "../../office/imports/uploads.ts";
import { logUnauthenticated } from "../../system/log.ts";
import { HEAD_LIMITS, PortGuard, STRICT_TRANSPORT, YEAR_SECONDS } from "../../system/port-guard.ts";
import { receiveFiles, receiveJson, type TemporaryFile } from "./bodies.ts";
import { Answers } from "./idempotency.ts";
import { addIssuerRoutes } from "./issuer-routes.ts";
import { openApiDocument } from "./openapi.ts";
import { addRoute, type Serving } from "./operations.ts";
import { type AdminWorld, createAdminPorts } from "./ports.ts";
import { compileCheck, Problem, sendProblem } from "./problems.ts";
import type { Route } from "./route.ts";
import { ROUTES } from "./routes.ts";
import { isKnownHost, isSecure, OpenSockets, SECURITY_HEADERS } from "./security.ts";

export type { TemporaryFile } from "./bodies.ts";
export type { AdminWorld } from "./ports.ts";

export const API_PREFIX = "/api/v1";

const BODY_MAX_BYTES = 64 * 1024;
/** Maximum time until a whole request, such as a file, has arrived. */
const REQUEST_TIMEOUT_MS = 15 * 60_000;
/** Longer than the idle timeout of common proxies, so that the proxy closes first. */
const KEEP_ALIVE_TIMEOUT_MS = 75_000;
/** Names in paths have up to 64 characters, each of up to 12 bytes when escaped. */
const PARAM_MAX_LENGTH = 1_000;

const COOKIE_SECRET_BYTES = 32;

/** Folder of files whose names contain a hash of their contents. */
const ASSETS = "assets";

export interface AdminAppOptions {
  readonly world: AdminWorld;
  /** Default: all routes. */
  readonly routes?: readonly Route[];
  /** Proxies trusted to report the caller's address, host and protocol; undefined means none. */
  readonly trustedProxies: AddressList | undefined;
  /** Host names of the console, in lower case. */
  readonly consoleNames?: ReadonlySet<string> | undefined;
  /** Folder of the built console; undefined if there is none. */
  readonly consoleFolder: string | undefined;
  readonly createTemporaryFile: () => TemporaryFile;
  /** Limits of a sent file. */
  readonly mostFileBytes?: number;
  readonly mostFileLines?: number;
  readonly logger: FastifyBaseLogger;
  /** Writes a log line for each request of the API; undefined if these are not logged. */
  readonly logLine: ((line: string) => void) | undefined;
}

/** Builds the server of the staff API and the console, for serving and for tests. Closing it ends background work. */
export async function buildAdminApp(options: AdminAppOptions): Promise<FastifyInstance> {
  const { routes = ROUTES, trustedProxies, logger, logLine } = options;
  const ports = createAdminPorts(options.world);
  const guard = new PortGuard(trustedProxies);
  // Fastify has no logger, since a library's messages may quote secrets of a request.
  const app = fastify({
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: BODY_MAX_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    return503OnClosing: false,
    exposeHeadRoutes: false,
    routerOptions: { maxParamLength: PARAM_MAX_LENGTH },
    clientErrorHandler: guard.onClientError,
    http: HEAD_LIMITS,
  }) as unknown as FastifyInstance;
  guard.watch(app.server);
  app.setValidatorCompiler(compileCheck);
  app.setErrorHandler((error, _request, reply) => sendProblem(reply, error, logger));
  app.addHook("onRequest", (request, reply, done) => {
    reply.headers(SECURITY_HEADERS);
    if (isSecure(request, trustedProxies)) reply.header(...STRICT_TRANSPORT);
    done();
  });
  app.addHook("onRequest", (request, _reply, done) => {
    const isKnown = request.url === "/healthz" || isKnownHost(request, trustedProxies, options.consoleNames);
    done(isKnown ? undefined : new Problem("unknown_host"));
  });
  // Work ends before its files are removed. The second call ends work that a last request started.
  for (const hook of ["preClose", "onClose"] as const) app.addHook(hook, () => ports.background.end());
  const goOn = async (work: (ending: AbortSignal) => Promise<void>) => ports.background.begin(work);
  if (!ports.isCounter)
    app.addHook("onListen", async () => ports.background.begin((ending) => keepBulk({ ...ports, goOn }, ending)));
  // Signs what lasts minutes: a log-in with the issuer that is under way at a restart begins again.
  await app.register(fastifyCookie, { secret: Buffer.from(ports.random(COOKIE_SECRET_BYTES)) });
  app.get("/healthz", async () => ({ status: "ok" }));

  const sockets = new OpenSockets(ports);
  app.addHook("onListen", async () => ports.background.begin((ending) => sockets.keepChecking(ending)));
  const serving: Serving = { ports, trustedProxies, answers: new Answers(ports), sockets };
  await app.register(
    async (api) => {
      for (const name of ["identity", "receiver", "answerHash", "outcome"]) api.decorateRequest(name, undefined);
      api.removeContentTypeParser("text/plain");
      receiveJson(api);
      if (logLine !== undefined) logRequests(api, ports.clock, logLine);
      api.addHook("onRequest", (_request, reply, done) => {
        reply.header("cache-control", "no-store");
        done();
      });
      const { version } = ports;
      let document: object | undefined;
      api.get("/openapi.json", async () => {
        document ??= openApiDocument(routes, { version, prefix: API_PREFIX });
        return document;
      });
      if (ports.issuer !== undefined) addIssuerRoutes(api, { ...serving, issuer: ports.issuer }, API_PREFIX);
      for (const route of routes.filter(({ body }) => body !== "file")) addRoute(api, route, serving);
      await api.register(async (scope) => {
        const onRemoveError = (err: unknown) => logger.warn({ err }, "a file that was sent could not be removed");
        const { createTemporaryFile, mostFileBytes: mostBytes, mostFileLines: mostLines } = options;
        const makeRoom = (person: string) => ports.single(Uploads).makeRoomFor(person);
        receiveFiles(scope, { createTemporaryFile, mostBytes, mostLines, makeRoom, onRemoveError });
        for (const route of routes.filter(({ body }) => body === "file")) addRoute(scope, route, serving);
      });
    },
    { prefix: API_PREFIX },
  );

  const hasConsole = await serveConsoleFiles(app, options.consoleFolder);
  app.setNotFoundHandler((request, reply) => {
    if (hasConsole && !request.url.startsWith("/api/") && isPage(request)) return reply.sendFile("index.html");
    return sendProblem(reply, new Problem("not_found"), logger);
  });
  return app;
}

/**
 * Writes one log line for each request. Requests without a valid log-in or key are summed up, see
 * {@link logUnauthenticated}. The API's description has no line. Query and body are never logged, since they contain
 * secrets and customers' data.
 * @param write gets one line with its newline.
 */
function logRequests(api: FastifyInstance, clock: () => Instant, write: (line: string) => void): void {
  const unauthenticated = logUnauthenticated(clock, write);
  api.addHook("onResponse", (request, reply, done) => {
    const { method, identity, outcome, routeOptions } = request;
    const fields = {
      level: "info",
      time: isoTime(clock()),
      method,
      route: routeOptions.url,
      status: reply.statusCode,
      outcome,
      staff: identity?.name,
      ms: Math.round(reply.elapsedTime * 1000) / 1000,
      msg: "request of staff",
    };
    const line = () => `${JSON.stringify(fields)}\n`;
    const isLogIn = method === "POST" && outcome === undefined;
    if (identity !== undefined || isLogIn || reply.statusCode >= 500) write(line());
    else if (outcome !== undefined) unauthenticated(line, outcome);
    done();
  });
}

/** Serves the files of the built console. @returns false if there is no built console. */
async function serveConsoleFiles(app: FastifyInstance, folder: string | undefined): Promise<boolean> {
  if (folder === undefined || !existsSync(join(folder, "index.html"))) return false;
  await app.register(fastifyStatic, {
    root: folder,
    preCompressed: true,
    cacheControl: false,
    setHeaders: (reply, path) => {
      const isAsset = path.startsWith(join(folder, ASSETS));
      reply.setHeader("cache-control", isAsset ? `public, max-age=${YEAR_SECONDS}, immutable` : "no-cache");
    },
  });
  return true;
}

/** Whether a path without a file is a page of the console. All pages are in one document. */
function isPage({ url, method }: { readonly url: string; readonly method: string }): boolean {
  return (method === "GET" || method === "HEAD") && !url.startsWith(`/${ASSETS}/`);
}
