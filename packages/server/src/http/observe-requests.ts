import type { FastifyInstance } from "fastify";
import { type Observer, type ServedOperation, tell } from "../operations/observer.ts";
import type { RequestHearer } from "./reception.ts";

/**
 * Tells the observer of every request to an operation, and of every other that failed. Pages are left out: a
 * supervisor that asks for `/readyz` all day would drown the partners.
 */
export function observeRequests(app: FastifyInstance, observer: Observer): RequestHearer {
  const operations = new Map<string, ServedOperation>();
  app.addHook("onRoute", ({ url, method }) => {
    const [name, version] = url.split("/").reverse();
    if (method === "POST" && name !== undefined && version !== undefined) operations.set(url, { name, version });
  });
  return {
    ended: (request, reply, ending) => {
      const { raw, caller, outcome } = request;
      // Nearly always the path as it was sent: to ask for the route makes an object for every request.
      const operation = operations.get(raw.url ?? "") ?? operations.get(request.routeOptions.url ?? "");
      const became = ending === "gave_up" ? ending : outcome;
      if (operation === undefined && became === undefined) return;
      const success = reply.hasHeader("idempotent-replayed") ? "replayed" : "success";
      tell(() => observer.requestAnswered(operation, caller, became ?? success, reply.elapsedTime / 1000));
    },
    refusedBare: (reason) => tell(() => observer.requestAnswered(undefined, undefined, reason, 0)),
  };
}
