import { type Server, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { FastifyReply, FastifyRequest } from "fastify";
import { PARSE_ERROR } from "../port-guard.ts";
import { type FailureReason, renderFailure } from "./failures.ts";

/** Requests that one socket may have in hand: a client that sends more without reading is not one that waits. */
const MAX_IN_HAND = 32;

/** A request that is, or was, in hand. */
interface TakenRequest {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  /** What it was answered with here, where the rest of it did not come, or was no HTTP. */
  refusal: FailureReason | undefined;
}

interface SocketHearer {
  /** Of an answer to bytes that are no request of which anybody else would hear. */
  readonly refusedBare: (reason: FailureReason, requestId: string) => void;
  /** Called once for each request, when its answer is closed, whether all of it was written or not. */
  readonly closed: (request: TakenRequest) => void;
}

/** What a socket is about, beyond what Node keeps of it. */
interface SocketState {
  /** Requests that are not answered yet; the last of them may not have arrived whole. */
  readonly inHand: TakenRequest[];
  /** The request that came last. */
  latest: TakenRequest | undefined;
  /** Bytes came that are no request: once what is in hand is answered, the socket is closed. */
  broken: boolean;
}

/** Watches over the sockets of a server, so that one caller's cannot harm the others. */
export class Sockets {
  readonly #nextId: () => string;
  readonly #hearer: SocketHearer;
  readonly #states = new WeakMap<Socket, SocketState>();
  readonly #open = new Set<Socket>();

  constructor(nextId: () => string, hearer: SocketHearer) {
    this.#nextId = nextId;
    this.#hearer = hearer;
  }

  /** For bytes that are no HTTP request, or do not become one in time. */
  onClientError(error: NodeJS.ErrnoException, socket: Socket): void {
    const state = this.#stateOf(socket);
    if (error.code === "ECONNRESET" || !socket.writable || hasNoQuestion(socket, state)) socket.destroy();
    else if (isAnswering(state)) {
      // The answer to a request in hand must not be mistaken for this one's.
      state.broken = true;
      socket.pause();
    } else this.#writeFailure(socket, isTooLarge(error) ? "body_too_large" : "malformed_json");
  }

  watch(server: Server): void {
    answerHalfClosed(server);
    server.on("connection", (socket) => {
      this.#open.add(socket);
      socket.on("close", () => this.#open.delete(socket));
    });
    // Since somebody listens, Node leaves it to them what becomes of a socket on which nothing has happened for long.
    server.on("timeout", (socket) => {
      if (!isAwaited(this.#stateOf(socket)) || socket.writableLength > 0) socket.destroy();
    });
  }

  /**
   * Counts a request as in hand until its answer is closed, which it is not while the caller does not read.
   * @returns whether the socket may have it in hand; otherwise no other is taken, and its answer is to be the last.
   */
  take(request: FastifyRequest, reply: FastifyReply): boolean {
    const { socket } = request.raw;
    const state = this.#stateOf(socket);
    const taken = { request, reply, refusal: undefined };
    state.inHand.push(taken);
    state.latest = taken;
    reply.raw.once("close", () => {
      state.inHand.splice(state.inHand.indexOf(taken), 1);
      this.#hearer.closed(taken);
      if (state.broken && !isAnswering(state)) socket.destroySoon();
    });
    if (state.inHand.length <= MAX_IN_HAND) return true;
    stopParsing(socket);
    return false;
  }

  /** All that is in hand. A request need not have arrived whole, nor an answer be without an end. */
  *inHand(): Generator<TakenRequest> {
    for (const socket of this.#open) yield* this.#stateOf(socket).inHand;
  }

  destroyAll(): void {
    for (const socket of this.#open) socket.destroy();
  }

  /** Destroys those that have no request in hand: Node does not count one as idle that was never used. */
  destroyIdle(): void {
    for (const socket of this.#open) if (this.#stateOf(socket).inHand.length === 0) socket.destroy();
  }

  #stateOf(socket: Socket): SocketState {
    const known = this.#states.get(socket);
    if (known !== undefined) return known;
    const state = { inHand: [], latest: undefined, broken: false };
    this.#states.set(socket, state);
    return state;
  }

  #writeFailure(socket: Socket, reason: FailureReason): void {
    const unfinished = unfinishedIn(this.#stateOf(socket));
    const requestId = unfinished?.request.id ?? this.#nextId();
    if (unfinished === undefined) this.#hearer.refusedBare(reason, requestId);
    else unfinished.refusal = reason;
    const { status, headers, body } = renderFailure(reason, requestId);
    const head = Object.entries({
      ...headers,
      "x-request-id": requestId,
      "content-length": String(Buffer.byteLength(body)),
      connection: "close",
    });
    const lines = head.map(([name, value]) => `${name}: ${value}\r\n`).join("");
    socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines}\r\n${body}`);
    socket.destroySoon();
  }
}

/**
 * A caller may close its own direction as soon as its request is sent, and wait for the answer in the other (RFC 9112,
 * section 9.6). Node would close the other one too, so that a top-up was made and nobody told. What the switch is called is
 * in no documentation of Node's; a test holds what it does.
 */
function answerHalfClosed(server: Server & { httpAllowHalfOpen?: boolean }): void {
  server.httpAllowHalfOpen = true;
}

/** Makes whatever else comes on a socket a parse error. */
function stopParsing(socket: Socket & { parser?: { onIncoming: () => number } }): void {
  if (socket.parser) socket.parser.onIncoming = () => PARSE_ERROR;
}

/**
 * Whether an answer would be one to nothing: nothing was sent on a socket that was opened ahead of need,
 * or what came is the rest of a request that has its answer.
 */
function hasNoQuestion(socket: Socket, { latest, inHand }: SocketState): boolean {
  return socket.bytesRead === 0 || (latest !== undefined && !latest.request.raw.complete && !inHand.includes(latest));
}

/** The request of which a part has arrived, and which has no answer yet. */
function unfinishedIn({ inHand }: SocketState): TakenRequest | undefined {
  return inHand.find(({ request }) => !request.raw.complete);
}

/** Whether a request that has arrived whole is still to be answered. */
function isAnswering({ inHand }: SocketState): boolean {
  return inHand.some(({ request }) => request.raw.complete);
}

/** Whether the silence is the service's own: a request has arrived whole, and nothing was answered yet. */
function isAwaited({ inHand }: SocketState): boolean {
  return inHand.some(({ request, reply }) => request.raw.complete && !reply.raw.writableEnded);
}

function isTooLarge({ code }: NodeJS.ErrnoException): boolean {
  return code === "HPE_HEADER_OVERFLOW" || code === "HPE_CHUNK_EXTENSIONS_OVERFLOW";
}
