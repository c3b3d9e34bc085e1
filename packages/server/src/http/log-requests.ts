import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Instant } from "../domain/calendar.ts";
import { looksIssued } from "../domain/checkout.ts";
import type { Caller } from "../operations/ports.ts";
import { TOP_UP_OPERATION } from "./contract.ts";
import { FAILURES } from "./failures.ts";
import type { Ending, RequestHearer } from "./reception.ts";

/** As a route is written in a line, in quotes. */
const TOP_UP_ROUTE_END = `/${TOP_UP_OPERATION}"`;

export interface RequestLogOptions {
  readonly clock: () => Instant;
  /** Takes one line of the log, its end included. */
  readonly write: (line: string) => void;
}

/**
 * One log line a request, of fields chosen one by one: no header, no path that a caller made up, and of a body nothing but
 * what has the form of a checkoutId, so that no token, customer's name or mobile number can come into it. It looks like a line of the logger's,
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

/** What may be in it is known to need no escaping, but for the route and the partner's name. */
function membersOf(
  { caller, refusedHolder, outcome, body }: FastifyRequest,
  { statusCode, elapsedTime }: FastifyReply,
  route: string | undefined,
  ending: Ending,
): string {
  const where = route === undefined ? "" : `"route":${route},`;
  const status = ending === "gave_up" ? "" : `"status":${statusCode}`;
  const became = ending === "gave_up" ? `"outcome":"gave_up"` : outcome === undefined ? "" : `,"outcome":"${outcome}"`;
  const holder = caller ?? refusedHolder;
  const who = holder === undefined ? "" : `,"partner":${holder.partnerId},"environment":"${holder.environment}"`;
  const what = caller !== undefined && route?.endsWith(TOP_UP_ROUTE_END) === true ? topUpMembers(caller, body) : "";
  return `${where}${status}${became}${who}${what},"ms":${Math.round(elapsedTime * 1000) / 1000}`;
}

/** Who topped up, and with which checkoutId: what partner and provider talk about when a top-up is in doubt. */
function topUpMembers({ partnerName }: Caller, body: unknown): string {
  const checkoutId = (body as { checkoutId?: unknown } | null | undefined)?.checkoutId;
  const which = looksIssued(checkoutId) ? `,"checkoutId":"${checkoutId}"` : "";
  return `,"partnerName":${JSON.stringify(partnerName)}${which}`;
}
