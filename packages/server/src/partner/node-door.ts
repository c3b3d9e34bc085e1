import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { type AddressList, callerAddress } from "../domain/address-list.ts";
import { decodeUtf8, type JsonObject } from "../domain/json.ts";
import { countHeaders, hasRightHost, PARSE_ERROR } from "../system/port-guard.ts";
import type { Answer } from "./answer.ts";
import { Call, tokenIn } from "./call.ts";
import { BODY_MAX_BYTES, renderFailure } from "./failures.ts";
import type { Operation } from "./operations.ts";
import type { Page } from "./pages.ts";
import { endsSocket, type Pipeline } from "./pipeline.ts";
import type { AnswerText } from "./plain-http.ts";

/** Most open requests of a socket. A client that sends more does not read its answers. */
const MAX_IN_HAND = 32;
/** The same before a token is accepted: Node parses a whole chunk before the first request is refused. */
const MAX_IN_HAND_OF_STRANGER = 4;

interface SocketState {
  /** Unanswered requests in order. The last one may be incomplete. */
  readonly inHand: NodeCall[];
  latest: NodeCall | undefined;
  /** Whether a token was accepted on it. */
  isTrusted: boolean;
  /** Whether bytes arrived that are no request. The socket closes after the open answers. */
  isBroken: boolean;
  /** Whether the last answer has left, or the socket is destroyed. node:http may still announce requests and their ends. */
  isEnded: boolean;
}

export interface NodeDoorOptions {
  readonly pipeline: Pipeline;
  readonly routes: readonly (Operation | Page)[];
  readonly trustedProxies: AddressList | undefined;
  readonly answerText: AnswerText;
}

/** Takes every request that node:http parses, and bytes that it cannot parse. */
export class NodeDoor {
  readonly options: NodeDoorOptions;
  readonly #routes: ReadonlyMap<string, Operation | Page>;
  readonly #states = new WeakMap<Socket, SocketState>();

  constructor(options: NodeDoorOptions) {
    this.options = options;
    this.#routes = new Map(options.routes.map((route) => [route.url, route]));
  }

  watch(server: Server & { httpAllowHalfOpen?: boolean }): void {
    // A caller may close its own direction and wait for the answer in the other (RFC 9112, section 9.6). Node would close
    // both, and the answer of a top-up would be lost. Node does not document this switch; a test checks it.
    server.httpAllowHalfOpen = true;
    const take = (request: IncomingMessage, response: ServerResponse) => this.#take(request, response);
    // Node itself would answer an unknown expectation without the envelope.
    server.on("request", take).on("checkExpectation", take);
    server.on("clientError", (error: NodeJS.ErrnoException, socket: Socket) => this.#onClientError(error, socket));
    // With a listener, Node does not destroy a silent socket itself.
    server.on("timeout", (socket: Socket) => {
      const { inHand } = this.#stateOf(socket);
      const isAwaited = inHand.some(({ isWhole, response }) => isWhole && !response.writableEnded);
      if (!isAwaited || socket.writableLength > 0) socket.destroy();
    });
  }

  isBusy(socket: Socket): boolean {
    return this.#stateOf(socket).inHand.length > 0;
  }

  /** Called when a token is accepted on a socket. */
  trust(socket: Socket): void {
    const state = this.#stateOf(socket);
    state.isTrusted = true;
    this.#goOn(state);
  }

  /** A request stays open until its answer is closed, so also while the caller does not read. */
  #take(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    const state = this.#stateOf(socket);
    if (state.isEnded) {
      stopParsing(socket);
      return;
    }
    const call = new NodeCall(this, this.#routes.get(pathOf(request)), request, response);
    state.inHand.push(call);
    state.latest = call;
    response.once("finish", () => {
      call.isWritten = true;
    });
    response.once("close", () => {
      state.inHand.splice(state.inHand.indexOf(call), 1);
      state.isEnded ||= call.isLast || socket.destroyed;
      const isAnswered = call.isAnsweredBare || (call.isWritten && !socket.readableEnded);
      this.options.pipeline.ended(call, isAnswered ? "answered" : "gave_up");
      if (state.isBroken && !isAnswering(state)) socket.destroySoon();
      else this.#goOn(state);
    });
    if (state.inHand.length > (state.isTrusted ? MAX_IN_HAND : MAX_IN_HAND_OF_STRANGER)) {
      call.hasBegun = true;
      this.options.pipeline.take(call);
      this.options.pipeline.refuse(call, "rate_limited");
    } else this.#goOn(state);
    // Refused at once: do not parse the rest of the chunk.
    if (endsSocket(call)) stopParsing(socket);
  }

  /** Begins each request after the previous one is admitted: none may run behind a request that ends the socket. */
  #goOn({ inHand, isEnded }: SocketState): void {
    if (isEnded) return;
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
    if (!hasRightHost(request)) pipeline.refuse(call, "malformed_json");
    else if (route === undefined) pipeline.refuse(call, "unknown_operation");
    else if ("load" in route) {
      if (request.method === "GET" || request.method === "HEAD") pipeline.show(call, route.load(request.headers));
      else pipeline.refuse(call, "unknown_operation");
    } else {
      const allowed = route.parameters === undefined ? ["POST"] : ["GET", "HEAD"];
      if (allowed.includes(request.method ?? "")) pipeline.admit(call, route);
      else pipeline.refuse(call, "method_not_allowed", { allow: allowed.join(", ") });
    }
  }

