import { expect, test } from "vitest";
import { openSocket } from "../support/raw-socket.ts";
import { startStaffApi } from "../support/staff-api.ts";

test("of thousands of requests in one piece, the console's port answers the first", async () => {
  const api = await startStaffApi();
  const { socket, received, closed } = await openSocket(api);
  socket.write("GET /api/v1/session HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(5_000));
  await closed;
  expect(received().match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 401"]);
  expect(api.logs).toHaveLength(1);
});

test("a request with two Authorization headers is refused", async () => {
  const api = await startStaffApi();
  const { socket, received, closed } = await openSocket(api);
  const key = `Authorization: Bearer ${api.keys.admin}\r\n`;
  socket.write(`GET /api/v1/partners HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${key}${key}\r\n`);
  await closed;
  expect(received()).toMatch(/^HTTP\/1\.1 422 /);
});

test("a body must arrive in time, unless it is a file", async () => {
  const api = await startStaffApi({ bodyTimeoutMs: 200 });
  const head = (path: string, key = "") =>
    `POST /api/v1${path} HTTP/1.1\r\nHost: localhost\r\n${key}Content-Type: application/json\r\nContent-Length: 99\r\n\r\n{`;
  const logIn = await openSocket(api);
  const upload = await openSocket(api);
  upload.socket.write(head("/catalogue?environment=production", `Authorization: Bearer ${api.keys.admin}\r\n`));
  logIn.socket.write(head("/session"));
  await logIn.closed;
  expect(logIn.received()).toMatch(/^HTTP\/1\.1 408 /);
  expect([upload.socket.closed, upload.received()]).toEqual([false, ""]);
  upload.socket.destroy();
});
