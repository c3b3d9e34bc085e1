import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { ConnectionMessage } from "../src/domain/event.ts";
import type { Choices } from "./random.ts";

/** Faults of the receiver, with their percentage of events. */
const MISHAPS = [
  ...Array<"take">(78).fill("take"),
  ...Array<"take late">(5).fill("take late"),
  ...Array<"refuse">(8).fill("refuse"),
  ...Array<"take, and say that it failed">(3).fill("take, and say that it failed"),
  ...Array<"break off">(3).fill("break off"),
  ...Array<"take, and break off">(2).fill("take, and break off"),
  ...Array<"hang">(1).fill("hang"),
] as const;
const LONGEST_DELAY_MS = 50;

/** A webhook receiver that fails at random. */
export abstract class Receiver<Message> {
  /** Whether it accepts every event. */
  isWell = false;
  /** Number of faults, for the report. */
  failures = 0;
  /** Number of events that arrived, accepted or not. */
  arrivals = 0;
  readonly #choices: Choices;
  #server: Server | undefined;
  #port = 0;

  constructor(choices: Choices) {
    this.#choices = choices;
  }

  /** Records that a message arrived. @returns what records that it is accepted. */
  protected abstract arrived(message: Message): () => void;

  get url(): string {
    return `http://127.0.0.1:${this.#port}/events`;
  }

  async open(): Promise<void> {
    const server = createServer((request, response) => {
      response.on("error", () => {});
      this.#receive(request, response).catch(() => response.destroy());
    });
    server.listen(this.#port, "127.0.0.1");
    await once(server, "listening");
    this.#port = (server.address() as AddressInfo).port;
    this.#server = server;
  }

  /** Closes all open requests, including hanging ones. */
  async close(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server === undefined) return;
    const closed = once(server, "close");
    server.close();
    server.closeAllConnections();
    await closed;
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    this.arrivals += 1;
    const take = this.arrived(JSON.parse(Buffer.concat(chunks).toString()) as Message);
    const mishap = this.isWell ? "take" : this.#choices.of(MISHAPS);
    if (mishap !== "take") this.failures += 1;
    if (mishap === "take late") await sleep(this.#choices.below(LONGEST_DELAY_MS));
    if (mishap.startsWith("take")) take();
    if (mishap === "hang") return;
    if (mishap.endsWith("break off")) response.destroy();
    else response.writeHead(mishap.startsWith("take") && !mishap.endsWith("failed") ? 204 : 500).end();
  }
}

/** A receiver of the states of connections. */
export class StateReceiver extends Receiver<ConnectionMessage> {
  /** Events repeated after later ones of their connection without a kill. */
  readonly outOfOrder: string[] = [];
  /** Ids of the accepted events. */
  readonly taken = new Set<string>();
  /** State of each connection by its newest accepted event. Repeated older events do not change it. */
  readonly state = new Map<string, { readonly seq: number; readonly data: ConnectionMessage["data"] }>();
  /** Number of kills so far. The process that continues may repeat previous events. */
  readonly #epoch: () => number;
  readonly #last = new Map<string, { readonly seq: number; readonly epoch: number; readonly at: string }>();

  constructor(choices: Choices, epoch: () => number) {
    super(choices);
    this.#epoch = epoch;
  }

  protected arrived(event: ConnectionMessage): () => void {
    const [name, seq, epoch] = [connectionName(event), seqOf(event), this.#epoch()];
    const last = this.#last.get(name);
    const at = new Date().toISOString();
    if (last !== undefined && seq < last.seq && epoch === last.epoch)
      this.outOfOrder.push(`at ${at}, ${event.id} came after number ${last.seq} of ${name}, which came at ${last.at}`);
    this.#last.set(name, { seq, epoch, at });
    return () => {
      this.taken.add(event.id);
      if (seq >= (this.state.get(name)?.seq ?? 0)) this.state.set(name, { seq, data: event.data });
    };
  }
}

export function connectionName({ data }: Pick<ConnectionMessage, "data">): string {
  const { environment, cuid, connection } = data;
  return [environment, cuid, connection.service, connection.reqId].join(" ");
}

export function seqOf({ id }: Pick<ConnectionMessage, "id">): number {
  return Number(id.split("_")[2]);
}
