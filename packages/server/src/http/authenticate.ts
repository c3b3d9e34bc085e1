import type { FastifyInstance } from "fastify";
import type { AddressList } from "../domain/address-list.ts";
import { authenticate } from "../services/partner/authenticate.ts";
import type { Caller, Ports } from "../services/ports.ts";
import { RequestPeer } from "./caller-address.ts";
import { sendFailure } from "./failures.ts";
import type { SendError } from "./send-error.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Set once the access token has been admitted. */
    caller: Caller | undefined;
    /** Whose token was sent, though it was not admitted: for the log, and for nothing else. */
    refusedHolder: Caller | undefined;
  }
}

const BEARER = /^Bearer +([^ ]+) *$/i;

export interface AdmissionOptions {
  readonly ports: Ports;
  /** Whose word is taken about where a request comes from. */
  readonly trustedProxies: AddressList | undefined;
}

/** Admits requests by their access token (interface, section 5), before anything else of them is read. */
export function authenticateRequests(
  app: FastifyInstance,
  { ports, trustedProxies }: AdmissionOptions,
  sendError: SendError,
): void {
  // Called back, and only where it goes on: for a promise, fastify would wait until the answer has gone out.
  app.addHook("onRequest", (request, reply, goOn) => {
    const token = BEARER.exec(request.headers.authorization ?? "")?.[1];
    if (token === undefined) {
      sendFailure(reply, "missing_token");
      return;
    }
    authenticate(ports, token, new RequestPeer(request.raw, trustedProxies)).then(
      (admission) => {
        if (request.isDecided) return;
        if (admission.ok) {
          request.caller = admission.caller;
          goOn();
        } else {
          request.refusedHolder = admission.holder;
          sendFailure(reply, admission.refusal);
        }
      },
      (error: unknown) => sendError(error, reply),
    );
  });
}
