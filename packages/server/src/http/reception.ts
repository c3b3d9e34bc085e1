import type { IncomingMessage, ServerResponse } from "node:http";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { StoreUnavailable } from "../store/errors.ts";
import { FAILURES, type FailureReason, sendFailure } from "./failures.ts";
import type { HearBareRefusal, Sockets, TakenRequest } from "./sockets.ts";
import { ANSWERED_WITHIN_MS } from "./unanswered.ts";

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
  readonly hearers: readonly RequestHearer[];
}

/**
 * Receives every request before anything else is done with it, and sees it to its end. Each hook takes time of every
 * request, so that there is one at either end, and who wants to hear of the end is told by it.
 */
export function receiveRequests(app: FastifyInstance, { sockets, hearers }: Reception): void {
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
    // Node reads a request that wishes to speak another protocol as an ordinary one, since nobody listens for the wish,
    // but throws away what came in one piece with it. If the connection went on, whoever had sent a request there would
    // take the answer to the next one for its own: so it ends, and what has no answer is known to have none.
    if (request.headers.upgrade !== undefined) reply.header("connection", "close");
    if (!sockets.take(new ReceivedRequest(request, reply, end)))
      sendFailure(reply.header("connection", "close"), "rate_limited");
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

/** A request as its socket knows it. */
class ReceivedRequest implements TakenRequest {
  readonly #request: FastifyRequest;
  readonly #reply: FastifyReply;
  readonly #end: RequestHearer["ended"];
  refusal: FailureReason | undefined = undefined;

  constructor(request: FastifyRequest, reply: FastifyReply, end: RequestHearer["ended"]) {
    this.#request = request;
    this.#reply = reply;
    this.#end = end;
  }

  get id(): string {
    return this.#request.id;
  }

  get raw(): IncomingMessage {
    return this.#request.raw;
  }

  get answer(): ServerResponse {
    return this.#reply.raw;
  }

  get elapsedTime(): number {
    return this.#reply.elapsedTime;
  }

  closed(): void {
    // Of an answer that nobody waited for, or that is not its own, fastify tells nobody.
    if (this.#request.isAnswered) return;
    if (this.refusal !== undefined) {
      this.#request.outcome = this.refusal;
      this.#reply.code(FAILURES[this.refusal].status);
    }
    this.#end(this.#request, this.#reply, this.refusal === undefined ? "gave_up" : "answered");
  }

  overdue(): void {
    if (this.#request.isDecided) return;
    this.#reply.send(new StoreUnavailable(`the store did not answer within ${ANSWERED_WITHIN_MS / 1000} seconds`));
  }
}

function pathOf({ url }: FastifyRequest): string {
  const [path = ""] = url.split("?");
  return path;
}
