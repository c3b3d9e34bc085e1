import type { Socket } from "node:net";
import { deserialize, serialize } from "node:v8";
import { type TopUpCommand, transactionOf } from "../../../domain/top-up.ts";
import type { Instant } from "../../../domain/wall-time.ts";
import type { Zone } from "../../../domain/zone.ts";
import { StoreContended, StoreUnavailable } from "../../errors.ts";
import type { Settled, SettlingItem } from "../../settling.ts";

/*
 * What a worker and the settler say to each other. An item has a number, and is answered by it; many go in one message. An
 * object takes several times as long as a list of its values.
 */

export type Asked = readonly [id: number, item: PackedItem];
export type Answered = readonly [id: number, outcome: PackedOutcome] | readonly [id: number, undefined, Failure];

export type PackedTopUp = readonly [
  ...[checkoutId: string, issuedAt: Instant, revision: number, txnDigits: string, partnerId: number],
  ...[environment: TopUpCommand["environment"], cuid: string, service: TopUpCommand["service"], reqId: string],
  ...[bouquetCode: string, amount: TopUpCommand["amount"], udf1: string | undefined, udf2: string | undefined],
  tokenId: string | undefined,
];
/** A top-up, or the checkoutId of a conclusion. */
export type PackedItem = PackedTopUp | string;
/** Of a top-up that was recorded, whoever asked for it lacks nothing but its time. */
export type PackedOutcome = Instant | Settled;
/** No message keeps the class of an error. */
export interface Failure {
  readonly kind: "unavailable" | "contended" | "defect";
  readonly message: string;
}

export function packItem(item: SettlingItem): PackedItem {
  if (item.kind === "conclusion") return item.checkoutId;
  const { command } = item;
  return [
    command.checkoutId,
    command.checkout.issuedAt,
    command.checkout.revision,
    command.txnDigits,
    command.partnerId,
    command.environment,
    command.cuid,
    command.service,
    command.reqId,
    command.bouquetCode,
    command.amount,
    command.udf1,
    command.udf2,
    command.tokenId,
  ];
}

export function unpackItem(packed: PackedItem): SettlingItem {
  if (typeof packed === "string") return { kind: "conclusion", checkoutId: packed };
  return {
    kind: "top_up",
    command: {
      checkoutId: packed[0],
      checkout: { issuedAt: packed[1], revision: packed[2] },
      txnDigits: packed[3],
      partnerId: packed[4],
      environment: packed[5],
      cuid: packed[6],
      service: packed[7],
      reqId: packed[8],
      bouquetCode: packed[9],
      amount: packed[10],
      udf1: packed[11],
      udf2: packed[12],
      tokenId: packed[13],
    },
  };
}

export function packOutcome(settled: Settled): PackedOutcome {
  const isRecorded = typeof settled === "object" && "kind" in settled && settled.kind === "recorded";
  return isRecorded ? settled.transaction.at : settled;
}

/** @param item that was settled. */
export function unpackOutcome(packed: PackedOutcome, item: SettlingItem, zone: Zone): Settled {
  if (typeof packed !== "number") return packed;
  if (item.kind !== "top_up") throw new Error("what was recorded is no top-up that was asked for");
  return { kind: "recorded", transaction: transactionOf(item.command, zone.moment(packed)) };
}

export function failureOf(error: unknown): Failure {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof StoreContended) return { kind: "contended", message };
  return { kind: error instanceof StoreUnavailable ? "unavailable" : "defect", message };
}

export function errorOf({ kind, message }: Failure): Error {
  if (kind === "contended") return new StoreContended(message);
  return kind === "unavailable" ? new StoreUnavailable(message) : new Error(message);
}

const LENGTH_BYTES = 4;

/** Messages over a socket: what is sent in one turn of the event loop goes as one list, with its length before it. */
export class Messages<Sent, Received> {
  readonly #socket: Socket;
  readonly #hear: (received: readonly Received[]) => void;
  #outgoing: Sent[] = [];
  #held: Buffer[] = [];
  #heldBytes = 0;

  constructor(socket: Socket, hear: (received: readonly Received[]) => void) {
    this.#socket = socket;
    this.#hear = hear;
    socket.on("data", (chunk) => this.#take(chunk));
  }

  send(message: Sent): void {
    if (this.#outgoing.push(message) === 1) setImmediate(() => this.#flush());
  }

  /** Ends the connection, once all that was sent is on its way. */
  end(): void {
    setImmediate(() => this.#socket.destroySoon());
  }

  #flush(): void {
    const content = serialize(this.#outgoing);
    this.#outgoing = [];
    if (!this.#socket.writable) return;
    const length = Buffer.alloc(LENGTH_BYTES);
    length.writeUInt32BE(content.length);
    this.#socket.cork();
    this.#socket.write(length);
    this.#socket.write(content);
    this.#socket.uncork();
  }

  #take(chunk: Buffer): void {
    this.#held.push(chunk);
    this.#heldBytes += chunk.length;
    if (this.#heldBytes < this.#needed()) return;
    let bytes = Buffer.concat(this.#held);
    for (let end = endOf(bytes); bytes.length >= end; end = endOf(bytes)) {
      this.#hear(deserialize(bytes.subarray(LENGTH_BYTES, end)) as Received[]);
      bytes = bytes.subarray(end);
    }
    this.#held = [bytes];
    this.#heldBytes = bytes.length;
  }

  /** How many bytes there must be before a look at them is worth it. */
  #needed(): number {
    const [first] = this.#held;
    return first === undefined ? LENGTH_BYTES : endOf(first);
  }
}

/** Where the first message ends. */
function endOf(bytes: Buffer): number {
  return bytes.length < LENGTH_BYTES ? LENGTH_BYTES : LENGTH_BYTES + bytes.readUInt32BE(0);
}
