import type { Socket } from "node:net";
import { Framing, type Message } from "../test/support/postgres-messages.ts";
import { type Moment, momentToClient, momentToServer } from "./session-moments.ts";
import type { Deed, Fault, Way, Ways } from "./session-plan.ts";

export interface LinkWorld {
  /** @returns what is to happen to a session that comes to the moment. */
  readonly take: (moment: Moment) => Fault | undefined;
  /** By the port from which PostgreSQL sees the session come. */
  readonly endBackend: (port: number, how: "terminate" | "cancel") => void;
}

/** How long PostgreSQL has to end a session before the session goes on. */
const ENDING_MS = 100;
/** A notice that says nothing. */
const KNOCK = Buffer.from([0x4e, 0, 0, 0, 5, 0]);

/** One session through the proxy. */
export class Link {
  readonly #client: Socket;
  readonly #server: Socket;
  readonly #lanes: Readonly<Record<Way, Lane>>;
  readonly #world: LinkWorld;
  /** What was asked and is not answered; the startup is asked first. */
  #unanswered = 1;
  #hasRows = false;
  #isForgotten = false;
  #isWatching = false;
  readonly #returning = new Set<NodeJS.Timeout>();

  constructor(client: Socket, server: Socket, world: LinkWorld) {
    this.#client = client;
    this.#server = server;
    this.#world = world;
    this.#lanes = {
      to_server: new Lane(client, server, "client", {
        received: ({ type }) => {
          if (type === "S" || type === "Q") this.#unanswered += 1;
        },
        passes: (message, pass) => {
          const moment = momentToServer(message);
          this.#isWatching ||= moment === "listen";
          this.#pass(moment, pass);
        },
      }),
      to_client: new Lane(server, client, "server", {
        received: () => {},
        passes: (message, pass) => {
          if (message.type === "Z") this.#unanswered -= 1;
          const moment = momentToClient(message, !this.#hasRows);
          this.#hasRows ||= message.type === "D";
          this.#pass(moment, pass);
        },
      }),
    };
  }

  get isIdle(): boolean {
    return this.#unanswered === 0;
  }

  /** Whether the process watches PostgreSQL on it. */
  get isWatching(): boolean {
    return this.#isWatching;
  }

  /** Whether the client still has it open, though nothing will ever come. */
  get isHanging(): boolean {
    if (!this.#isForgotten || this.#client.closed) return false;
    // One who has only taken leave, and waits for the end, takes this; one who is gone answers with a reset.
    if (this.#client.readableEnded) this.#client.write(KNOCK);
    return true;
  }

  /** Nobody hears of it where the network has forgotten the session. */
  cut(): void {
    if (!this.#isForgotten) this.end();
  }

  end(): void {
    for (const side of [this.#client, this.#server]) side.resetAndDestroy();
  }

  suffer(deed: Deed): void {
    switch (deed.kind) {
      case "reset":
        if (deed.told !== "to_client") this.#server.resetAndDestroy();
        if (deed.told !== "to_server") this.#client.resetAndDestroy();
        if (deed.told !== "both") this.#forget("both");
        return;
      case "half_close":
        this.#lanes[deed.way].close();
        return;
      case "silence":
        if (deed.ms === "for_good") this.#forget(deed.ways);
        else this.#silence(deed.ways, deed.ms);
        return;
      case "terminate":
        if (deed.isEndHeard) this.#silence("to_server", ENDING_MS);
        else {
          this.#forget("to_server");
          this.#lanes.to_client.losesEnd = true;
        }
        this.#endBackend("terminate");
        return;
      case "cancel":
        this.#endBackend("cancel");
    }
  }

  /** The trouble is over: what is only late comes now. What is forgotten stays so, unless nobody waits for it. */
  heal(): void {
    for (const timer of this.#returning) clearTimeout(timer);
    if (!this.#isForgotten) {
      this.#deliver(["to_server", "to_client"]);
      return;
    }
    this.#forget("both");
    this.#server.destroy();
    if (this.isIdle) this.#client.resetAndDestroy();
  }

  #pass(moment: Moment | undefined, pass: Pass): void {
    const fault = moment === undefined ? undefined : this.#world.take(moment);
    if (fault === undefined) {
      pass("all");
      return;
    }
    if (fault.place === "after") pass("all");
    if (fault.place === "within") pass("half");
    this.suffer(fault.deed);
    if (fault.place === "before") pass("later");
  }

  #silence(ways: Ways, ms: number): void {
    const silent = waysOf(ways);
    for (const way of silent) this.#lanes[way].isSilent = true;
    const timer = setTimeout(() => {
      this.#returning.delete(timer);
      if (!this.#isForgotten) this.#deliver(silent);
    }, ms);
    this.#returning.add(timer);
  }

  #forget(ways: Ways): void {
    this.#isForgotten = true;
    for (const way of waysOf(ways)) this.#lanes[way].isSilent = true;
  }

  #deliver(ways: readonly Way[]): void {
    for (const way of ways) {
      this.#lanes[way].isSilent = false;
      this.#lanes[way].deliver();
    }
  }

  #endBackend(how: "terminate" | "cancel"): void {
    if (this.#server.localPort !== undefined) this.#world.endBackend(this.#server.localPort, how);
  }
}

function waysOf(ways: Ways): readonly Way[] {
  return ways === "both" ? ["to_server", "to_client"] : [ways];
}

/** Of a message: all of it goes out, or its first half and the rest when the lane goes on, or all of it then. */
type Pass = (what: "all" | "half" | "later") => void;

interface LaneEvents {
  readonly received: (message: Message) => void;
  readonly passes: (message: Message, pass: Pass) => void;
}

/** What one side sends to the other. */
class Lane {
  isSilent = false;
  /** The other side never learns that this one has ended. */
  losesEnd = false;
  readonly #to: Socket;
  readonly #events: LaneEvents;
  readonly #waiting: Message[] = [];
  /** Of a message whose turn has come. */
  #rest: Buffer | undefined;
  #end: "none" | "orderly" | "broken" = "none";

  constructor(from: Socket, to: Socket, sender: "client" | "server", events: LaneEvents) {
    this.#to = to;
    this.#events = events;
    const framing = new Framing(sender);
    from.on("data", (chunk) => {
      const messages = framing.push(chunk);
      for (const message of messages) this.#events.received(message);
      this.#waiting.push(...messages);
      this.deliver();
    });
    const end = (how: "orderly" | "broken") => {
      if (this.#end !== "none") return;
      this.#end = how;
      this.deliver();
    };
    from.on("end", () => end("orderly"));
    from.on("error", () => end("broken"));
    from.on("close", () => end("broken"));
  }

  deliver(): void {
    while (!this.isSilent) {
      const rest = this.#rest;
      this.#rest = undefined;
      if (rest !== undefined) this.#write(rest);
      const message = this.#waiting.shift();
      if (message === undefined) break;
      this.#events.passes(message, (what) => this.#pass(message.bytes, what));
    }
    if (this.isSilent || this.losesEnd || this.#end === "none") return;
    if (this.#end === "orderly") this.#to.end();
    else this.#to.destroy();
  }

  /** Says to the other side that nothing more comes. */
  close(): void {
    this.#to.end();
  }

  #pass(bytes: Buffer, what: "all" | "half" | "later"): void {
    const sent = { all: bytes.length, half: bytes.length >> 1, later: 0 }[what];
    this.#write(bytes.subarray(0, sent));
    if (sent < bytes.length) this.#rest = bytes.subarray(sent);
  }

  #write(bytes: Buffer): void {
    if (bytes.length > 0 && this.#to.writable) this.#to.write(bytes);
  }
}
