import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { sendFailure } from "./failures.ts";
import type { Sockets } from "./sockets.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Whether the whole answer has been written. */
    isAnswered: boolean;
  }
}

/** How a request ended: its whole answer was written, or its caller had left before. */
export type Ending = "answered" | "gave_up";

/** Hears of every request, once, when it has ended. */
export type HearEnding = (request: FastifyRequest, reply: FastifyReply, ending: Ending) => void;

/**
 * Receives every request before anything else is done with it, and sees it to its end. Each hook takes time of every
 * request, so that there is one at either end, and who wants to hear of the end is told by it.
 * @returns what adds somebody who is to hear.
 */
export function receiveRequests(app: FastifyInstance, sockets: Pick<Sockets, "take">): (hear: HearEnding) => void {
  const hearers: HearEnding[] = [];
  const operations = new Set<string>();
  app.addHook("onRoute", ({ url, method }) => {
    if (method === "POST") operations.add(url);
  });
  app.decorateRequest("isAnswered", false);
  const end: HearEnding = (...what) => {
    for (const hear of hearers) hear(...what);
  };
  // Hooks that have nothing to wait for are called back, and not promised: they run for every request.
  app.addHook("onRequest", (request, reply, done) => {
    reply.header("x-request-id", request.id);
    const isTaken = sockets.take(request.raw, reply.raw, () => {
      // Of an answer that nobody waited for, fastify tells nobody.
      if (!request.isAnswered) end(request, reply, "gave_up");
    });
    if (!isTaken) sendFailure(reply, "rate_limited");
    // Here and not in a not-found handler, which would have the body parsed first.
    else if (request.is404)
      sendFailure(reply, operations.has(pathOf(request)) ? "method_not_allowed" : "unknown_operation");
    else done();
  });
  app.addHook("onResponse", (request, reply, done) => {
    request.isAnswered = true;
    end(request, reply, "answered");
    done();
  });
  return (hear) => hearers.push(hear);
}

function pathOf({ url }: FastifyRequest): string {
  const [path = ""] = url.split("?");
  return path;
}
