import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { type AddressList, callerAddress } from "../domain/address-list.ts";
import { decodeUtf8 } from "../domain/json.ts";
import { hasTwoAuthorizations, PARSE_ERROR } from "../system/port-guard.ts";
import { type Answer, Call, tokenIn } from "./call.ts";
import { BODY_MAX_BYTES, renderFailure } from "./failures.ts";
import type { Operation } from "./operations.ts";
import type { Page } from "./pages.ts";
import type { Pipeline } from "./pipeline.ts";
import type { AnswerText } from "./plain-http.ts";

/** Requests that one socket may have in hand: a client that sends more without reading is not one that waits. */
const MAX_IN_HAND = 32;
/** The same, until a token was accepted on the socket: Node reads all that come in one piece before the first is refused. */
const MAX_IN_HAND_OF_STRANGER = 4;

/** What a socket is about, beyond what Node keeps of it. */
interface SocketState {
  /** Requests that are not answered yet, in their order; the last of them may not have arrived whole. */
  readonly inHand: NodeCall[];
  /** The request that came last. */
  latest: NodeCall | undefined;
  /** Whether a token was accepted on it. */
  isTrusted: boolean;
  /** Bytes came that are no request: once what is in hand is answered, the socket is closed. */
  isBroken: boolean;
}

export interface NodeDoorOptions {
  readonly pipeline: Pipeline;
  readonly routes: readonly (Operation | Page)[];
  readonly trustedProxies: AddressList | undefined;
  readonly answerText: AnswerText;
}

/** The door for every request that node:http has read, and for bytes of which it can make none. */
export class NodeDoor {
  readonly options: NodeDoorOptions;
  readonly #routes: ReadonlyMap<string, Operation | Page>;
  readonly #states = new WeakMap<Socket, SocketState>();

  constructor(options: NodeDoorOptions) {
    this.options = options;
    this.#routes = new Map(options.routes.map((route) => [route.url, route]));
  }

  watch(server: Server & { httpAllowHalfOpen?: boolean }): void {
    // A caller may close its own direction as soon as its request is sent, and wait for the answer in the other (RFC 9112,
    // section 9.6). Node would close the other one too, so that a top-up was made and nobody told. What the switch is
    // called is in no documentation of Node's; a test holds what it does.
    server.httpAllowHalfOpen = true;
    const take = (request: IncomingMessage, response: ServerResponse) => this.#take(request, response);
    // Node itself would answer an expectation that it does not know without the envelope.
    server.on("request", take).on("checkExpectation", take);
    server.on("clientError", (error: NodeJS.ErrnoException, socket: Socket) => this.#onClientError(error, socket));
    // Since somebody listens, Node leaves it to them what becomes of a socket on which nothing has happened for long.
    server.on("timeout", (socket: Socket) => {
      const { inHand } = this.#stateOf(socket);
      const isAwaited = inHand.some(({ isWhole, response }) => isWhole && !response.writableEnded);
      if (!isAwaited || socket.writableLength > 0) socket.destroy();
    });
  }

  isBusy(socket: Socket): boolean {
    return this.#stateOf(socket).inHand.length > 0;
  }

  /** Is told that a token was accepted on a socket. */
  trust(socket: Socket): void {
    const state = this.#stateOf(socket);
    state.isTrusted = true;
    this.#goOn(state);
  }

  /** Counts a request as in hand until its answer is closed, which it is not while the caller does not read. */
  #take(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    const state = this.#stateOf(socket);
    const call = new NodeCall(this, this.#routes.get(pathOf(request)), request, response);
    state.inHand.push(call);
    state.latest = call;
    response.once("finish", () => {
      call.isWritten = true;
    });
    response.once("close", () => {
      state.inHand.splice(state.inHand.indexOf(call), 1);
      const isAnswered = call.isAnsweredBare || (call.isWritten && !socket.readableEnded);
      this.options.pipeline.ended(call, isAnswered ? "answered" : "gave_up");
      if (state.isBroken && !isAnswering(state)) socket.destroySoon();
      else if (!call.isLast) this.#goOn(state);
    });
    if (state.inHand.length > (state.isTrusted ? MAX_IN_HAND : MAX_IN_HAND_OF_STRANGER)) {
      stopParsing(socket);
      call.hasBegun = true;
      this.options.pipeline.take(call);
      this.options.pipeline.refuse(call, "rate_limited");
    } else this.#goOn(state);
    // Refused at once, for lack of a token: what came in one piece with it need not be read.
    if (call.answer?.status === 401) stopParsing(socket);
  }

  /** Begins each request once the one before it was admitted: behind one that ends the socket, none may be carried out. */
  #goOn({ inHand }: SocketState): void {
    for (const call of inHand) {
      if (!call.hasBegun) this.#begin(call);
      if (call.caller === undefined || call.isLast) return;
    }
  }

