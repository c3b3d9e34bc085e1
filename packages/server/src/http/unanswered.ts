import type { Server } from "node:http";
import { StoreUnavailable } from "../store/errors.ts";
import type { Sockets } from "./sockets.ts";

/** Less than the 30 seconds that partners are told to wait at least, with time for the way there and back. */
export const ANSWERED_WITHIN_MS = 25_000;
/** How often is looked for those who have waited too long. */
export const LOOKING_EVERY_MS = 500;

/**
 * Sees to it that nobody waits too long for an answer. A store has bounds of its own, but none that holds for a disk that
 * hangs, and a request may wait behind others. One look at all of them, now and then: a timer of each, or a set that
 * each joins and leaves, would take time of every request, and memory.
 */
export function watchUnanswered(server: Server, sockets: Pick<Sockets, "inHand">): void {
  server.on("listening", () => {
    const looking = setInterval(() => lookAt(sockets), LOOKING_EVERY_MS).unref();
    server.once("close", () => clearInterval(looking));
  });
}

function lookAt(sockets: Pick<Sockets, "inHand">): void {
  for (const { request, reply } of sockets.inHand()) {
    // What has not arrived whole waits for its caller, and has a deadline of its own.
    const isWaiting = request.raw.complete && !request.isDecided;
    if (isWaiting && reply.elapsedTime >= ANSWERED_WITHIN_MS)
      reply.send(new StoreUnavailable(`the store did not answer within ${ANSWERED_WITHIN_MS / 1000} seconds`));
  }
}
