import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { Framing, isSetUp, type Message, statementOf } from "./postgres-messages.ts";

/** What becomes of the next commit that a client sends. */
export type CommitFault =
  /** The connection is cut before the commit reaches the server. */
  | "lost"
  /** The connection is cut when the server has committed, before the client learns of it. */
  | "unanswered"
  /** Everything stands still from just before the commit on, until `pass`. */
  | "held";

/** Stands between a client and its PostgreSQL server, and does what networks do. */
export class PostgresProxy {
  /** Of the same database, through the proxy. */
  readonly url: string;
  /** Commits that clients have sent so far, whatever became of them. */
  commits = 0;
  /** Notifications stay here and never arrive. */
  dropsNotifications = false;
  commitFault: CommitFault | undefined;
  /** Everything stands still, until `pass`, within the next statement of this name: with its last message, a Sync. */
  splitStatement: string | undefined;
  /** The next session that a client sets up is told that it ends, and then nothing more comes, not even the end. */
  silencesNextSetUp = false;

  readonly #server: Server;
  readonly #links = new Set<Link>();
  #isHolding = false;
  #isRefusing = false;

  private constructor(server: Server, target: URL) {
    const url = new URL(target);
    url.port = String((server.address() as AddressInfo).port);
    this.url = url.href;
    this.#server = server;
    server.on("connection", (client) => {
      if (this.#isRefusing) return void client.resetAndDestroy();
      const link = new Link(this, client, connect(Number(target.port), target.hostname));
      this.#links.add(link);
      client.once("close", () => this.#links.delete(link));
    });
  }

  static async start(url: string): Promise<PostgresProxy> {
    const server = createServer();
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return new PostgresProxy(server, new URL(url));
  }

  get isHolding(): boolean {
    return this.#isHolding;
  }

  /** How many clients have one open. */
  get connections(): number {
    return this.#links.size;
  }

  /** Ends all connections. */
  cut(): void {
    for (const link of this.#links) link.cut();
  }

  /** Ends all connections, and new ones at once. */
  refuse(): void {
    this.#isRefusing = true;
    this.cut();
  }

  /** A black hole: takes everything and new connections too, and gives nothing. What it took arrives late, after `pass`. */
  hold(): void {
    this.#isHolding = true;
  }

  /** As {@link hold}, for good, but only for what is connected: as a firewall does that has forgotten it. */
  freeze(): void {
    for (const link of this.#links) link.isFrozen = true;
  }

  /** All is well again. */
  pass(): void {
    this.#isHolding = false;
    this.#isRefusing = false;
    for (const link of this.#links) link.deliver();
  }

  async close(): Promise<void> {
    this.cut();
    this.#server.close();
    await once(this.#server, "close");
  }
}

/** One connection through the proxy. */
class Link {
  isFrozen = false;
  isSplitting = false;
  readonly #sides: readonly [client: Socket, server: Socket];
  readonly #ways: readonly [toServer: Way, toClient: Way];

  constructor(proxy: PostgresProxy, client: Socket, server: Socket) {
    this.#sides = [client, server];
    for (const side of this.#sides) side.setNoDelay();
    const cut = () => this.cut();
    const toServer = (message: Message) => {
      if (proxy.silencesNextSetUp && isSetUp(message)) {
        proxy.silencesNextSetUp = false;
        this.isFrozen = true;
        client.allowHalfOpen = true;
        client.write(ENDED);
      }
      if (message.type === "B" && statementOf(message) === proxy.splitStatement) {
        proxy.splitStatement = undefined;
        this.isSplitting = true;
      } else if (message.type === "S" && this.isSplitting) {
        this.isSplitting = false;
        proxy.hold();
      }
      if (!isCommit(message)) return "pass";
      const fault = takeFault(proxy, ["lost", "held"]);
      if (fault === "held") proxy.hold();
      else if (fault === "lost" || message.type !== "P") proxy.commits += 1;
      return fault === "lost" ? "cut" : "pass";
    };
    const toClient = (message: Message) => {
      if (message.type === "A" && proxy.dropsNotifications) return "drop";
      return isCommitted(message) && takeFault(proxy, ["unanswered"]) !== undefined ? "cut" : "pass";
    };
    const isHolding = () => proxy.isHolding || this.isFrozen;
    this.#ways = [
      new Way(client, server, new Framing("client"), toServer, isHolding, cut),
      new Way(server, client, new Framing("server"), toClient, isHolding, cut),
    ];
  }

  deliver(): void {
    for (const way of this.#ways) way.deliver();
  }

  cut(): void {
    for (const side of this.#sides) side.destroy();
  }
}

type Verdict = "pass" | "drop" | "cut";

/** What one side sends to the other. */
class Way {
  readonly #to: Socket;
  readonly #judge: (message: Message) => Verdict;
  readonly #isHolding: () => boolean;
  readonly #cut: () => void;
  readonly #messages: Message[] = [];
  #hasEnded = false;

  constructor(
    from: Socket,
    to: Socket,
    framing: Framing,
    judge: (message: Message) => Verdict,
    isHolding: () => boolean,
    cut: () => void,
  ) {
    this.#to = to;
    this.#judge = judge;
    this.#isHolding = isHolding;
    this.#cut = cut;
    from.on("data", (chunk) => {
      this.#messages.push(...framing.push(chunk));
      this.deliver();
    });
    from.on("error", () => {});
    from.on("close", () => {
      this.#hasEnded = true;
      this.deliver();
    });
  }

  deliver(): void {
    for (;;) {
      const message = this.#isHolding() ? undefined : this.#messages.shift();
      if (message === undefined) break;
      const verdict = this.#judge(message);
      // What was judged may itself have made everything stand still.
      if (this.#isHolding()) {
        this.#messages.unshift(message);
        return;
      }
      if (verdict === "cut") {
        this.#cut();
        return;
      }
      if (verdict === "pass" && this.#to.writable) this.#to.write(message.bytes);
    }
    if (this.#hasEnded && !this.#isHolding()) this.#to.end();
  }
}

/** Whether it prepares or binds the statement that commits, or is all of that in one. */
function isCommit({ type, bytes }: Message): boolean {
  return type === "Q"
    ? bytes.includes("COMMIT")
    : ["P", "B"].includes(type) && statementOf({ type, bytes }) === "commit";
}

/** PostgreSQL's word to a session that somebody ends: a type, a length, and fields that end with a zero each. */
const ENDED = asError("SFATAL", "VFATAL", "C57P01", "Mterminating connection due to administrator command");

/** As PostgreSQL tells of it: each field with the letter of what it is. */
export function asError(...fields: readonly string[]): Buffer {
  const body = Buffer.from(`${fields.map((field) => `${field}\0`).join("")}\0`);
  const head = Buffer.from("E....");
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

function isCommitted({ type, bytes }: Message): boolean {
  return type === "C" && bytes.toString("latin1", 5) === "COMMIT\0";
}

function takeFault(proxy: PostgresProxy, faults: readonly CommitFault[]): CommitFault | undefined {
  const fault = proxy.commitFault;
  if (fault === undefined || !faults.includes(fault)) return undefined;
  proxy.commitFault = undefined;
  return fault;
}
