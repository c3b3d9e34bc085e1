import type { FastifyReply, FastifyRequest } from "fastify";
import { authenticate } from "../operations/authenticate.ts";
import type { Caller, Ports } from "../operations/ports.ts";
import { sendFailure } from "./failures.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Set once the access token has been admitted. */
    caller: Caller | undefined;
    /** Why the request failed, for the log. */
    outcome: string | undefined;
  }
}

const BEARER = /^Bearer +([^ ]+) *$/i;

/** Admits a request by its access token before anything else of it is read (interface, section 5). */
export function authenticateRequests(ports: Ports) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> => {
    const token = BEARER.exec(request.headers.authorization ?? "")?.[1];
    if (token === undefined) return sendFailure(reply, "missing_token");
    const admitted = await authenticate(ports, token);
    if (!admitted.ok) return sendFailure(reply, admitted.refusal);
    request.caller = admitted.value;
    return undefined;
  };
}
