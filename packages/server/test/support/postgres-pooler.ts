import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { Framing, type Message } from "./postgres-messages.ts";

/** Which backend a client's statements go to: its own, or for each transaction one that is shared. */
export type PoolMode = "session" | "transaction";

/**
 * Stands between clients and PostgreSQL as a pooler does: it announces numbers of its own for backends, and in transaction
 * mode lends one backend to all clients, for a transaction each.
 */
export async function startPooler(url: string, mode: PoolMode): Promise<{ readonly url: string; close(): void }> {
  const target = new URL(url);
  const server = createServer();
  const sockets = new Set<Socket>();
  const lending = new Lending();
  server.on("connection", (client) => {
    const backend = connect(Number(target.port), target.hostname);
    for (const socket of [client, backend]) {
      sockets.add(socket);
      socket.on("error", () => {});
    }
    client.on("close", () => {
      if (lending.backend !== backend) backend.destroy();
    });
    let isIn = false;
    const toServer = new Framing("client");
    const toClient = new Framing("server");
    client.on("data", (chunk) => {
      for (const message of toServer.push(chunk)) {
        if (message.type === "X") client.destroy();
        else if (isIn && mode === "transaction") lending.ask(client, message);
        else backend.write(message.bytes);
      }
    });
    backend.on("data", (chunk) => {
      for (const message of toClient.push(chunk)) {
        if (lending.backend === backend) lending.answer(message);
        else client.write(message.type === "K" ? Buffer.concat([message.bytes.subarray(0, 5), NOBODY]) : message.bytes);
        if (message.type !== "Z" || isIn) continue;
        isIn = true;
        if (mode === "transaction") lending.backend ??= backend;
      }
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const own = new URL(url);
  own.port = String((server.address() as AddressInfo).port);
  return {
    url: own.href,
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Process and key of no backend. */
const NOBODY = Buffer.alloc(8, 1);

/** One backend, and the clients that wait for it. */
class Lending {
  backend: Socket | undefined;
  #borrower: Socket | undefined;
  #waiting: { readonly client: Socket; readonly message: Message }[] = [];

  ask(client: Socket, message: Message): void {
    this.#borrower ??= client;
    if (this.#borrower === client) this.backend?.write(message.bytes);
    else this.#waiting.push({ client, message });
  }

  answer({ type, bytes }: Message): void {
    if (this.#borrower?.writable === true) this.#borrower.write(bytes);
    if (type !== "Z" || String.fromCharCode(bytes[5] as number) !== "I") return;
    this.#borrower = undefined;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const { client, message } of waiting) this.ask(client, message);
  }
}
