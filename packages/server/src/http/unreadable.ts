import type { Server } from "node:http";
import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { type FailureReason, renderFailure } from "./failures.ts";

/**
 * Gives the documented answer to what Node's HTTP server would answer by itself, bare, or not at all:
 * bytes that are no HTTP request, an expectation it does not know, and the method CONNECT.
 */
export function answerUnreadable(server: Server, nextId: () => string): void {
  server.on("checkExpectation", (request, response) => server.emit("request", request, response));
  server.on("connect", (_request, socket) => writeFailure(socket as Socket, "method_not_allowed", nextId()));
}

/** For bytes that are no HTTP request, or do not become one in time. */
export function answerClientError(error: NodeJS.ErrnoException, socket: Socket, nextId: () => string): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const tooLarge = error.code === "HPE_HEADER_OVERFLOW" || error.code === "HPE_CHUNK_EXTENSIONS_OVERFLOW";
  writeFailure(socket, tooLarge ? "body_too_large" : "malformed_json", nextId());
}

function writeFailure(socket: Socket, reason: FailureReason, requestId: string): void {
  const { status, headers, body } = renderFailure(reason, requestId);
  const head = Object.entries({
    ...headers,
    "x-request-id": requestId,
    "content-length": String(Buffer.byteLength(body)),
    connection: "close",
  });
  const lines = head.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines}\r\n${body}`);
}
