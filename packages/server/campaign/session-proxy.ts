import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server } from "node:net";
import { Link, type LinkWorld } from "./session-link.ts";
import type { Moment } from "./session-moments.ts";
import { type Fault, nameOf, needsFresh } from "./session-plan.ts";

interface Armed {
  readonly fault: Fault;
  skip: number;
  times: number;
}

/** Stands between one process and PostgreSQL, and does to single sessions, at the moments it is told, what networks do. */
export class SessionProxy {
  /** Of the same database, through the proxy. */
  readonly url: string;
  /** How often each deed was done, and at which moment. */
  readonly done = new Map<string, number>();
  readonly #server: Server;
  readonly #links = new Set<Link>();
  #armed: Armed[] = [];

  static async start(target: string, endBackend: LinkWorld["endBackend"]): Promise<SessionProxy> {
    const server = createServer({ allowHalfOpen: true });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return new SessionProxy(server, new URL(target), endBackend);
  }

  private constructor(server: Server, target: URL, endBackend: LinkWorld["endBackend"]) {
    const url = new URL(target);
    url.port = String((server.address() as AddressInfo).port);
    this.url = url.href;
    this.#server = server;
    const world: LinkWorld = { take: (moment) => this.#take(moment), endBackend };
    server.on("connection", (client) => {
      client.setNoDelay();
      const onward = connect({ port: Number(target.port), host: target.hostname, allowHalfOpen: true, noDelay: true });
      const link = new Link(client, onward, world);
      this.#links.add(link);
      const drop = () => {
        if (client.closed && onward.closed) this.#links.delete(link);
      };
      client.once("close", drop);
      onward.once("close", drop);
    });
  }

  /** Lets it happen to the next sessions that come to its moment. */
  arm(fault: Fault): void {
    if (fault.moment !== "idle") {
      this.#armed.push({ fault, skip: fault.skip, times: fault.times });
      if (needsFresh(fault)) for (const link of this.#links) if (!(fault.isWatchSpared && link.isWatching)) link.cut();
      return;
    }
    const idle = [...this.#links].filter(({ isIdle }) => isIdle);
    for (const link of idle.slice(fault.skip, fault.skip + fault.times)) {
      this.#count(fault);
      link.suffer(fault.deed);
    }
  }

  /** The trouble is over, but for what was to last. */
  heal(): void {
    this.#armed = [];
    for (const link of this.#links) link.heal();
  }

  /** How many sessions the process has not left, though nothing will ever come from them. */
  countHanging(): number {
    return [...this.#links].filter((link) => link.isHanging).length;
  }

  async close(): Promise<void> {
    for (const link of this.#links) link.end();
    this.#server.close();
    await once(this.#server, "close");
  }

  #take(moment: Moment): Fault | undefined {
    const armed = this.#armed.find(({ fault }) => fault.moment === moment);
    if (armed === undefined) return undefined;
    if (armed.skip > 0) {
      armed.skip -= 1;
      return undefined;
    }
    armed.times -= 1;
    if (armed.times === 0) this.#armed = this.#armed.filter((each) => each !== armed);
    this.#count(armed.fault);
    return armed.fault;
  }

  #count({ moment, deed }: Fault): void {
    const what = `${moment}: ${nameOf(deed)}`;
    this.done.set(what, (this.done.get(what) ?? 0) + 1);
  }
}
