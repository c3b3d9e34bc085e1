import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { ServedOperation } from "../services/partner/observer.ts";
import { FAILURES, type FailureReason, sendFailure } from "./failures.ts";
import { Sockets } from "./sockets.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Whether its answer is on its way, perhaps since it took too long: what it comes to after that is not sent. */
    isDecided: boolean;
    /** Whether the whole answer has been written. */
    isAnswered: boolean;
    /** Why the request failed, for the log. */
    outcome: string | undefined;
  }
}

/**
 * How a request ended: its whole answer was written, or its caller had left before. Who has left looks like who has only
 * closed its own direction, and counts as gone: the answer is written, but most of those who close early do not read it.
 */
export type Ending = "answered" | "gave_up";

/** A path that is served. */
export interface Route {
  readonly url: string;
  /** Undefined for pages. */
  readonly operation: ServedOperation | undefined;
}

/** Who hears of what became of requests. */
export interface RequestHearer {
  /**
   * Of every request, once, when it has ended.
   * @param route undefined where the path is none that is served.
   */
  readonly ended: (request: FastifyRequest, reply: FastifyReply, ending: Ending, route: Route | undefined) => void;
  /** Of bytes that were answered, and are no request. */
  readonly refusedBare: (reason: FailureReason, requestId: string) => void;
}

/**
 * Receives every request before anything else is done with it, and sees it to its end. Each hook takes time of every
 * request, so that there is one at either end, and who wants to hear of the end is told by it.
 */
export function receiveRequests(
  app: FastifyInstance,
  nextId: () => string,
  hearers: readonly RequestHearer[],
): Sockets {
  const routes = new Map<string, Route>();
  app.addHook("onRoute", ({ url, method }) => {
    const [name = "", version = ""] = url.split("/").reverse();
    routes.set(url, { url, operation: method === "POST" ? { name, version } : undefined });
  });
  const end = (request: FastifyRequest, reply: FastifyReply, ending: Ending) => {
    // Nearly always the path as it was sent: to ask for the route makes an object for every request.
    const route = routes.get(request.raw.url ?? "") ?? routes.get(request.routeOptions.url ?? "");
    for (const hearer of hearers) hearer.ended(request, reply, ending, route);
  };
  const sockets = new Sockets(nextId, {
    refusedBare: (...what) => {
      for (const hearer of hearers) hearer.refusedBare(...what);
    },
    // Of an answer that nobody waited for, or that is not its own, fastify tells nobody.
    closed: ({ request, reply, refusal }) => {
      if (request.isAnswered) return;
      if (refusal !== undefined) {
        request.outcome = refusal;
        reply.code(FAILURES[refusal].status);
      }
      end(request, reply, refusal === undefined ? "gave_up" : "answered");
    },
  });
  sockets.watch(app.server);
  for (const name of ["isDecided", "isAnswered"]) app.decorateRequest(name, false);
  app.decorateRequest("outcome", undefined);
  // Hooks that have nothing to wait for are called back, and not promised: they run for every request.
  app.addHook("onRequest", (request, reply, done) => {
    reply.header("x-request-id", request.id);
    // Node reads a request that wishes to speak another protocol as an ordinary one, since nobody listens for the wish,
    // but throws away what came in one piece with it. If the connection went on, whoever had sent a request there would
    // take the answer to the next one for its own: so it ends, and what has no answer is known to have none.
    if (request.headers.upgrade !== undefined) reply.header("connection", "close");
    if (!sockets.take(request, reply)) sendFailure(reply.header("connection", "close"), "rate_limited");
    // Here and not in a not-found handler, which would have the body parsed first.
    else if (request.is404) {
      const [path = ""] = request.url.split("?");
      sendFailure(reply, routes.get(path)?.operation === undefined ? "unknown_operation" : "method_not_allowed");
    } else done();
  });
  app.addHook("onResponse", (request, reply, done) => {
    request.isAnswered = true;
    end(request, reply, request.raw.socket.readableEnded ? "gave_up" : "answered");
    done();
  });
  return sockets;
}
