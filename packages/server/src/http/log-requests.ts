import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Instant } from "../domain/calendar.ts";
import { FAILURES } from "./failures.ts";
import type { Ending, RequestHearer } from "./reception.ts";

export interface RequestLogOptions {
  readonly clock: () => Instant;
  /** Takes one line of the log, its end included. */
  readonly write: (line: string) => void;
}

/**
 * One log line a request, of fields chosen one by one: no header, no body and no path that a caller
 * made up, so that no token, name or mobile number can come into it. It looks like a line of the logger's,
 * but is put together here: for what every request has to say, that takes a fraction of the time.
 */
export function logRequests(app: FastifyInstance, { clock, write }: RequestLogOptions): RequestHearer {
  const routes = new Map<string, string>();
  let time = "";
  let timeAt = Number.NaN;
  app.addHook("onRoute", ({ url }) => {
    routes.set(url, JSON.stringify(url));
  });
  const log = (requestId: string, what: string) => {
    const now = clock();
    if (now !== timeAt) {
      // Many lines share a millisecond, and to write it takes longer than all the rest.
      timeAt = now;
      time = new Date(now).toISOString();
    }
    write(`{"level":"info","time":"${time}","requestId":"${requestId}",${what},"msg":"request"}\n`);
  };
  return {
    ended: (request, reply, ending) => {
      const { url } = request.raw;
      const route = routes.get(url ?? "") ?? JSON.stringify(request.routeOptions.url);
      log(request.id, membersOf(request, reply, route, ending));
    },
    refusedBare: (reason, requestId) => log(requestId, `"status":${FAILURES[reason].status},"outcome":"${reason}"`),
  };
}

/** What may be in it is known to need no escaping, but for the route. */
function membersOf(
  { caller, refusedHolder, outcome }: FastifyRequest,
  { statusCode, elapsedTime }: FastifyReply,
  route: string | undefined,
  ending: Ending,
): string {
  const where = route === undefined ? "" : `"route":${route},`;
  const status = ending === "gave_up" ? "" : `"status":${statusCode}`;
  const became = ending === "gave_up" ? `"outcome":"gave_up"` : outcome === undefined ? "" : `,"outcome":"${outcome}"`;
  const holder = caller ?? refusedHolder;
  const who = holder === undefined ? "" : `,"partner":${holder.partnerId},"environment":"${holder.environment}"`;
  return `${where}${status}${became}${who},"ms":${Math.round(elapsedTime * 1000) / 1000}`;
}
