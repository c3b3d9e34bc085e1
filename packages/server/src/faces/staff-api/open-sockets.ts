import type { ServerResponse } from "node:http";
import type { Authority } from "../../domain/staff.ts";
import { hasRights } from "../../store/audit.ts";
import type { AdminPorts } from "./ports.ts";

const LOOKING_EVERY_MS = 1_000;

/** The sockets of requests that staff wait for: a socket is closed when the rights end, even during an upload or download. */
export class OpenSockets {
  readonly #ports: Pick<AdminPorts, "store" | "sleep">;
  readonly #rights = new Map<ServerResponse, Authority>();

  constructor(ports: Pick<AdminPorts, "store" | "sleep">) {
    this.#ports = ports;
  }

  /** Watches a request until it is answered: the next one on its socket is admitted by itself. */
  note(response: ServerResponse, authority: Authority): void {
    this.#rights.set(response, authority);
    response.once("close", () => this.#rights.delete(response));
  }

  /** Looks every second until the signal. Any process may end a session, so the database is asked. */
  async watch(ending: AbortSignal): Promise<void> {
    while (!ending.aborted) {
      await this.#ports.sleep(LOOKING_EVERY_MS, ending);
      // If the database is unavailable, the next look is a second later.
      await this.#closeEnded().catch(() => {});
    }
  }

  async #closeEnded(): Promise<void> {
    for (const [response, authority] of this.#rights) {
      const { socket } = response.req;
      // A response whose socket closed before it was noted never closes itself.
      if (socket.destroyed) this.#rights.delete(response);
      else if (!(await hasRights(this.#ports.store.engine.db, authority)) && this.#rights.has(response))
        socket.destroy();
    }
  }
}
