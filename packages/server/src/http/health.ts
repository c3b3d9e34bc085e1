import type { FastifyInstance } from "fastify";
import type { Store } from "../store/store.ts";

/**
 * For the provider's own supervision, not for partners: `/healthz` says that the process lives,
 * `/readyz` that it should be sent requests.
 */
export function addHealth(app: FastifyInstance, store: Pick<Store, "ping">, isDraining: () => boolean): void {
  app.get("/healthz", async () => ({ status: "ok" }));
  app.get("/readyz", async (_request, reply) => {
    if (isDraining()) return reply.code(503).send({ status: "shutting down" });
    try {
      await store.ping();
    } catch {
      return reply.code(503).send({ status: "store away" });
    }
    return { status: "ready" };
  });
}
