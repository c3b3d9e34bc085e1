import type { FastifyReply } from "fastify";
import { StoreUnavailable } from "../store/errors.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Whether it was answered before it was done, since that took too long: what it comes to yet is not sent. */
    isOverdue: boolean;
  }
}

/** Less than the 30 seconds that partners are told to wait at least, with time for the way there and back. */
export const ANSWERED_WITHIN_MS = 25_000;
/** How often is looked for those who have waited too long. */
export const LOOKING_EVERY_MS = 500;

/**
 * The requests that have no answer yet. A store has bounds of its own, but none that holds for a disk that hangs, and a
 * request may wait behind others: whoever has waited long enough is told that the store is unavailable, and what was
 * asked of it goes on.
 */
export class Unanswered {
  /** Those that came first, first. */
  readonly #replies = new Set<FastifyReply>();
  #isLooking = false;

  add(reply: FastifyReply): void {
    this.#replies.add(reply);
    // One timer for all: each request's own would take time of each.
    if (!this.#isLooking) this.#lookSoon();
  }

  delete(reply: FastifyReply): void {
    this.#replies.delete(reply);
  }

  #lookSoon(): void {
    this.#isLooking = true;
    setTimeout(() => {
      this.#isLooking = false;
      this.#look();
      if (this.#replies.size > 0) this.#lookSoon();
    }, LOOKING_EVERY_MS).unref();
  }

  #look(): void {
    for (const reply of this.#replies) {
      if (reply.elapsedTime < ANSWERED_WITHIN_MS) return;
      // What has not arrived whole waits for its caller, and has a deadline of its own.
      if (reply.request.raw.complete === false) continue;
      this.#replies.delete(reply);
      reply.request.isOverdue = true;
      reply.send(new StoreUnavailable(`the store did not answer within ${ANSWERED_WITHIN_MS / 1000} seconds`));
    }
  }
}
