import { isAscii } from "node:buffer";
import type { Socket } from "node:net";
import { type AddressList, callerAddress } from "../domain/address-list.ts";
import { decodeUtf8 } from "../domain/json.ts";
import type { Answer } from "./answer.ts";
import { Call, type Ending } from "./call.ts";
import { BODY_MAX_BYTES } from "./failures.ts";
import type { Operation } from "./operations.ts";
import { KEEP_ALIVE_TIMEOUT_MS, type Pipeline, REQUEST_TIMEOUT_MS, UNREAD_TIMEOUT_MS } from "./pipeline.ts";
import { type AnswerText, type PlainHead, recognise } from "./plain-http.ts";

/** Longer heads go to node:http, which also limits the number of fields. */
const HEAD_MAX_BYTES = 8192;
/** Limits of the remembered heads. Partners' programs send the same heads again and again. */
const MOST_HEADS = 2_000;
const REMEMBERED_MAX_BYTES = 1024;

interface Head extends PlainHead {
  readonly operation: Operation;
  readonly isRemembered: boolean;
}

export interface FastDoorOptions {
  readonly pipeline: Pipeline;
  readonly operations: readonly Operation[];
  readonly answerText: AnswerText;
  readonly trustedProxies: AddressList | undefined;
  /** Gives a socket to node:http permanently. @param isTrusted whether a token was accepted on it. */
  readonly handOver: (socket: Socket, isTrusted: boolean) => void;
}

/**
 * Takes requests that arrive alone, in one chunk and in the plain form, as nearly all do. Any other request goes to
 * node:http with all its bytes and its socket, so unusual requests are decided only there.
 */
export class FastDoor {
  readonly options: FastDoorOptions;
  /** Number of calls taken. */
  served = 0;
  readonly #operations: ReadonlyMap<string, Operation>;
  readonly #heads = new Map<string, Head>();
  readonly #lanes = new Map<Socket, Lane>();

  constructor(options: FastDoorOptions) {
    this.options = options;
    this.#operations = new Map(options.operations.map((operation) => [operation.url, operation]));
  }

  readonly take = (socket: Socket): void => {
    this.#lanes.set(socket, new Lane(this, socket));
  };

  admit(call: FastCall, operation: Operation): void {
    this.served += 1;
    this.options.pipeline.take(call);
    this.options.pipeline.admit(call, operation);
  }

  leave(socket: Socket): void {
    this.#lanes.delete(socket);
  }

  isBusy(socket: Socket): boolean {
    return this.#lanes.get(socket)?.call !== undefined;
  }

  /** Closes sockets that were silent for too long. */
  look(): void {
    const now = this.options.pipeline.stopwatch();
    for (const lane of this.#lanes.values()) lane.look(now);
  }

  /** @param text bytes as Latin-1. @returns the head, if the bytes are one whole plain request. */
  headOf(text: string): Head | undefined {
    const end = text.indexOf("\r\n\r\n");
    if (end === -1 || end > HEAD_MAX_BYTES) return undefined;
    const bytes = text.slice(0, end);
    const head = this.#heads.get(bytes) ?? this.#recognise(bytes, false);
    return head !== undefined && end + 4 + head.length === text.length ? head : undefined;
  }

  #recognise(bytes: string, isRemembered: boolean): Head | undefined {
    const plain = recognise(bytes);
    const operation = this.#operations.get(plain?.path ?? "");
    if (plain === undefined || operation === undefined) return undefined;
    const { path, length, token, forwardedFor } = plain;
    return { path, length, token, forwardedFor, operation, isRemembered };
  }

  /** Called only for accepted tokens: other heads would displace good ones. */
  remember(text: string, head: Head): void {
    const end = text.length - head.length - 4;
    if (head.isRemembered || end > REMEMBERED_MAX_BYTES) return;
    if (this.#heads.size >= MOST_HEADS) this.#heads.clear();
    // A slice would keep the body in memory: copy the head.
    const copy = Buffer.from(text.slice(0, end), "latin1").toString("latin1");
    this.#heads.set(copy, this.#recognise(copy, true) as Head);
  }
}

/** A socket at the fast door. It has at most one open call. */
class Lane {
  readonly socket: Socket;
  readonly #door: FastDoor;
  call: FastCall | undefined = undefined;
  /** Whether a token was accepted on it. */
  isTrusted = false;
  /** Bytes that arrived during a call. The socket is paused until the call ends. */
  #held: { readonly bytes: Buffer; readonly at: number } | undefined = undefined;
  /** Time when the socket was opened or last answered. */
  #since: number;
  /** Whether the answer to the open call was written; it may be unread. */
  #isWritten = false;
  #isLast = false;
  #wasUsed = false;
  /** Whether the caller closed its own direction. It may still wait for an answer (RFC 9112, section 9.6). */
  #isHalfClosed = false;

