import type { FastifyInstance } from "fastify";
import type { Store } from "../store/store.ts";

/**
 * For the provider's own supervision, not for partners: `/healthz` says that the process lives,
 * `/readyz` that it should be sent requests.
 */
export function addHealth(app: FastifyInstance, store: Pick<Store, "ping">, isDraining: () => boolean): void {
  let wasAway = false;
  app.get("/healthz", async () => ({ status: "ok" }));
  app.get("/readyz", async (_request, reply) => {
    if (isDraining()) return reply.code(503).send({ status: "shutting down" });
    const trouble = await troubleOf(store);
    // Where a proxy goes by this answer, no request comes whose failure would tell why.
    if (trouble === undefined && wasAway) app.log.info("the store is back");
    if (trouble !== undefined && !wasAway) app.log.warn({ cause: trouble }, "the store is away");
    wasAway = trouble !== undefined;
    return trouble === undefined ? { status: "ready" } : reply.code(503).send({ status: "store away" });
  });
}

async function troubleOf(store: Pick<Store, "ping">): Promise<string | undefined> {
  try {
    await store.ping();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
