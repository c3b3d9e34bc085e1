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