  constructor(door: FastDoor, socket: Socket) {
    this.socket = socket;
    this.#door = door;
    this.#since = this.#now();
    socket.on("data", this.#onData).on("end", this.#onEnd).on("close", this.#onClose).on("error", ignore);
  }

  #now(): number {
    return this.#door.options.pipeline.stopwatch();
  }

  readonly #onData = (bytes: Buffer): void => {
    if (this.call === undefined) this.#receive(bytes, this.#now());
    else {
      this.#held = { bytes, at: this.#now() };
      this.socket.pause();
    }
  };

  #receive(bytes: Buffer, at: number): void {
    const text = bytes.length > HEAD_MAX_BYTES + BODY_MAX_BYTES ? "" : bytes.toString("latin1");
    const head = this.#door.headOf(text);
    if (head === undefined) {
      this.#handOver(bytes);
      return;
    }
    this.#wasUsed = true;
    this.call = new FastCall(this.#door, this, head, bytes, text, at);
    this.#door.admit(this.call, head.operation);
  }

  #handOver(bytes: Buffer): void {
    const { socket } = this;
    this.#door.leave(socket);
    socket.off("data", this.#onData).off("end", this.#onEnd).off("close", this.#onClose).off("error", ignore);
    this.#door.options.handOver(socket, this.isTrusted);
    socket.emit("data", bytes);
    if (this.#isHalfClosed) socket.emit("end");
  }

  readonly #onEnd = (): void => {
    this.#isHalfClosed = true;
    if (this.call === undefined) this.socket.destroySoon();
  };

  write(call: FastCall, answer: Answer, isLast: boolean): void {
    const { operation } = call.head;
    this.#isWritten = true;
    this.#isLast = isLast;
    this.#since = this.#now();
    this.#door.options.answerText.write(this.socket, call.id, operation.headers, answer, isLast, this.#onWritten);
    if (isLast) this.socket.destroySoon();
  }

  readonly #onWritten = (error?: Error | null): void => {
    if (error || this.call === undefined) return;
    this.#end("answered");
    const held = this.#held;
    this.#held = undefined;
    if (this.#isLast) return;
    if (held !== undefined) {
      this.socket.resume();
      this.#receive(held.bytes, held.at);
    } else if (this.#isHalfClosed) this.socket.destroySoon();
  };

  readonly #onClose = (): void => {
    this.#door.leave(this.socket);
    this.#end("gave_up");
  };

  #end(ending: Ending): void {
    const { call } = this;
    this.call = undefined;
    this.#isWritten = false;
    if (call !== undefined) this.#door.options.pipeline.ended(call, this.#isHalfClosed ? "gave_up" : ending);
  }

  look(now: number): void {
    const silence = now - this.#since;
    const isUnread = this.#isWritten && silence >= UNREAD_TIMEOUT_MS;
    const isIdle = this.call === undefined && silence >= (this.#wasUsed ? KEEP_ALIVE_TIMEOUT_MS : REQUEST_TIMEOUT_MS);
    if (isUnread || isIdle) this.socket.destroy();
  }
}

/** A broken socket also emits `close`, which is handled. */
function ignore(): void {}

class FastCall extends Call {
  readonly #door: FastDoor;
  readonly #lane: Lane;
  readonly head: Head;
  readonly #bytes: Buffer;
  /** The same bytes as Latin-1. */
  readonly #text: string;

  /** @param at time of arrival on the stopwatch. */
  constructor(door: FastDoor, lane: Lane, head: Head, bytes: Buffer, text: string, at: number) {
    super(door.options.pipeline.nextId(), head.operation, at);
    this.#door = door;
    this.#lane = lane;
    this.head = head;
    this.#bytes = bytes;
    this.#text = text;
  }

  get token(): string | undefined {
    return this.head.token;
  }

  get ip(): string | undefined {
    const { trustedProxies } = this.#door.options;
    return callerAddress(this.#lane.socket.remoteAddress, this.head.forwardedFor, trustedProxies);
  }

  get isWhole(): boolean {
    return true;
  }

  receive(): void {
    const { length } = this.head;
    this.#lane.isTrusted = true;
    this.#door.remember(this.#text, this.head);
    const body = isAscii(this.#bytes) ? this.#text.slice(-length) : decodeUtf8(this.#bytes.subarray(-length));
    this.#door.options.pipeline.serve(this, body);
  }

  send(answer: Answer, isLast: boolean): void {
    if (!this.#lane.socket.destroyed) this.#lane.write(this, answer, isLast);
  }

  sendHalf(answer: Answer): void {
    const { answerText } = this.#door.options;
    answerText.writeHalf(this.#lane.socket, this.id, this.head.operation.headers, answer);
  }

  abort(): void {
    this.#lane.socket.destroy();
  }
}
