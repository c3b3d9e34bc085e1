import { connect, type Socket } from "node:net";
import type { Zone } from "../../domain/wall-time.ts";
import { MAX_WAITING, overloaded } from "../batcher.ts";
import { StoreUnavailable } from "../errors.ts";
import type { Settled, SettlingItem } from "../settling.ts";
import { type Answered, type Asked, errorOf, Messages, packItem, unpackOutcome } from "./settler-protocol.ts";

/** How long to wait before the next attempt to connect to the settler. */
const RETRY_MS = 50;

interface Waiting {
  readonly item: SettlingItem;
  readonly resolve: (settled: Settled) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Sends items to the settler, which settles the items of all workers together. If the settler ends, the outcome of waiting
 * items is unknown, as with a lost database connection. The client reconnects as soon as there is a new settler.
 */
export class SettlerClient {
  readonly #path: string;
  readonly #zone: Zone;
  /** Called when items were settled, before their promises resolve. */
  readonly #onSettled: () => void;
  readonly #waiting = new Map<number, Waiting>();
  #socket: Socket | undefined;
  #messages: Messages<Asked, Answered> | undefined;
  #retry: NodeJS.Timeout | undefined;
  #lastId = 0;
  #isClosed = false;
  /** Resolves at the first connection to the settler. */
  readonly connected: Promise<void>;
  #isConnected = () => {};
  /** Called when no item waits. */
  #onAnswered = () => {};

  /** @param path the settler's socket. */
  constructor(path: string, zone: Zone, onSettled: () => void) {
    this.#path = path;
    this.#zone = zone;
    this.#onSettled = onSettled;
    this.connected = new Promise((resolve) => {
      this.#isConnected = resolve;
    });
    this.#connect();
  }

  get isFull(): boolean {
    return this.#waiting.size >= MAX_WAITING;
  }

  /** @throws StoreUnavailable also if there is no settler. */
  settle(item: SettlingItem): Promise<Settled> {
    if (this.isFull) return Promise.reject(overloaded());
    const messages = this.#messages;
    if (messages === undefined)
      return Promise.reject(new StoreUnavailable("the process that settles top-ups is unavailable"));
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { item, resolve, reject });
      messages.send([id, packItem(item)]);
    });
  }

  /** Must be called after the last `settle`. Resolves when all items are answered. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#retry);
    const answered = new Promise<void>((resolve) => {
      this.#onAnswered = resolve;
    });
    if (this.#waiting.size > 0) await answered;
    this.#socket?.destroy();
  }

  #connect(): void {
    const socket = connect(this.#path);
    this.#socket = socket;
    socket.on("connect", () => {
      this.#messages = new Messages(socket, (answers) => this.#receive(answers));
      this.#isConnected();
    });
    socket.on("error", () => {});
    socket.on("close", () => {
      this.#messages = undefined;
      const waiting = [...this.#waiting.values()];
      this.#waiting.clear();
      for (const { reject } of waiting) reject(new StoreUnavailable("the process that settles top-ups has ended"));
      this.#onAnswered();
      if (!this.#isClosed) this.#retry = setTimeout(() => this.#connect(), RETRY_MS);
    });
  }

  #receive(answers: readonly Answered[]): void {
    this.#onSettled();
    for (const [id, outcome, failure] of answers) {
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (waiting === undefined) continue;
      if (failure !== undefined) waiting.reject(errorOf(failure));
      else waiting.resolve(unpackOutcome(outcome, waiting.item, this.#zone));
    }
    if (this.#waiting.size === 0) this.#onAnswered();
  }
}
