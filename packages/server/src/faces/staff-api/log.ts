import type { FastifyInstance } from "fastify";
import { type Instant, isoTime } from "../../domain/wall-time.ts";
import { logUnauthenticated } from "../../system/log.ts";

/**
 * Writes one log line for each request. Requests without a valid log-in or key are summed up, see
 * {@link logUnauthenticated}; the API's description, which needs neither, has no line.
 *
 * Fields are chosen one by one: no query and no body, so that no token, customer's name or mobile number can come into
 * the log.
 * @param write takes one line of the log, its end included.
 */
export function logRequests(api: FastifyInstance, clock: () => Instant, write: (line: string) => void): void {
  const unauthenticated = logUnauthenticated(clock, write);
  api.addHook("onResponse", (request, reply, done) => {
    const { method, identity, outcome, routeOptions } = request;
    const fields = {
      ...{ level: "info", time: isoTime(clock()), method, route: routeOptions.url },
      ...{ status: reply.statusCode, outcome, staff: identity?.name, ms: Math.round(reply.elapsedTime * 1000) / 1000 },
      msg: "request of staff",
    };
    const line = () => `${JSON.stringify(fields)}\n`;
    const isLogIn = method === "POST" && outcome === undefined;
    if (identity !== undefined || isLogIn || reply.statusCode >= 500) write(line());
    else if (outcome !== undefined) unauthenticated(line, outcome);
    done();
  });
}
