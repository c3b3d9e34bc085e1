import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
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

/** A body that took longer than this to arrive has outlived what was known of its token. */
const FRESH_MS = 500;

/**
 * Admits requests by their access token (interface, section 5): before anything else of them is read,
 * and once more where the body was slow to come, since a revocation holds within a second.
 */
export function authenticateRequests(app: FastifyInstance, ports: Ports): void {
  const admit = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> => {
    const token = BEARER.exec(request.headers.authorization ?? "")?.[1];
    if (token === undefined) return sendFailure(reply, "missing_token");
    const admitted = await authenticate(ports, token);
    if (!admitted.ok) return sendFailure(reply, admitted.refusal);
    request.caller = admitted.value;
    return undefined;
  };
  app.addHook("onRequest", admit);
  app.addHook("preHandler", (request, reply, done) => {
    if (reply.elapsedTime <= FRESH_MS) done();
    // Once an answer has been sent, no hook may be called back.
    else admit(request, reply).then((sent) => sent ?? done(), done);
  });
}
