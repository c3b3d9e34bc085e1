import { createSocket, type RemoteInfo, type Socket } from "node:dgram";
import { isIPv6 } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { type Answer, type Attributes, disconnectRequest, readAnswer } from "./packet.ts";

/** A device that holds sessions, such as a router. */
export interface Device {
  readonly address: string;
  readonly port: number;
  readonly secret: string;
}

const WAITS_MS = [1_000, 2_000, 4_000] as const;
/** Requests that a device gets at once. */
const MOST_OPEN = 8;
const IDENTIFIERS = 256;

interface Open {
  readonly request: Buffer;
  readonly secret: string;
  readonly answered: (answer: Answer) => void;
}

/** Asks devices to end sessions. A device that is silent holds up no other. */
export class Devices {
  readonly #sockets = new Map<"udp4" | "udp6", Socket>();
  /** Open requests by device and identifier. */
  readonly #open = new Map<string, Map<number, Open>>();
  readonly #waiting = new Map<string, (() => void)[]>();
  readonly #waitsMs: readonly number[];
  #last = 0;

  /** @param waitsMs waits after each of the packets, which are the same. */
  constructor(waitsMs: readonly number[] = WAITS_MS) {
    this.#waitsMs = waitsMs;
  }

  /**
   * Resolves with the device's answer; undefined if it was silent, or the signal was aborted.
   * @throws TypeError if an attribute cannot be sent.
   */
  async endSession(device: Device, attributes: Attributes, signal?: AbortSignal): Promise<Answer | undefined> {
    const open = this.#openAt(nameOf(device));
    while (open.size >= MOST_OPEN) await this.#turn(nameOf(device));
    do this.#last = (this.#last + 1) % IDENTIFIERS;
    while (open.has(this.#last));
    const identifier = this.#last;
    const ended = new AbortController();
    try {
      const request = disconnectRequest(identifier, attributes, device.secret);
      const answer = new Promise<Answer>((answered) =>
        open.set(identifier, { request, secret: device.secret, answered }),
      );
      const stopped = AbortSignal.any([ended.signal, ...(signal === undefined ? [] : [signal])]);
      return await Promise.race([answer, this.#repeat(device, request, stopped)]);
    } finally {
      ended.abort();
      open.delete(identifier);
      this.#waiting.get(nameOf(device))?.shift()?.();
    }
  }

  /** Open requests end as if the devices were silent. */
  close(): void {
    for (const socket of this.#sockets.values()) socket.close();
    this.#sockets.clear();
  }

  async #repeat(device: Device, request: Buffer, stopped: AbortSignal): Promise<undefined> {
    for (const ms of this.#waitsMs) {
      if (stopped.aborted) return;
      // An error of the network counts as silence.
      this.#socketFor(device.address).send(request, device.port, device.address, () => {});
      await delay(ms, undefined, { signal: stopped }).catch(() => {});
    }
  }

  #socketFor(address: string): Socket {
    const type = isIPv6(address) ? "udp6" : "udp4";
    const known = this.#sockets.get(type);
    if (known !== undefined) return known;
    const socket = createSocket(type);
    socket.on("error", () => {});
    socket.on("message", (packet, from) => this.#receive(packet, from));
    socket.unref();
    this.#sockets.set(type, socket);
    return socket;
  }

  #receive(packet: Buffer, from: RemoteInfo): void {
    const open = this.#open.get(nameOf(from))?.get(packet[1] ?? -1);
    const answer = open && readAnswer(packet, open.request, open.secret);
    if (answer !== undefined) open?.answered(answer);
  }

  #openAt(name: string): Map<number, Open> {
    const open = this.#open.get(name) ?? new Map<number, Open>();
    this.#open.set(name, open);
    return open;
  }

  #turn(name: string): Promise<void> {
    const waiting = this.#waiting.get(name) ?? [];
    this.#waiting.set(name, waiting);
    return new Promise((resolve) => waiting.push(resolve));
  }
}

function nameOf({ address, port }: Pick<Device, "address" | "port">): string {
  return `${address} ${port}`;
}