  #begin(call: NodeCall): void {
    const { pipeline } = this.options;
    const { route, request } = call;
    call.hasBegun = true;
    pipeline.take(call);
    if (route === undefined) pipeline.refuse(call, "unknown_operation");
    else if ("load" in route) {
      if (request.method === "GET" || request.method === "HEAD") pipeline.show(call, route.load(request.headers));
      else pipeline.refuse(call, "unknown_operation");
    } else if (request.method === "POST") pipeline.admit(call, route);
    else pipeline.refuse(call, "method_not_allowed");
  }

  /** For bytes that are no HTTP request, or do not become one in time. */
  #onClientError(error: NodeJS.ErrnoException, socket: Socket): void {
    const state = this.#stateOf(socket);
    if (error.code === "ECONNRESET" || !socket.writable || hasNoQuestion(socket, state)) socket.destroy();
    else if (isAnswering(state)) {
      // The answer to a request in hand must not be mistaken for this one's.
      state.isBroken = true;
      socket.pause();
    } else this.#answerBare(socket, state, isTooLarge(error));
  }

  #answerBare(socket: Socket, { inHand }: SocketState, isTooLarge: boolean): void {
    const { pipeline, answerText } = this.options;
    const unfinished = inHand[0];
    const requestId = unfinished?.id ?? pipeline.nextId();
    const reason = unfinished?.outcome ?? (isTooLarge ? "body_too_large" : "malformed_json");
    const answer = renderFailure(reason, requestId);
    if (unfinished === undefined) pipeline.refusedBare(reason, requestId);
    else Object.assign(unfinished, { answer, outcome: reason, isAnsweredBare: true });
    answerText.write(socket, requestId, [], answer, true);
    socket.destroySoon();
  }

  #stateOf(socket: Socket): SocketState {
    const known = this.#states.get(socket);
    if (known !== undefined) return known;
    const state = { inHand: [], latest: undefined, isTrusted: false, isBroken: false };
    this.#states.set(socket, state);
    return state;
  }
}

/** Of scheme and authority, which a target may begin with (RFC 9112, section 3.2.2). */
const ORIGIN = /^https?:\/\/[^/?#]*/i;

function pathOf({ url = "" }: IncomingMessage): string {
  return url.replace(ORIGIN, "").split(/[?#]/, 1)[0] as string;
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
  return socket.bytesRead === 0 || (latest !== undefined && !latest.isWhole && !inHand.includes(latest));
}

/** Whether a request that has arrived whole is still to be answered. */
function isAnswering({ inHand }: SocketState): boolean {
  return inHand.some(({ isWhole }) => isWhole);
}

function isTooLarge({ code }: NodeJS.ErrnoException): boolean {
  return code === "HPE_HEADER_OVERFLOW" || code === "HPE_CHUNK_EXTENSIONS_OVERFLOW";
}

const JSON_MEDIA = /^\s*application\/json\s*(?:;|$)/i;
const OTHER_CHARSET = /;\s*charset\s*=(?!\s*"?utf-?8"?\s*(?:;|$))/i;

class NodeCall extends Call {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly #door: NodeDoor;
  hasBegun = false;
  /** Whether the socket ends with its answer. */
  isLast = false;
  isWritten = false;
  /** Whether it was answered without node:http, since the rest of it did not come or was no HTTP. */
  isAnsweredBare = false;

  constructor(door: NodeDoor, route: Operation | Page | undefined, request: IncomingMessage, response: ServerResponse) {
    const { pipeline } = door.options;
    super(pipeline.nextId(), route, pipeline.stopwatch());
    this.#door = door;
    this.request = request;
    this.response = response;
  }

  declare readonly route: Operation | Page | undefined;

  get token(): string | undefined {
    return hasTwoAuthorizations(this.request) ? undefined : tokenIn(this.request.headers.authorization);
  }

  get ip(): string | undefined {
    const { socket, headers } = this.request;
    return callerAddress(socket.remoteAddress, headers["x-forwarded-for"], this.#door.options.trustedProxies);
  }

  get isWhole(): boolean {
    return this.request.complete;
  }

  /** Reads the body, of as many bytes as it may have. */
  receive(): void {
    const { request } = this;
    const { pipeline } = this.#door.options;
    this.#door.trust(request.socket);
    const { "content-type": type = "", "content-encoding": encoding = "identity" } = request.headers;
    if (!JSON_MEDIA.test(type)) {
      pipeline.refuse(this, "unsupported_media_type");
      return;
    }
    if (this.#isTooLong) {
      pipeline.refuse(this, "body_too_large");
      return;
    }
    const pieces: Buffer[] = [];
    let bytes = 0;
    request.on("data", (piece: Buffer) => {
      bytes += piece.length;
      if (bytes <= BODY_MAX_BYTES) pieces.push(piece);
      else if (this.answer === undefined) pipeline.refuse(this, "body_too_large");
    });
    request.on("end", () => {
      if (this.answer !== undefined) return;
      const isPlain = encoding.toLowerCase() === "identity" && !OTHER_CHARSET.test(type);
      if (isPlain) pipeline.serve(this, decodeUtf8(Buffer.concat(pieces)));
      else pipeline.refuse(this, "unsupported_media_type");
    });
  }

  get #isTooLong(): boolean {
    return Number(this.request.headers["content-length"]) > BODY_MAX_BYTES;
  }

  send(answer: Answer, isLast: boolean): void {
    const { request } = this;
    // Of a request that wishes to speak another protocol, Node throws away what came in one piece with it. If the
    // connection went on, whoever had sent a request there would take the answer to the next one for its own.
    this.isLast = isLast || request.headers.upgrade !== undefined;
    // A socket that is closed while bytes are on their way is reset, and its caller would not get the answer.
    if (answer.status === 401 && !this.isWhole && !request.readableEnded && !this.#isTooLong)
      request.once("end", () => this.#write(answer)).resume();
    else this.#write(answer);
  }

  #write({ status, headers, body }: Answer): void {
    const { response, route } = this;
    if (this.isLast) response.shouldKeepAlive = false;
    const own = ["x-request-id", this.id, ...(route?.headers ?? []), ...headers];
    if (status !== 304) own.push("content-length", String(Buffer.byteLength(body)));
    response.writeHead(status, own).end(body);
  }

  abort(): void {
    this.response.destroy();
  }
}
