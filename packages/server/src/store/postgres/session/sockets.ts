import { Socket } from "node:net";

/** For the server to close its side, which takes it a moment if it can be reached at all. */
export const LEAVING_MS = 500;

/** The sockets of some sessions: whoever has them can part with a server that does not answer any more. */
export class Sockets {
  readonly #open = new Set<Socket>();

  /** As the driver asks for one. */
  readonly open = (): Socket => {
    const socket = new Socket();
    this.#open.add(socket);
    socket.once("close", () => this.#open.delete(socket));
    return socket;
  };

  destroyAll(): void {
    for (const socket of this.#open) socket.destroy();
  }

  /** Resolves once all are closed, which those who have taken leave of the server soon are. */
  async closed(): Promise<void> {
    const timer = setTimeout(() => this.destroyAll(), LEAVING_MS);
    await Promise.all([...this.#open].map((socket) => new Promise((resolve) => socket.once("close", resolve))));
    clearTimeout(timer);
  }
}
