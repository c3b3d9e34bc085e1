import { once } from "node:events";
import { type AddressInfo, connect, createServer, isIP, type Server, type Socket } from "node:net";
import { type ConnectionOptions, connect as secure } from "node:tls";
import pg from "pg";
import { Framing, type Message, statementOf } from "./postgres-messages.ts";

/** What becomes of the next commit that a client sends. */
export type CommitFault =
  /** The connection is cut before the commit reaches the server. */
  | "lost"
  /** The connection is cut when the server has committed, before the client learns of it. */
  | "unanswered"
  /** Everything stands still from just before the commit on, until `pass`. */
  | "held";

/** What becomes of a transaction at the nth message that one side sends from BEGIN on. */
export interface TransactionFault {
  readonly from: "client" | "server";
  readonly at: number;
  /** The connection is cut before the message arrives, or everything stands still, until `pass`. */
  readonly what: "cut" | "held";
}

/** Stands between a client and its PostgreSQL server, and does what networks do. */
export class PostgresProxy {
  /** Of the same database, through the proxy. */
  readonly url: string;
  /** Commits that clients have sent so far, whatever became of them. */
  commits = 0;
  /** Statements so far for which the server's disk was too full. */
  fullDisks = 0;
  commitFault: CommitFault | undefined;
  /** Of the first transaction that comes so far. */
  transactionFault: TransactionFault | undefined;

  readonly #server: Server;
  #target: string;
  readonly #links = new Set<Link>();
  #isHolding = false;
  #isRefusing = false;

  private constructor(server: Server, target: string) {
    const url = new URL(target);
    url.hostname = "127.0.0.1";
    url.port = String((server.address() as AddressInfo).port);
    url.searchParams.delete("host");
    // The proxy reads what passes: TLS is between it and the server only.
    if (new pg.Client(target).ssl) url.searchParams.set("sslmode", "disable");
    this.#target = target;
    this.url = url.href;
    this.#server = server;
    server.on("connection", (client) => {
      if (this.#isRefusing) return void client.resetAndDestroy();
      connectTo(this.#target).then(
        (there) => {
          const link = new Link(this, client, there);
          this.#links.add(link);
          client.once("close", () => this.#links.delete(link));
        },
        () => client.destroy(),
      );
    });
  }

  static async start(url: string): Promise<PostgresProxy> {
    const server = createServer();
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return new PostgresProxy(server, url);
  }

  get isHolding(): boolean {
    return this.#isHolding;
  }

  /** How many clients have one open. */
  get connections(): number {
    return this.#links.size;
  }

  /** Leads new connections to another server, and ends the old ones. */
  leadTo(url: string): void {
    this.#target = url;
    this.cut();
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

const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);

/** Connects as the driver does, with TLS if the URL says so. */
async function connectTo(url: string): Promise<Socket> {
  const { host, port, ssl } = new pg.Client(url);
  const socket = host.startsWith("/") ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
  if (!ssl) return socket;
  socket.write(SSL_REQUEST);
  if (String(await once(socket, "data")) !== "S") throw new Error("the server has no TLS");
  const options = ssl as boolean | ConnectionOptions;
  const name = isIP(host) === 0 ? { servername: host } : {};
  return secure({ socket, ...name, ...(options === true ? {} : options || {}) });
}

/** One connection through the proxy. */
class Link {
  readonly #sides: readonly [client: Socket, server: Socket];
  readonly #ways: readonly [toServer: Way, toClient: Way];

  constructor(proxy: PostgresProxy, client: Socket, server: Socket) {
    this.#sides = [client, server];
    for (const side of this.#sides) side.setNoDelay();
    const cut = () => this.cut();
    const sent = { client: 0, server: 0 };
    const isStruck = (from: "client" | "server") => {
      const fault = proxy.transactionFault;
      if (fault === undefined || fault.from !== from || !isBegun) return false;
      sent[from] += 1;
      if (sent[from] <= fault.at) return false;
      proxy.transactionFault = undefined;
      if (fault.what === "held") proxy.hold();
      return fault.what === "cut";
    };
    let isBegun = false;
    const toServer = (message: Message) => {
      if (isBegin(message)) {
        isBegun = true;
        Object.assign(sent, { client: 0, server: 0 });
      }
      if (isStruck("client")) return "cut";
      if (!isCommit(message)) return "pass";
      const fault = takeFault(proxy, ["lost", "held"]);
      if (fault === "held") proxy.hold();
      else if (fault === "lost" || message.type !== "P") proxy.commits += 1;
      return fault === "lost" ? "cut" : "pass";
    };
    const toClient = (message: Message) => {
      if (isStruck("server")) return "cut";
      if (message.type === "E" && message.bytes.includes("C53100\0")) proxy.fullDisks += 1;
      return isCommitted(message) && takeFault(proxy, ["unanswered"]) !== undefined ? "cut" : "pass";
    };
    const isHolding = () => proxy.isHolding;
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

type Verdict = "pass" | "cut";

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
        this.#messages.length = 0;
        this.#cut();
        return;
      }
      if (this.#to.writable) this.#to.write(message.bytes);
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

function isBegin(message: Message): boolean {
  return message.type === "B" && statementOf(message) === "begin";
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
