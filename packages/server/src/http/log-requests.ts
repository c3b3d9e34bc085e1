import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Instant } from "../domain/calendar.ts";
import type { HearEnding } from "./reception.ts";

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
export function logRequests(app: FastifyInstance, { clock, write }: RequestLogOptions): HearEnding {
  const routes = new Map<string, string>();
  let time = "";
  let timeAt = Number.NaN;
  app.addHook("onRoute", ({ url }) => {
    routes.set(url, JSON.stringify(url));
  });
  return (request, reply, ending) => {
    const { url } = request.raw;
    const route = routes.get(url ?? "") ?? JSON.stringify(request.routeOptions.url);
    const now = clock();
    if (now !== timeAt) {
      // Many lines share a millisecond, and to write it takes longer than all the rest.
      timeAt = now;
      time = new Date(now).toISOString();
    }
    write(
      lineOf(request, reply, route, time, ending === "answered" ? answerOf(request, reply) : '"outcome":"gave_up"'),
    );
  };
}

function answerOf({ outcome }: FastifyRequest, { statusCode }: FastifyReply): string {
  return `"status":${statusCode}${outcome === undefined ? "" : `,"outcome":"${outcome}"`}`;
}

/** What may be in it is known to need no escaping, but for the route. */
function lineOf(
  { id, caller, refusedHolder }: FastifyRequest,
  reply: FastifyReply,
  route: string | undefined,
  time: string,
  what: string,
): string {
  const where = route === undefined ? "" : `,"route":${route}`;
  const holder = caller ?? refusedHolder;
  const who = holder === undefined ? "" : `,"partner":${holder.partnerId},"environment":"${holder.environment}"`;
  const ms = Math.round(reply.elapsedTime * 1000) / 1000;
  return `{"level":"info","time":"${time}","requestId":"${id}"${where},${what}${who},"ms":${ms},"msg":"request"}\n`;
}
