import { isAscii } from "node:buffer";
import type { Socket } from "node:net";
import { type AddressList, callerAddress } from "../domain/address-list.ts";
import { decodeUtf8 } from "../domain/json.ts";
import type { AnswerText } from "./answer-text.ts";
import { type Answer, Call } from "./call.ts";
import { BODY_MAX_BYTES } from "./failures.ts";
import type { Operation } from "./operations.ts";
import { KEEP_ALIVE_TIMEOUT_MS, type Pipeline, REQUEST_TIMEOUT_MS, UNREAD_TIMEOUT_MS } from "./pipeline.ts";
import { type PlainHead, recognise } from "./recogniser.ts";

/** Longer heads are for node:http, which bounds the number of their fields too. */
const HEAD_MAX_BYTES = 8192;
/** How many heads are remembered, and up to which length: a partner's program sends the same one again and again. */
const MOST_HEADS = 2_000;
const REMEMBERED_MAX_BYTES = 1024;

interface Head extends PlainHead {
  readonly operation: Operation;
}

export interface FastDoorOptions {
  readonly pipeline: Pipeline;
  readonly operations: readonly Operation[];
  readonly answerText: AnswerText;
  readonly trustedProxies: AddressList | undefined;
  /** Gives a socket to node:http for good. */
  readonly handOver: (socket: Socket) => void;
}

/**
 * The door for requests that come whole, alone, in one piece and in the plain form, as nearly all do. Any other request is
 * node:http's, with all its bytes and its socket: so nothing is decided here about what is in any way unusual.
 */
export class FastDoor {
  readonly options: FastDoorOptions;
  /** Calls that came by this door. */
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

  /** Closes sockets that have been silent for too long. */
  look(): void {
    const now = this.options.pipeline.stopwatch();
    for (const lane of this.#lanes.values()) lane.look(now);
  }

  /** @param text bytes as Latin-1. @returns the head of the plain request that they are, whole, or undefined. */
  headOf(text: string): Head | undefined {
    const end = text.indexOf("\r\n\r\n");
    if (end === -1 || end > HEAD_MAX_BYTES) return undefined;
    const bytes = text.slice(0, end);
    const head = this.#heads.get(bytes) ?? this.#recognise(bytes);
    return head !== undefined && end + 4 + head.length === text.length ? head : undefined;
  }

  #recognise(bytes: string): Head | undefined {
    const plain = recognise(bytes);
    const operation = this.#operations.get(plain?.path ?? "");
    if (plain === undefined || operation === undefined) return undefined;
    const { path, length, token, forwardedFor } = plain;
    return { path, length, token, forwardedFor, operation };
  }

