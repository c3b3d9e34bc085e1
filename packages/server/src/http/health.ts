import type { FastifyBaseLogger, FastifyInstance } from "fastify";
import type { ServiceState } from "../services/service-state.ts";
import { StoreUnavailable } from "../store/errors.ts";
import type { Store } from "../store/store.ts";

interface HealthOptions {
  readonly store: Pick<Store, "ping">;
  readonly state: Readonly<ServiceState>;
  readonly logger: FastifyBaseLogger;
  readonly isDraining: () => boolean;
}

/**
 * For the provider's own supervision, not for partners: `/healthz` says that the process lives,
 * `/readyz` that it should be sent requests. It should while only top-ups fail: look-ups still work.
 */
export function addHealth(app: FastifyInstance, { store, state, logger, isDraining }: HealthOptions): void {
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
    const { recordingFailsSince, clockSetBackFrom } = state;
    return reply.code(isAway ? 503 : 200).send({
      status: isAway ? "store away" : "ready",
      ...(recordingFailsSince !== undefined && { recordingFailsSince: new Date(recordingFailsSince).toISOString() }),
      ...(clockSetBackFrom !== undefined && { clockSetBackFrom: new Date(clockSetBackFrom).toISOString() }),
    });
  });
}

function describeTrouble(error: unknown): { cause: string } | { err: unknown } {
  // What else comes is a defect, whose words may quote what is stored.
  return error instanceof StoreUnavailable ? { cause: error.message } : { err: error };
}
