import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import fastify from "fastify";
import { expect, onTestFinished, test } from "vitest";
import { receiveRequests } from "../../src/http/reception.ts";

const SILENCE_MS = 200;
/** More than the system keeps of what nobody reads. */
const MORE_THAN_WAITS_BYTES = 64 * 1024 * 1024;

/** A bare service whose sockets are watched, and time out soon; it answers when the test does. */
async function startWatched() {
  const app = fastify({ connectionTimeout: SILENCE_MS });
  const sockets = receiveRequests(app, () => "id", []);
  const asked = new Promise<ServerResponse>((resolve) => {
    app.addHook("onRequest", (_request, reply) => resolve(reply.hijack().raw));
  });
  app.all("/", () => {});
  onTestFinished(async () => {
    sockets.destroyAll();
    await app.close();
  });
  await app.listen({ host: "127.0.0.1", port: 0 });
  const { port } = app.server.address() as AddressInfo;
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

test("a socket on which nothing is asked, or whose request does not go on, is cut", async () => {
  const { socket, asked } = await startWatched();
  const another = await startWatched();
  socket.write("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nhalf");
  const response = await asked;
  await Promise.all([once(response, "close"), once(another.socket.resume(), "close")]);
  expect(response.writableFinished).toBe(false);
  expect(another.socket.bytesRead).toBe(0);
});
