import { once } from "node:events";
import type { Server } from "node:http";
import { connect, type Socket } from "node:net";
import { PREFIX, type TestService } from "./open-service.ts";

export interface RawSocket {
  readonly socket: Socket;
  readonly received: () => string;
  readonly closed: Promise<unknown>;
}

/** Connects to a service, which then listens, as a caller does who writes HTTP by hand. */
export async function openSocket(
  {
    app,
  }: {
    readonly app: {
      readonly server: Server;
      readonly listen: (options: { host: string; port: number }) => Promise<unknown>;
    };
  },
  options: { allowHalfOpen?: boolean } = {},
) {
  if (!app.server.listening) await app.listen({ host: "127.0.0.1", port: 0 });
  const { port } = app.server.address() as { port: number };
  const socket = connect({ port, host: "127.0.0.1", ...options }).on("error", () => {});
  let text = "";
  socket.on("data", (chunk) => {
    text += chunk.toString();
  });
  const closed = once(socket, "close");
  await once(socket, "connect");
  return { socket, received: () => text, closed } satisfies RawSocket;
}

/** @param headers more of them, each with its line's end. @param length what the request says of its body. */
export function requestText(
  { trialToken }: TestService,
  operation: string,
  body: object,
  { headers = "", length }: { readonly headers?: string; readonly length?: number } = {},
): string {
  const text = JSON.stringify(body);
  return (
    `POST ${PREFIX}/v1.0.1/${operation} HTTP/1.1\r\nHost: x\r\n${headers}Content-Type: application/json\r\n` +
    `Authorization: Bearer ${trialToken}\r\nContent-Length: ${length ?? Buffer.byteLength(text)}\r\n\r\n${text}`
  );
}
