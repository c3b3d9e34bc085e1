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

/** A webhook receiver that fails at random and records the events that arrive. */
export class Receiver {
  /** Whether it accepts every event. */
  isWell = false;
  /** Violations, for the report. */
  failures = 0;
  /** Events repeated after later ones of their connection without a kill. */
  readonly outOfOrder: string[] = [];
  /** Ids of the accepted events. */
  readonly taken = new Set<string>();
  /** State of each connection by its newest accepted event. Repeated older events do not change it. */
  readonly state = new Map<string, { readonly seq: number; readonly data: ConnectionMessage["data"] }>();
  readonly #choices: Choices;
  /** Number of kills so far. The process that continues may repeat previous events. */
  readonly #epoch: () => number;
  readonly #last = new Map<string, { readonly seq: number; readonly epoch: number; readonly at: string }>();
  /** Number of events that arrived, accepted or not. */
  arrivals = 0;
  #server: Server | undefined;
  #port = 0;

  constructor(choices: Choices, epoch: () => number) {
    this.#choices = choices;
    this.#epoch = epoch;
  }

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
    const event = JSON.parse(Buffer.concat(chunks).toString()) as ConnectionMessage;
    this.arrivals += 1;
    this.#judge(event);
    const mishap = this.isWell ? "take" : this.#choices.of(MISHAPS);
    if (mishap !== "take") this.failures += 1;
    if (mishap === "take late") await sleep(this.#choices.below(LONGEST_DELAY_MS));
    if (mishap.startsWith("take")) this.#take(event);
    if (mishap === "hang") return;
    if (mishap.endsWith("break off")) response.destroy();
    else response.writeHead(mishap.startsWith("take") && !mishap.endsWith("failed") ? 204 : 500).end();
  }

  #judge(event: ConnectionMessage): void {
    const [name, seq, epoch] = [connectionName(event), seqOf(event), this.#epoch()];
    const last = this.#last.get(name);
    const at = new Date().toISOString();
    if (last !== undefined && seq < last.seq && epoch === last.epoch)
      this.outOfOrder.push(`at ${at}, ${event.id} came after number ${last.seq} of ${name}, which came at ${last.at}`);
    this.#last.set(name, { seq, epoch, at });
  }

  #take(event: ConnectionMessage): void {
    const [name, seq] = [connectionName(event), seqOf(event)];
    this.taken.add(event.id);
    if (seq >= (this.state.get(name)?.seq ?? 0)) this.state.set(name, { seq, data: event.data });
  }
}

export function connectionName({ data }: Pick<ConnectionMessage, "data">): string {
  const { environment, cuid, connection } = data as Partial<ConnectionMessage["data"]>;
  // A fact for a partner names the service and the connection itself.
  const { service, reqId } = connection ?? (data as unknown as ConnectionMessage["data"]["connection"]);
  return [environment, cuid, service, reqId].join(" ");
}

/** The number of an event; for a fact, the time in its txnId. */
export function seqOf({ id }: Pick<ConnectionMessage, "id">): number {
  const [, txnId] = /^recorded_(.*)$/.exec(id) ?? [];
  return txnId === undefined ? Number(id.split("_")[2]) : timeOf(txnId);
}

const DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

function timeOf(txnId: string): number {
  let time = 0;
  for (const digit of txnId.slice(0, 10)) time = time * DIGITS.length + DIGITS.indexOf(digit);
  return time;
}
