import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { onTestFinished } from "vitest";

/** A bare socket server, closed after the test with all its sockets. @returns its base. */
export async function startSocketServer(onSocket: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    onSocket(socket);
  });
  const port = await listen(server);
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await close(server);
  });
  return `http://127.0.0.1:${port}/v1.0.1`;
}

/** A base where nobody listens any more. */
export async function freeUrl(): Promise<string> {
  const server = createServer();
  const port = await listen(server);
  await close(server);
  return `http://127.0.0.1:${port}/v1.0.1`;
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  return (server.address() as AddressInfo).port;
}

async function close(server: Server): Promise<void> {
  await new Promise((resolve) => server.close(resolve));
}
