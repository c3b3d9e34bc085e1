import type { FastifyBaseLogger, FastifyInstance } from "fastify";
import type { Instant } from "../domain/wall-time.ts";
import { StoreUnavailable } from "../store/errors.ts";
import type { Store } from "../store/store.ts";

interface HealthOptions {
  readonly store: Pick<Store, "ping">;
  /** Since when no top-up can be recorded. */
  readonly failsSince: () => Instant | undefined;
  readonly logger: FastifyBaseLogger;
  readonly isDraining: () => boolean;
}

/**
 * For the provider's own supervision, not for partners: `/healthz` says that the process lives,
 * `/readyz` that it should be sent requests. While no top-up can be recorded it should: look-ups still work.
 */
export function addHealth(app: FastifyInstance, { store, failsSince, logger, isDraining }: HealthOptions): void {
  let wasAway = false;
  app.get("/healthz", async () => ({ status: "ok" }));
  app.get("/readyz", async (request, reply) => {
    if (isDraining()) return reply.code(503).send({ status: "shutting down" });
    const trouble = await store.ping().then(() => undefined, describeTrouble);
    const isAway = trouble !== undefined;
    // Where a proxy goes by this answer, no request comes whose failure would tell why.
    if (wasAway && !isAway) logger.info("the store is back");
    if (isAway && !wasAway) logger.warn(trouble, "the store is away");
    wasAway = isAway;
    if (request.isDecided) return reply;
    const since = failsSince();
    return reply.code(isAway ? 503 : 200).send({
      status: isAway ? "store away" : "ready",
      ...(since !== undefined && { recordingFailsSince: new Date(since).toISOString() }),
    });
  });
}

function describeTrouble(error: unknown): { cause: string } | { err: unknown } {
  // What else comes is a defect, whose words may quote what is stored.
  return error instanceof StoreUnavailable ? { cause: error.message } : { err: error };
}
