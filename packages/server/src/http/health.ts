import type { FastifyInstance } from "fastify";
import type { Recording } from "../operations/recording.ts";
import { StoreUnavailable } from "../store/errors.ts";
import type { Store } from "../store/store.ts";
import { asError } from "./as-error.ts";

/** What is asked of the rest of the service. */
interface HealthOptions {
  readonly store: Pick<Store, "ping">;
  readonly recording: Pick<Recording, "failsSince">;
  readonly isDraining: () => boolean;
}

/**
 * For the provider's own supervision, not for partners: `/healthz` says that the process lives,
 * `/readyz` that it should be sent requests. While no top-up can be recorded it should: look-ups still work.
 */
export function addHealth(app: FastifyInstance, { store, recording, isDraining }: HealthOptions): void {
  let wasAway = false;
  app.get("/healthz", async () => ({ status: "ok" }));
  app.get("/readyz", async (request, reply) => {
    if (isDraining()) return reply.code(503).send({ status: "shutting down" });
    const trouble = await troubleOf(store);
    // Where a proxy goes by this answer, no request comes whose failure would tell why.
    if (trouble === undefined && wasAway) app.log.info("the store is back");
    if (trouble !== undefined && !wasAway) app.log.warn(trouble, "the store is away");
    wasAway = trouble !== undefined;
    if (request.isDecided) return reply;
    const { failsSince } = recording;
    return reply.code(trouble === undefined ? 200 : 503).send({
      status: trouble === undefined ? "ready" : "store away",
      ...(failsSince !== undefined && { recordingFailsSince: new Date(failsSince).toISOString() }),
    });
  });
}

/** What is to be logged of it; undefined where the store answers. */
async function troubleOf(store: Pick<Store, "ping">): Promise<{ cause: string } | { err: Error } | undefined> {
  try {
    await store.ping();
    return undefined;
  } catch (error) {
    // What else comes is a defect, whose words may quote what is stored.
    return error instanceof StoreUnavailable ? { cause: error.message } : { err: asError(error) };
  }
}
