import type { FastifyInstance } from "fastify";
import type { Instant } from "../domain/wall-time.ts";

/**
 * One log line a request, of fields chosen one by one: no query and no body, so that no token, customer's name or mobile
 * number can come into it.
 * @param write takes one line of the log, its end included.
 */
export function logRequests(api: FastifyInstance, clock: () => Instant, write: (line: string) => void): void {
  api.addHook("onResponse", (request, reply, done) => {
    const { method, identity, outcome, routeOptions } = request;
    const line = {
      ...{ level: "info", time: new Date(clock()).toISOString(), method, route: routeOptions.url },
      ...{ status: reply.statusCode, outcome, staff: identity?.name, ms: Math.round(reply.elapsedTime * 1000) / 1000 },
      msg: "request of staff",
    };
    write(`${JSON.stringify(line)}\n`);
    done();
  });
}
