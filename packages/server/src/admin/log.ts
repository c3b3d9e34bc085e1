import type { FastifyInstance } from "fastify";
import type { Instant } from "../domain/wall-time.ts";
import { countStrangers } from "../log.ts";

/**
 * One log line a request, but for those of nobody who is logged in, of which {@link countStrangers} writes. Of fields chosen one by one: no query and no body, so that no token, customer's name or mobile
 * number can come into it.
 * @param write takes one line of the log, its end included.
 */
export function logRequests(api: FastifyInstance, clock: () => Instant, write: (line: string) => void): void {
  const stranger = countStrangers(clock, write);
  api.addHook("onResponse", (request, reply, done) => {
    const { method, identity, outcome, routeOptions } = request;
    const fields = {
      ...{ level: "info", time: new Date(clock()).toISOString(), method, route: routeOptions.url },
      ...{ status: reply.statusCode, outcome, staff: identity?.name, ms: Math.round(reply.elapsedTime * 1000) / 1000 },
      msg: "request of staff",
    };
    const line = () => `${JSON.stringify(fields)}\n`;
    if (identity === undefined) stranger(line, outcome ?? "success");
    else write(line());
    done();
  });
}
