import fastifyCookie from "@fastify/cookie";
import fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from "fastify";
import type { AddressList } from "../../domain/address-list.ts";
import { HEAD_LIMITS, PortGuard } from "../../system/port-guard.ts";
import { compileCheck, sendProblem } from "./failures.ts";
import { Answers } from "./idempotency.ts";
import { receiveJson } from "./json-body.ts";
import { logRequests } from "./log.ts";
import { OpenSockets } from "./open-sockets.ts";
import { openApiDocument } from "./openapi.ts";
import { addRoute, type Serving } from "./operations.ts";
import { type AdminWorld, createAdminPorts } from "./ports.ts";
import { Problem } from "./problems.ts";
import type { Route } from "./route.ts";
import { ROUTES } from "./routes.ts";
import { isKnownHost, SECURITY_HEADERS } from "./security.ts";
import { isPage, serveConsoleFiles } from "./static.ts";
import { receiveFiles, type TemporaryFile } from "./uploads.ts";

export type { AdminWorld } from "./ports.ts";
export type { TemporaryFile } from "./uploads.ts";

export const API_PREFIX = "/api/v1";

const BODY_MAX_BYTES = 64 * 1024;
/** A file must have arrived in this time. */
const REQUEST_TIMEOUT_MS = 15 * 60_000;
/** Longer than the idle timeout of common proxies, so that it is they who close. */
const KEEP_ALIVE_TIMEOUT_MS = 75_000;
/** Names in paths are up to 64 characters, each of which may take a dozen when it is escaped. */
const PARAM_MAX_LENGTH = 1_000;

export interface AdminAppOptions {
  readonly world: AdminWorld;
  /** All, unless this says otherwise. */
  readonly routes?: readonly Route[];
  /** Whose word is taken on who calls, by which host and how. */
  readonly trustedProxies: AddressList | undefined;
  /** Host names by which it may be called, in lower case. */
  readonly consoleNames?: ReadonlySet<string> | undefined;
  /** Where the built console is; undefined where there is none. */
  readonly consoleFolder: string | undefined;
  readonly createTemporaryFile: () => TemporaryFile;
  /** Of a file that is sent. */
  readonly mostFileBytes?: number;
  readonly mostFileLines?: number;
  readonly logger: FastifyBaseLogger;
  /** Takes a line of the log for each request of the API; undefined where there is none to be. */
  readonly logLine: ((line: string) => void) | undefined;
}

/**
 * Builds the server of the staff API and the console: the only place that does, for serving and for tests alike. To close
 * it ends what goes on in the background.
 */
export async function buildAdminApp(options: AdminAppOptions): Promise<FastifyInstance> {
  const { routes = ROUTES, trustedProxies, logger, logLine } = options;
  const ports = createAdminPorts(options.world);
  const guard = new PortGuard(trustedProxies);
  // A library's words may quote what was sent: it has no log.
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
  app.addHook("onRequest", (_request, reply, done) => {
    reply.headers(SECURITY_HEADERS);
    done();
  });
  app.addHook("onRequest", (request, _reply, done) => {
    const isKnown = request.url === "/healthz" || isKnownHost(request, trustedProxies, options.consoleNames);
    done(isKnown ? undefined : new Problem("unknown_host"));
  });
  // Before the files that it reads are removed; and what a last request has begun.
  for (const hook of ["preClose", "onClose"] as const) app.addHook(hook, () => ports.background.end());
  // So that the first who looks need not wait.
  app.addHook("onListen", async () => ports.background.begin(() => ports.statistics.gather()));
  await app.register(fastifyCookie);
  app.get("/healthz", async () => ({ status: "ok" }));

  const sockets = new OpenSockets(ports);
  app.addHook("onListen", async () => ports.background.begin((ending) => sockets.watch(ending)));
  const serving: Serving = { ports, trustedProxies, answers: new Answers(ports), sockets };
  await app.register(
    async (api) => {
      for (const name of ["identity", "answerHash", "outcome"]) api.decorateRequest(name, undefined);
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
      for (const route of routes.filter(({ body }) => body !== "file")) addRoute(api, route, serving);
      await api.register(async (scope) => {
        const onRemoveError = (err: unknown) => logger.warn({ err }, "a file that was sent could not be removed");
        const { createTemporaryFile, mostFileBytes: mostBytes, mostFileLines: mostLines } = options;
        const makeRoom = (person: string) => ports.uploads.makeRoomFor(person);
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
