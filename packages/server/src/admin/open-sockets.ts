import type { Socket } from "node:net";
import type { Authority } from "../domain/staff.ts";
import type { ReadingPorts } from "../services/ports.ts";

const LOOKING_EVERY_MS = 1_000;

/** The sockets of staff, each with the rights of its last request: it is closed when they end, even during a download. */
export class OpenSockets {
  readonly #ports: ReadingPorts;
  readonly #rights = new Map<Socket, Authority>();

  constructor(ports: ReadingPorts) {
    this.#ports = ports;
  }

  note(socket: Socket, authority: Authority): void {
    this.#rights.set(socket, authority);
  }

  /** Until it is known whose the next request is: a proxy's socket serves many. */
  forget(socket: Socket): void {
    this.#rights.delete(socket);
  }

  /** Any process may end a session, so the database is asked. */
  watch(ending: AbortSignal): void {
    // If the database is unavailable, the next look is a second later.
    const timer = setInterval(() => void this.#closeEnded().catch(() => {}), LOOKING_EVERY_MS).unref();
    ending.addEventListener("abort", () => clearInterval(timer));
  }

  async #closeEnded(): Promise<void> {
    for (const [socket, authority] of this.#rights) {
      if (socket.destroyed) this.forget(socket);
      else if (!(await this.#ports.store.staff.hasRights(authority)) && this.#rights.get(socket) === authority)
        socket.destroy();
    }
  }
}
