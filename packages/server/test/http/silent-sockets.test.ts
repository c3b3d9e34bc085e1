import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { Sockets, type TakenRequest } from "../../src/http/sockets.ts";

const SILENCE_MS = 200;
/** More than the system keeps of what nobody reads. */
const MORE_THAN_WAITS_BYTES = 64 * 1024 * 1024;

function requestInHand(raw: IncomingMessage, answer: ServerResponse): TakenRequest {
  return { id: "id", raw, answer, refusal: undefined, elapsedTime: 0, closed: () => {}, overdue: () => {} };
}

/** A bare server whose sockets are watched, and time out soon; it answers when the test does. */
async function startWatched() {
  const sockets = new Sockets(
    () => "id",
    () => {},
  );
  const server = createServer();
  server.setTimeout(SILENCE_MS);
  sockets.watch(server);
  const asked = new Promise<ServerResponse>((resolve) => {
    server.on("request", (request, response) => {
      sockets.take(requestInHand(request, response));
      resolve(response);
    });
  });
  server.listen(0, "127.0.0.1");
  onTestFinished(() => {
    sockets.destroyAll();
    server.close();
  });
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const socket = connect(port, "127.0.0.1").on("error", () => {});
  return { socket, asked };
}

test("a socket whose request has no answer yet is not cut, however long it takes", async () => {
  const { socket, asked } = await startWatched();
  let received = "";
  socket.on("data", (chunk) => {
    received += chunk.toString();
  });
  socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  const response = await asked;
  await sleep(4 * SILENCE_MS);
  expect([response.destroyed, socket.destroyed]).toEqual([false, false]);
  response.setHeader("connection", "close");
  response.end("an answer");
  await once(socket, "close");
  expect(received).toContain("an answer");
});

test("a socket whose answer lies unread is cut", async () => {
  const { socket, asked } = await startWatched();
  socket.pause();
  socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  const response = await asked;
  const cut = once(response, "close");
  response.end(Buffer.alloc(MORE_THAN_WAITS_BYTES));
  await cut;
  socket.resume();
  await once(socket, "close");
  expect(socket.bytesRead).toBeLessThan(MORE_THAN_WAITS_BYTES);
});

test("a socket whose request does not go on is cut", async () => {
  const { socket, asked } = await startWatched();
  socket.write("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nhalf");
  const response = await asked;
  await once(response, "close");
  expect(response.writableFinished).toBe(false);
});

test("a socket on which nothing is asked is cut", async () => {
  const { socket } = await startWatched();
  let received = "";
  socket.on("data", (chunk) => {
    received += chunk.toString();
  });
  await once(socket, "close");
  expect(received).toBe("");
});
