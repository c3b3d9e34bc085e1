import type { FastifyInstance } from "fastify";
import type { Observer, ServedOperation } from "../operations/observer.ts";

/**
 * Tells the observer of every request to an operation, and of every other that failed. Pages are left out: a
 * supervisor that asks for `/readyz` all day would drown the partners.
 */
export function observeRequests(app: FastifyInstance, observer: Observer): void {
  const operations = new Map<string, ServedOperation>();
  app.addHook("onRoute", ({ url, method }) => {
    const [name, version] = url.split("/").reverse();
    if (method === "POST" && name !== undefined && version !== undefined) operations.set(url, { name, version });
  });
  app.addHook("onResponse", (request, reply, done) => {
    const { caller, outcome } = request;
    // Nearly always the path as it was sent: to ask for the route makes an object for every request.
    const operation = operations.get(request.raw.url ?? "") ?? operations.get(request.routeOptions.url ?? "");
    if (operation !== undefined || outcome !== undefined) {
      const success = reply.hasHeader("idempotent-replayed") ? "replayed" : "success";
      observer.requestAnswered(operation, caller, outcome ?? success, reply.elapsedTime / 1000);
    }
    done();
  });
}
