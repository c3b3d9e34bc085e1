import type { IncomingMessage } from "node:http";
import type { FastifyInstance } from "fastify";
import { type AddressList, callerAddress, type Peer } from "../domain/address-list.ts";
import { hasTwoAuthorizations } from "../port-guard.ts";
import { authenticate } from "../services/partner/authenticate.ts";
import type { Caller, Ports } from "../services/ports.ts";
import { QUERY_OPERATION, TOP_UP_OPERATION } from "./contract.ts";
import { type SendError, sendFailure } from "./failures.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Set once the access token has been admitted. */
    caller: Caller | undefined;
    /** Whose token was sent, though it was not admitted: for the log, and for nothing else. */
    refusedHolder: Caller | undefined;
  }
}

const BEARER = /^Bearer +([^ ]+) *$/i;

/**
 * Admits requests by their access token (interface, section 5), before anything else of them is read.
 * @param trustedProxies whose word is taken about where a request comes from.
 */
export function authenticateRequests(
  app: FastifyInstance,
  ports: Ports,
  trustedProxies: AddressList | undefined,
  sendError: SendError,
): void {
  // Called back, and only where it goes on: for a promise, fastify would wait until the answer has gone out.
  app.addHook("onRequest", (request, reply, goOn) => {
    // As early as can be: what is turned away must cost next to nothing, or nothing is left for those that wait.
    if (ports.store.isOverloaded() && request.raw.url?.endsWith(TOP_UP_OPERATION) === true) {
      request.isTurnedAway = true;
      sendFailure(reply, "unavailable");
      return;
    }
    const token = BEARER.exec(request.headers.authorization ?? "")?.[1];
    if (token === undefined || hasTwoAuthorizations(request.raw)) {
      sendFailure(reply, "missing_token");
      return;
    }
    const isQuery = request.routeOptions.url?.endsWith(`/${QUERY_OPERATION}`) === true;
    authenticate(ports, token, new RequestPeer(request.raw, trustedProxies), isQuery).then(
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

/** Reads the address only where somebody asks for it. */
class RequestPeer implements Peer {
  readonly #request: IncomingMessage;
  readonly #trustedProxies: AddressList | undefined;

  constructor(request: IncomingMessage, trustedProxies: AddressList | undefined) {
    this.#request = request;
    this.#trustedProxies = trustedProxies;
  }

  get ip(): string | undefined {
    const { socket, headers } = this.#request;
    return callerAddress(socket.remoteAddress, headers["x-forwarded-for"], this.#trustedProxies);
  }
}
