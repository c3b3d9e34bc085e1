import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { ServedOperation } from "../services/partner/observer.ts";
import { StoreUnavailable } from "../store/errors.ts";
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
    /** Whether too many top-ups wait, and nothing of the request was read. */
    isTurnedAway: boolean;
  }
}

/** Less than the 30 seconds that partners are told to wait at least, with time for the way there and back. */
export const ANSWERED_WITHIN_MS = 25_000;
/** How often is looked for those who have waited too long. */
export const LOOKING_EVERY_MS = 500;

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

export interface ReceptionOptions {
  readonly nextId: () => string;
  readonly hearers: readonly RequestHearer[];
  /** Whether every socket ends after its answer. */
  readonly isClosing: () => boolean;
  readonly onWriteError: (request: FastifyRequest, error: unknown) => void;
}

/**
 * Receives every request before anything else is done with it, and sees it to its end. Each hook takes time of every
 * request, so that there is one for each step, and who wants to hear of the end is told by it.
 */
export function receiveRequests(
  app: FastifyInstance,
  { nextId, hearers, isClosing, onWriteError }: ReceptionOptions,
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
  app.decorateRequest("isTurnedAway", false);
  // Hooks that have nothing to wait for are called back, and not promised: they run for every request.
  app.addHook("onRequest", (request, reply, done) => {
    reply.header("x-request-id", request.id);
    // Of a request that wishes to speak another protocol, Node throws away what came in one piece with it. If the
    // connection went on, whoever had sent a request there would take the answer to the next one for its own.
    if (request.headers.upgrade !== undefined) reply.header("connection", "close");
    if (!sockets.take(request, reply)) sendFailure(reply.header("connection", "close"), "rate_limited");
    // Here and not in a not-found handler, which would have the body parsed first.
    else if (request.is404) {
      const [path = ""] = request.url.split("?");
      sendFailure(reply, routes.get(path)?.operation === undefined ? "unknown_operation" : "method_not_allowed");
    } else done();
  });
  const writes = new TurnWrites();
  app.addHook("onSend", (request, reply, _payload, done) => {
    request.isDecided = true;
    // Or the socket of an answered request would keep the process from ending.
    if (isClosing()) reply.header("connection", "close");
    writes.hold(done, (error) => {
      onWriteError(request, error);
      reply.raw.destroy();
    });
  });
  app.addHook("onResponse", (request, reply, done) => {
    request.isAnswered = true;
    end(request, reply, request.raw.socket.readableEnded ? "gave_up" : "answered");
    done();
  });
  watchUnanswered(app, sockets);
  return sockets;
}

interface HeldWrite {
  readonly write: () => void;
  readonly onError: (error: unknown) => void;
}

/**
 * Holds back the answers that are ready in one turn of the event loop, and lets them go together at its end. Written one
 * by one, each would wake its reader by itself, which costs the machine more than the answer did. An answer that is alone
 * leaves with the very turn that made it.
 */
export class TurnWrites {
  #held: HeldWrite[] = [];

  /** @param onError hears of it where the write throws: the others' answers go out all the same. */
  hold(write: () => void, onError: (error: unknown) => void): void {
    if (this.#held.push({ write, onError }) === 1) setImmediate(() => this.#release());
  }

  #release(): void {
    const held = this.#held;
    this.#held = [];
    for (const { write, onError } of held) {
      try {
        write();
      } catch (error) {
        onError(error);
      }
    }
  }
}

/**
 * Sees to it that nobody waits too long for an answer: a store has bounds of its own, but none for a disk that hangs. One
 * look at all of them, now and then: a timer of each would take time of every request.
 */
function watchUnanswered({ server }: FastifyInstance, sockets: Sockets): void {
  server.on("listening", () => {
    const looking = setInterval(() => answerLate(sockets), LOOKING_EVERY_MS).unref();
    server.once("close", () => clearInterval(looking));
  });
}

function answerLate(sockets: Sockets): void {
  for (const { request, reply } of sockets.inHand()) {
    // What has not arrived whole waits for its caller, and has a deadline of its own.
    const isWaiting = request.raw.complete && !request.isDecided;
    if (isWaiting && reply.elapsedTime >= ANSWERED_WITHIN_MS)
      reply.send(new StoreUnavailable(`the store did not answer within ${ANSWERED_WITHIN_MS / 1000} seconds`));
  }
}

const ID_BYTES = 9;
const IDS_AT_ONCE = 256;

/** Makes ids of 72 random bits, which tell nobody how many requests there are. They are drawn for many requests at once. */
export function requestIds(random: (bytes: number) => Uint8Array): () => string {
  let drawn = Buffer.alloc(0);
  let used = 0;
  return () => {
    if (used === drawn.length) {
      drawn = Buffer.from(random(ID_BYTES * IDS_AT_ONCE));
      used = 0;
    }
    used += ID_BYTES;
    return drawn.toString("hex", used - ID_BYTES, used);
  };
}
