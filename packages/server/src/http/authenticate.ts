import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { AddressList } from "../domain/address-list.ts";
import { authenticate } from "../operations/authenticate.ts";
import type { Caller, Ports } from "../operations/ports.ts";
import { asError } from "./as-error.ts";
import { RequestPeer } from "./caller-address.ts";
import { isContradictory } from "./contradictory-header.ts";
import { sendFailure } from "./failures.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Set once the access token has been admitted. */
    caller: Caller | undefined;
    /** Whose token was sent, though it was not admitted: for the log, and for nothing else. */
    refusedHolder: Caller | undefined;
    /** Why the request failed, for the log. */
    outcome: string | undefined;
  }
}

const BEARER = /^Bearer +([^ ]+) *$/i;

/** A body that took longer than this to arrive has outlived what was known of its token. */
const FRESH_MS = 500;

export interface AdmissionOptions {
  readonly ports: Ports;
  /** Whose word is taken about where a request comes from. */
  readonly trustedProxies: AddressList | undefined;
}

/**
 * Admits requests by their access token (interface, section 5): before anything else of them is read,
 * and once more where the body was slow to come, since a revocation holds within a second.
 */
export function authenticateRequests(app: FastifyInstance, { ports, trustedProxies }: AdmissionOptions): void {
  /** Whether the request may go on; otherwise its answer has been given. */
  const admit = async (request: FastifyRequest, reply: FastifyReply): Promise<boolean> => {
    // What an earlier look at the token found holds no more.
    request.caller = undefined;
    request.refusedHolder = undefined;
    const token = BEARER.exec(request.headers.authorization ?? "")?.[1];
    if (token === undefined || isContradictory(request.raw, "authorization")) {
      sendFailure(reply, "missing_token");
      return false;
    }
    const admitted = await authenticate(ports, token, new RequestPeer(request.raw, trustedProxies));
    if (request.isDecided) return false;
    if (admitted.ok) {
      request.caller = admitted.caller;
      return true;
    }
    request.refusedHolder = admitted.holder;
    sendFailure(reply, admitted.refusal);
    return false;
  };
  // Called back, and only where it goes on: for a promise of the reply, fastify would wait until the answer has
  // gone out, or the caller has, and go on then.
  const check = (request: FastifyRequest, reply: FastifyReply, goOn: (error?: Error) => void) => {
    admit(request, reply).then(
      (mayGoOn) => {
        if (mayGoOn) goOn();
      },
      (reason: unknown) => {
        if (!request.isDecided) goOn(asError(reason));
      },
    );
  };
  app.addHook("onRequest", check);
  app.addHook("preHandler", (request, reply, done) => {
    if (reply.elapsedTime <= FRESH_MS) done();
    else check(request, reply, done);
  });
}
