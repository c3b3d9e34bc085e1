import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type Observer, type ServedOperation, tell } from "../operations/observer.ts";

/**
 * Tells the observer of every request to an operation, and of every other that failed. Pages are left out: a
 * supervisor that asks for `/readyz` all day would drown the partners.
 * @returns what is to be called for a request whose caller has left.
 */
export function observeRequests(
  app: FastifyInstance,
  observer: Observer,
): (request: FastifyRequest, reply: FastifyReply) => void {
  const operations = new Map<string, ServedOperation>();
  app.addHook("onRoute", ({ url, method }) => {
    const [name, version] = url.split("/").reverse();
    if (method === "POST" && name !== undefined && version !== undefined) operations.set(url, { name, version });
  });
  const observe = ({ raw, routeOptions, caller }: FastifyRequest, reply: FastifyReply, outcome: string | undefined) => {
    // Nearly always the path as it was sent: to ask for the route makes an object for every request.
    const operation = operations.get(raw.url ?? "") ?? operations.get(routeOptions.url ?? "");
    if (operation !== undefined || outcome !== undefined) {
      const success = reply.hasHeader("idempotent-replayed") ? "replayed" : "success";
      tell(() => observer.requestAnswered(operation, caller, outcome ?? success, reply.elapsedTime / 1000));
    }
  };
  app.addHook("onResponse", (request, reply, done) => {
    observe(request, reply, request.outcome);
    done();
  });
  return (request, reply) => observe(request, reply, "gave_up");
}