  /** Remembers a head whose token was accepted: others would take the place of good ones. */
  remember(text: string, head: Head): void {
    const end = text.length - head.length - 4;
    if (end > REMEMBERED_MAX_BYTES || this.#heads.has(text.slice(0, end))) return;
    if (this.#heads.size >= MOST_HEADS) this.#heads.clear();
    // As a text of its own: a slice would keep the body with it.
    this.#heads.set(Buffer.from(text.slice(0, end), "latin1").toString("latin1"), head);
  }
}

/** A socket at the fast door: it has one call in hand at a time. */
class Lane {
  readonly socket: Socket;
  readonly #door: FastDoor;
  call: FastCall | undefined = undefined;
  /** Came while a call was in hand; until that has ended, the socket is paused. */
  #held: Buffer | undefined = undefined;
  /** When the socket was opened, or its latest answer written. */
  #since: number;
  #wasUsed = false;
  /** Whether the caller has closed its own direction: it may still wait for an answer (RFC 9112, section 9.6). */
  #isHalfClosed = false;

  constructor(door: FastDoor, socket: Socket) {
    this.socket = socket;
    this.#door = door;
    this.#since = door.options.pipeline.stopwatch();
    socket.on("data", this.#onData).on("end", this.#onEnd).on("drain", this.#onDrain);
    socket.on("close", this.#onClose).on("error", ignore);
  }

  readonly #onData = (bytes: Buffer): void => {
    if (this.call === undefined) this.#receive(bytes);
    else {
      this.#held = bytes;
      this.socket.pause();
    }
  };

  #receive(bytes: Buffer): void {
    const text = bytes.length > HEAD_MAX_BYTES + BODY_MAX_BYTES ? "" : bytes.toString("latin1");
    const head = this.#door.headOf(text);
    if (head === undefined) {
      this.#handOver(bytes);
      return;
    }
    this.#wasUsed = true;
    this.call = new FastCall(this.#door, this, head, bytes, text);
    this.#door.admit(this.call, head.operation);
  }

  #handOver(bytes: Buffer): void {
    const { socket } = this;
    this.#door.leave(socket);
    socket.off("data", this.#onData).off("end", this.#onEnd).off("drain", this.#onDrain);
    socket.off("close", this.#onClose).off("error", ignore);
    this.#door.options.handOver(socket);
    socket.emit("data", bytes);
    if (this.#isHalfClosed) socket.emit("end");
  }

  readonly #onEnd = (): void => {
    this.#isHalfClosed = true;
    if (this.call === undefined) this.socket.destroySoon();
  };

  /** @param isLast whether the answer that was written says that the socket ends with it. */
  written(isLast: boolean): void {
    this.#since = this.#door.options.pipeline.stopwatch();
    if (isLast || (this.#isHalfClosed && this.#held === undefined)) this.socket.destroySoon();
    else this.#onDrain();
  }

  readonly #onDrain = (): void => {
    if (this.call?.answer === undefined || this.socket.writableLength > 0) return;
    this.#end();
    if (this.#held === undefined) return;
    const bytes = this.#held;
    this.#held = undefined;
    this.socket.resume();
    this.#receive(bytes);
  };

  readonly #onClose = (): void => {
    this.#door.leave(this.socket);
    this.#end();
  };

  #end(): void {
    const { call } = this;
    this.call = undefined;
    if (call === undefined) return;
    const isWritten = call.answer !== undefined && this.socket.writableLength === 0;
    this.#door.options.pipeline.ended(call, isWritten && !this.#isHalfClosed ? "answered" : "gave_up");
  }

  /** Closes the socket where it has been silent for too long. */
  look(now: number): void {
    const silence = now - this.#since;
    const isUnread = this.call?.answer !== undefined && silence >= UNREAD_TIMEOUT_MS;
    const isIdle = this.call === undefined && silence >= (this.#wasUsed ? KEEP_ALIVE_TIMEOUT_MS : REQUEST_TIMEOUT_MS);
    if (isUnread || isIdle) this.socket.destroy();
  }
}

/** Of a socket that breaks, its close is heard. */
function ignore(): void {}

class FastCall extends Call {
  readonly #door: FastDoor;
  readonly #lane: Lane;
  readonly #head: Head;
  readonly #bytes: Buffer;
  /** The same bytes as Latin-1. */
  readonly #text: string;

  constructor(door: FastDoor, lane: Lane, head: Head, bytes: Buffer, text: string) {
    const { pipeline } = door.options;
    super(pipeline.nextId(), head.operation, pipeline.stopwatch());
    this.#door = door;
    this.#lane = lane;
    this.#head = head;
    this.#bytes = bytes;
    this.#text = text;
  }

  get token(): string | undefined {
    return this.#head.token;
  }

  get ip(): string | undefined {
    const { trustedProxies } = this.#door.options;
    return callerAddress(this.#lane.socket.remoteAddress, this.#head.forwardedFor, trustedProxies);
  }

  get isWhole(): boolean {
    return true;
  }

  receive(): void {
    const { length } = this.#head;
    this.#door.remember(this.#text, this.#head);
    const body = isAscii(this.#bytes) ? this.#text.slice(-length) : decodeUtf8(this.#bytes.subarray(-length));
    this.#door.options.pipeline.serve(this, body);
  }

  send(answer: Answer, isLast: boolean): void {
    const { socket } = this.#lane;
    if (socket.destroyed) return;
    this.#door.options.answerText.write(socket, this.id, this.#head.operation.headers, answer, isLast);
    this.#lane.written(isLast);
  }

  abort(): void {
    this.#lane.socket.destroy();
  }
}