  /** Handles bytes that are no HTTP request, or an incomplete one that timed out. */
  #onClientError(error: NodeJS.ErrnoException, socket: Socket): void {
    const state = this.#stateOf(socket);
    if (error.code === "ECONNRESET" || !socket.writable || hasNoQuestion(socket, state)) socket.destroy();
    else if (isAnswering(state)) {
      // The caller would take this answer for that of an open request.
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
    const state = { inHand: [], latest: undefined, isTrusted: false, isBroken: false, isEnded: false };
    this.#states.set(socket, state);
    return state;
  }
}

/** Scheme and authority, allowed in a request target (RFC 9112, section 3.2.2). */
const ORIGIN = /^https?:\/\/[^/?#]*/i;

function pathOf({ url = "" }: IncomingMessage): string {
  return url.replace(ORIGIN, "").split(/[?#]/, 1)[0] as string;
}

/** The query parameters of these names. A repeated one is a list. */
function queryOf({ url = "" }: IncomingMessage, names: readonly string[]): JsonObject {
  const query = new URLSearchParams(url.split("#", 1)[0]?.split("?").slice(1).join("?"));
  const values = names.map((name) => [name, query.getAll(name)] as const).filter(([, { length }]) => length > 0);
  return Object.fromEntries(values.map(([name, all]) => [name, all.length === 1 ? (all[0] as string) : all]));
}

/** Turns all further bytes on a socket into a parse error. */
function stopParsing(socket: Socket & { parser?: { onIncoming: () => number } }): void {
  if (socket.parser) socket.parser.onIncoming = () => PARSE_ERROR;
}

/** Whether there is nothing to answer: the socket was never used, or the bytes belong to an answered request. */
function hasNoQuestion(socket: Socket, { latest, inHand }: SocketState): boolean {
  return socket.bytesRead === 0 || (latest !== undefined && !latest.isWhole && !inHand.includes(latest));
}

/** Whether a whole request still waits for its answer. */
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
  /** Whether the socket ends with this answer. */
  isLast = false;
  isWritten = false;
  /** Whether it was answered without node:http, because the rest was missing or invalid. */
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
    const { request } = this;
    return countHeaders(request, "authorization") > 1 ? undefined : tokenIn(request.headers.authorization);
  }

  get ip(): string | undefined {
    const { socket, headers } = this.request;
    return callerAddress(socket.remoteAddress, headers["x-forwarded-for"], this.#door.options.trustedProxies);
  }

  get isWhole(): boolean {
    return this.request.complete;
  }

  receive(): void {
    const { request, route } = this;
    const { pipeline } = this.#door.options;
    this.#door.trust(request.socket);
    const { parameters } = route as Operation;
    if (parameters !== undefined) {
      pipeline.serveFields(this, queryOf(request, parameters));
      return;
    }
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
    // Node drops the bytes behind an upgrade request. If the socket stayed open, the sender of a dropped request would take
    // the next answer for its own.
    this.isLast = isLast || request.headers.upgrade !== undefined;
    // Closing a socket while bytes arrive resets it, and the caller would lose the answer.
    if ((answer.status === 401 || answer.status === 400) && !this.isWhole && !request.readableEnded && !this.#isTooLong)
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

  sendHalf(answer: Answer): void {
    this.#door.options.answerText.writeHalf(this.request.socket, this.id, this.route?.headers ?? [], answer);
  }

  abort(): void {
    this.response.destroy();
  }
}
