import type { Socket } from "node:net";
import { deserialize, serialize } from "node:v8";
import type { Money } from "../../domain/money.ts";
import type { Sale } from "../../domain/sale.ts";
import type { TopUpCommand } from "../../domain/top-up.ts";
import { transactionOf } from "../../domain/transaction.ts";
import type { Instant, Zone } from "../../domain/wall-time.ts";
import { StoreContended, StoreUnavailable } from "../errors.ts";
import type { Settled, SettlingItem } from "../settling.ts";

/*
 * The messages between a worker and the settler. The answer to an item has the item's number. One message has many items.
 * Items are sent as lists of values, because objects take several times as long.
 */

export type Asked = readonly [id: number, item: PackedItem];
export type Answered = readonly [id: number, outcome: PackedOutcome] | readonly [id: number, undefined, Failure];

export type PackedTopUp = readonly [
  checkoutId: string,
  issuedAt: Instant,
  revision: number,
  txnDigits: string,
  partnerId: number,
  environment: TopUpCommand["environment"],
  cuid: string,
  service: TopUpCommand["service"],
  reqId: string,
  bouquetCode: string,
  amount: TopUpCommand["amount"],
  udf1: string | undefined,
  udf2: string | undefined,
  tokenId: string | undefined,
  sale: Sale | undefined,
];
/** A top-up, or the checkoutId of a conclusion. */
export type PackedItem = PackedTopUp | string;
/** The time of a recorded top-up, and its commission if there is one: the worker has all other data. */
export type PackedOutcome = Instant | readonly [at: Instant, commission: Money] | Settled;
/** An error as plain data, because a message cannot carry its class. */
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
    command.sale,
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
      sale: packed[14],
    },
  };
}

export function packOutcome(settled: Settled): PackedOutcome {
  const isRecorded = typeof settled === "object" && "kind" in settled && settled.kind === "recorded";
  if (!isRecorded) return settled;
  const { at, commission } = settled.transaction;
  return commission === 0n ? at : [at, commission];
}

export function unpackOutcome(packed: PackedOutcome, item: SettlingItem, zone: Zone): Settled {
  if (typeof packed !== "number" && !isPair(packed)) return packed;
  const [at, commission] = typeof packed === "number" ? [packed, 0n] : packed;
  if (item.kind !== "top_up") throw new Error("the settler recorded a top-up that no request contained");
  return { kind: "recorded", transaction: transactionOf(item.command, zone.moment(at), commission) };
}

function isPair(packed: PackedOutcome): packed is readonly [Instant, Money] {
  return Array.isArray(packed);
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

/** Messages over a socket. Messages sent in one turn of the event loop go as one list, with its length in front. */
export class Messages<Sent, Received> {
  readonly #socket: Socket;
  readonly #receive: (received: readonly Received[]) => void;
  #outgoing: Sent[] = [];
  #held: Buffer[] = [];
  #heldBytes = 0;

  constructor(socket: Socket, receive: (received: readonly Received[]) => void) {
    this.#socket = socket;
    this.#receive = receive;
    socket.on("data", (chunk) => this.#take(chunk));
  }

  send(message: Sent): void {
    if (this.#outgoing.push(message) === 1) setImmediate(() => this.#flush());
  }

  /** Ends the connection after the last message is sent. */
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
      this.#receive(deserialize(bytes.subarray(LENGTH_BYTES, end)) as Received[]);
      bytes = bytes.subarray(end);
    }
    this.#held = [bytes];
    this.#heldBytes = bytes.length;
  }

  /** Bytes that must have arrived before the first message can be complete. */
  #needed(): number {
    const [first] = this.#held;
    return first === undefined ? LENGTH_BYTES : endOf(first);
  }
}

/** The offset of the first message's end. */
function endOf(bytes: Buffer): number {
  return bytes.length < LENGTH_BYTES ? LENGTH_BYTES : LENGTH_BYTES + bytes.readUInt32BE(0);
}
