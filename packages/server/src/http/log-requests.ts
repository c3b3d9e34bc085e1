import type { FastifyInstance } from "fastify";

/**
 * One log line a request, of fields chosen one by one: no header, no body and no path that a caller
 * made up, so that no token, name or mobile number can come into it.
 */
export function logRequests(app: FastifyInstance): void {
  app.addHook("onResponse", (request, reply, done) => {
    request.log.info(
      {
        route: request.routeOptions.url,
        status: reply.statusCode,
        outcome: request.outcome,
        partner: request.caller?.partnerId,
        environment: request.caller?.environment,
        ms: Math.round(reply.elapsedTime * 1000) / 1000,
      },
      "request",
    );
    done();
  });
}
