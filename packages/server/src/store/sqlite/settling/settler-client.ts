import { connect, type Socket } from "node:net";
import type { Zone } from "../../../domain/zone.ts";
import { MAX_WAITING, overloaded } from "../../batcher.ts";
import { StoreUnavailable } from "../../errors.ts";
import type { Settled, SettlingItem } from "../../settling.ts";
import { type Answered, type Asked, errorOf, Messages, packItem, unpackOutcome } from "./settler-protocol.ts";

/** How long until a settler that is away is tried again. */
const RETRY_MS = 50;

interface Waiting {
  readonly item: SettlingItem;
  readonly resolve: (settled: Settled) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Has items settled by the settler, which settles those of all workers together. A settler that ends leaves it unknown what
 * became of what it was asked, as a database does that cannot be reached; another one is connected to as soon as it is there.
 */
export class SettlerClient {
  readonly #path: string;
  readonly #zone: Zone;
  /** Hears that something was settled, before those who wait for it. */
  readonly #onSettled: () => void;
  readonly #waiting = new Map<number, Waiting>();
  #socket: Socket | undefined;
  #messages: Messages<Asked, Answered> | undefined;
  #retry: NodeJS.Timeout | undefined;
  #lastId = 0;
  #isClosed = false;
  /** Resolves once the settler is there for the first time. */
  readonly connected: Promise<void>;
  #isConnected = () => {};
  /** Once nobody waits. */
  #onAnswered = () => {};

  /** @param path of the settler's socket. */
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

  /** @throws StoreUnavailable also where there is no settler. */
  settle(item: SettlingItem): Promise<Settled> {
    if (this.isFull) return Promise.reject(overloaded());
    const messages = this.#messages;
    if (messages === undefined) return Promise.reject(new StoreUnavailable("the process that settles top-ups is away"));
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { item, resolve, reject });
      messages.send([id, packItem(item)]);
    });
  }

  /** Nothing is to be asked any more. Resolves once all that was is answered. */
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
      this.#messages = new Messages(socket, (answers) => this.#hear(answers));
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

  #hear(answers: readonly Answered[]): void {
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
