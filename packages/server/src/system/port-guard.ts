import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { type AddressList, callerAddress, networkOf } from "../domain/address-list.ts";

/* Limits of every port, so that one caller cannot use up memory or sockets. */

/** Most sockets of one IP address; behind a trusted proxy, most unanswered requests. */
export const MOST_FOR_ADDRESS = 20;
/** Time limit for the head of a request. Node's default check runs only every 30 seconds. */
export const HEAD_LIMITS = { headersTimeout: 10_000, connectionsCheckingInterval: 1_000 } as const;
/** Time limit for a body after its head, because the caller's rights may end meanwhile. */
export const BODY_TIMEOUT_MS = 10_000;
/** How long an answer may stay unread, or an upload may stop. */
const SILENCE_TIMEOUT_MS = 30_000;

export const YEAR_SECONDS = 31_536_000;
/** The header of answers over HTTPS: browsers then never use plain HTTP for this host. */
export const STRICT_TRANSPORT = ["strict-transport-security", `max-age=${YEAR_SECONDS}`] as const;

interface SocketState {
  /** True from a request's head until its answer is closed. */
  isBusy: boolean;
  answering: { readonly request: IncomingMessage; readonly response: ServerResponse } | undefined;
  /** Stops counting the request that a proxy passed on. */
  release: () => void;
  /** Status for a head that is refused here. */
  refusal: number | undefined;
}

type Take = (request: IncomingMessage, keepAlive: boolean) => number;

/**
 * Guards a server: one request at a time on a socket, {@link MOST_FOR_ADDRESS} for an address, no answer unread for
 * long.
 */
export class PortGuard {
  readonly #trustedProxies: AddressList | undefined;
  /** Sockets by the caller's network; of a proxy, the sockets with a request of that caller. */
  readonly #held = new Map<string, Set<Socket>>();
  readonly #states = new WeakMap<Socket, SocketState>();

  /** @param trustedProxies proxies whose requests are counted by the caller's address, instead of their sockets. */
  constructor(trustedProxies?: AddressList) {
    this.#trustedProxies = trustedProxies;
  }

  watch(server: Server): void {
    server.timeout = SILENCE_TIMEOUT_MS;
    server.on("connection", (socket) => this.#admit(socket));
    // Node would answer such a request with 417 without an event, and its socket would stay busy.
    server.on("checkExpectation", (request, response) => server.emit("request", request, response));
    server.prependListener("request", (request, response) => this.#follow(request, response));
    server.on("timeout", (socket) => {
      const { answering } = this.#stateOf(socket);
      const isAwaited = answering?.request.complete === true && !answering.response.writableEnded;
      if (!isAwaited || socket.writableLength > 0) socket.destroy();
    });
  }

  /** Handles `clientError` of the server: malformed, late or refused requests. */
  readonly onClientError = (error: NodeJS.ErrnoException, socket: Socket): void => {
    const { answering, refusal } = this.#stateOf(socket);
    if (error.code === "ECONNRESET" || !socket.writable || socket.bytesRead === 0) socket.destroy();
    else if (answering?.request.complete === true) {
      // The current answer is the last one on this socket.
      socket.pause();
      answering.response.once("close", () => socket.destroySoon());
    } else refuse(socket, refusal ?? statusOf(error), answering?.response);
  };

  #admit(socket: Socket & { parser?: { onIncoming: Take } }): void {
    const state = this.#stateOf(socket);
    const isProxy = this.#trustedProxies?.has(socket.remoteAddress) === true;
    const network = networkOf(socket.remoteAddress);
    if (!isProxy && !this.#hold(network, socket)) {
      socket.destroy();
      return;
    }
    socket.once("close", () => (isProxy ? state.release() : this.#release(network, socket)));
    const { parser } = socket;
    if (!parser) return;
    const take = parser.onIncoming;
    parser.onIncoming = (request, keepAlive) => {
      if (state.isBusy) {
        if (state.answering !== undefined) state.answering.response.shouldKeepAlive = false;
        return PARSE_ERROR;
      }
      if (!hasRightHost(request)) return PARSE_ERROR;
      if (isProxy && !this.#holdCaller(request, state)) {
        state.refusal = 429;
        return PARSE_ERROR;
      }
      state.isBusy = true;
      return take(request, keepAlive);
    };
  }

  #holdCaller({ socket, headers }: IncomingMessage, state: SocketState): boolean {
    const caller = callerAddress(socket.remoteAddress, headers["x-forwarded-for"], this.#trustedProxies);
    const network = networkOf(caller);
    state.release = () => this.#release(network, socket);
    return this.#hold(network, socket);
  }

  #follow(request: IncomingMessage, response: ServerResponse): void {
    const state = this.#stateOf(request.socket);
    state.answering = { request, response };
    response.once("close", () => {
      state.release();
      Object.assign(state, { isBusy: false, answering: undefined });
    });
  }

  /** @returns false if all sockets of the network are busy. Otherwise the oldest idle one is closed if needed. */
  #hold(network: string, socket: Socket): boolean {
    const held = this.#held.get(network) ?? new Set();
    if (held.size >= MOST_FOR_ADDRESS) {
      const idle = [...held].find((each) => !this.#stateOf(each).isBusy);
      if (idle === undefined) return false;
      held.delete(idle);
      idle.destroy();
    }
    this.#held.set(network, held.add(socket));
    return true;
  }

  #release(network: string, socket: Socket): void {
    const held = this.#held.get(network);
    if (held?.delete(socket) === true && held.size === 0) this.#held.delete(network);
  }

  #stateOf(socket: Socket): SocketState {
    const known = this.#states.get(socket);
    if (known !== undefined) return known;
    const state = { isBusy: false, answering: undefined, release: () => {}, refusal: undefined };
    this.#states.set(socket, state);
    return state;
  }
}

/**
 * Result of a parser's `onIncoming` that makes all later bytes of its socket a parse error. One piece may contain
 * thousands of requests, and Node would announce them all, even on a paused or destroyed socket. Node does not document
 * this; a test checks it.
 */
export const PARSE_ERROR = -1;

/** URL of a server, without a slash at the end. */
export function urlOf(server: Server): string {
  const { address, family, port } = server.address() as AddressInfo;
  return `http://${family === "IPv6" ? `[${address}]` : address}:${port}`;
}

/** Number of headers with this name, in lower case. Of several, Node uses the first; a proxy may have checked another. */
export function countHeaders({ rawHeaders }: IncomingMessage, name: string): number {
  return rawHeaders.filter((each, index) => index % 2 === 0 && each.toLowerCase() === name).length;
}

/** HTTP/1.1 requires one `Host` header (RFC 9112, section 3.2). */
export function hasRightHost(request: IncomingMessage): boolean {
  const count = countHeaders(request, "host");
  return count === 1 || (count === 0 && request.httpVersion === "1.0");
}

/** Answers with the status alone, unless an answer has begun, and closes the socket. */
function refuse(socket: Socket, status: number, response: ServerResponse | undefined): void {
  if (response?.headersSent !== true)
    socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
  socket.destroySoon();
}

function statusOf({ code }: NodeJS.ErrnoException): number {
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return 408;
  return code === "HPE_HEADER_OVERFLOW" ? 431 : 400;
}
