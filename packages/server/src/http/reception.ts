import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { FAILURES, sendFailure } from "./failures.ts";
import type { HearBareRefusal, Sockets } from "./sockets.ts";
import type { Unanswered } from "./unanswered.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Whether the whole answer has been written. */
    isAnswered: boolean;
  }
}

/**
 * How a request ended: its whole answer was written, or its caller had left before. Who has left looks like who has only
 * closed its own direction, and counts as gone: the answer is written, but most of those who close early do not read it.
 */
export type Ending = "answered" | "gave_up";

/** Who hears of what became of requests. */
export interface RequestHearer {
  /** Of every request, once, when it has ended. */
  readonly ended: (request: FastifyRequest, reply: FastifyReply, ending: Ending) => void;
  /** Of bytes that were answered, and are no request. */
  readonly refusedBare: HearBareRefusal;
}

export interface Reception {
  readonly sockets: Pick<Sockets, "take">;
  /** Has every request until its answer is given, or its caller has left. */
  readonly unanswered: Unanswered;
  readonly hearers: readonly RequestHearer[];
}

/**
 * Receives every request before anything else is done with it, and sees it to its end. Each hook takes time of every
 * request, so that there is one at either end, and who wants to hear of the end is told by it.
 */
export function receiveRequests(app: FastifyInstance, { sockets, unanswered, hearers }: Reception): void {
  const operations = new Set<string>();
  app.addHook("onRoute", ({ url, method }) => {
    if (method === "POST") operations.add(url);
  });
  app.decorateRequest("isAnswered", false);
  const end: RequestHearer["ended"] = (...what) => {
    for (const hearer of hearers) hearer.ended(...what);
  };
  // Hooks that have nothing to wait for are called back, and not promised: they run for every request.
  app.addHook("onRequest", (request, reply, done) => {
    reply.header("x-request-id", request.id);
    unanswered.add(reply);
    const isTaken = sockets.take(request.id, request.raw, reply.raw, (refusal) => {
      // Of an answer that nobody waited for, or that is not its own, fastify tells nobody.
      if (request.isAnswered) return;
      unanswered.delete(reply);
      if (refusal !== undefined) {
        request.outcome = refusal;
        reply.code(FAILURES[refusal].status);
      }
      end(request, reply, refusal === undefined ? "gave_up" : "answered");
    });
    if (!isTaken) sendFailure(reply, "rate_limited");
    // Here and not in a not-found handler, which would have the body parsed first.
    else if (request.is404)
      sendFailure(reply, operations.has(pathOf(request)) ? "method_not_allowed" : "unknown_operation");
    else done();
  });
  app.addHook("onResponse", (request, reply, done) => {
    request.isAnswered = true;
    end(request, reply, request.raw.socket.readableEnded ? "gave_up" : "answered");
    done();
  });
}

function pathOf({ url }: FastifyRequest): string {
  const [path = ""] = url.split("?");
  return path;
}
