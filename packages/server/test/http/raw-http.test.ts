import { describe, expect, test, vi } from "vitest";
import { openSocket, requestText } from "../support/raw-socket.ts";
import { PREFIX, startTestService, type TestService } from "../support/service.ts";

/** Sends raw bytes. @returns the answer after the connection has ended. */
async function exchange(service: TestService, bytes: string) {
  const { socket, received, closed } = await openSocket(service);
  socket.write(bytes);
  await closed;
  const [head = "", body = ""] = received().split("\r\n\r\n");
  const [, requestId = ""] = /\r\nx-request-id: ([0-9a-f]+)/i.exec(head) ?? [];
  expect(requestId).not.toBe("");
  expect(head).toMatch(/\r\ncache-control: no-store\r\n/i);
  return { status: Number(head.split(" ")[1]), json: JSON.parse(body) as Record<string, unknown>, requestId };
}

/** Waits for log lines with a request's id. @returns status and outcome of each. */
function linesOf({ logs }: TestService, requestId: string): Promise<unknown[][]> {
  return vi.waitFor(() => {
    const lines = logs.map((line) => JSON.parse(line)).filter((line) => line.requestId === requestId);
    const ends = lines.filter(({ msg }) => msg === "request");
    expect(ends).not.toEqual([]);
    return ends.map(({ status, outcome }) => [status, outcome]);
  });
}

const path = `${PREFIX}/v1.0.1/txn-status`;
const close = "Connection: close\r\n";

describe("on the bare connection", () => {
  test.each([
    ["is no HTTP", "hello\r\n\r\n", 400, "400ad001"],
    ["has a header without a colon", `POST ${path} HTTP/1.1\r\nHost: x\r\nnonsense\r\n\r\n`, 400, "400ad001"],
    [
      "has two lengths",
      `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}`,
      400,
      "400ad001",
    ],
    [
      "has headers without end",
      `POST ${path} HTTP/1.1\r\nHost: x\r\nX: ${"y".repeat(20_000)}\r\n\r\n`,
      413,
      "400ad005",
    ],
    ["has no Host and no token", `POST ${path} HTTP/1.1\r\n${close}\r\n`, 401, "400ac001"],
    [
      "has two Authorization headers",
      `POST ${path} HTTP/1.1\r\nHost: x\r\n${close}authorization: Bearer a\r\nAuthorization: Bearer b\r\n\r\n`,
      401,
      "400ac001",
    ],
    ["is HTTP/1.0", `POST ${path} HTTP/1.0\r\n\r\n`, 401, "400ac001"],
    [
      "asks for an upgrade",
      `POST ${path} HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: upgrade, close\r\n\r\n`,
      401,
      "400ac001",
    ],
    ["comes with a WebDAV method", `PROPFIND ${path} HTTP/1.1\r\nHost: x\r\n${close}\r\n`, 405, "400ad004"],
    ["has a bad escape in its path", `POST ${PREFIX}/%ff%zz HTTP/1.1\r\nHost: x\r\n${close}\r\n`, 404, "400ad003"],
    ["names a whole address", `POST http://elsewhere/x HTTP/1.1\r\nHost: x\r\n${close}\r\n`, 404, "400ad003"],
  ])("a request that %s gets its answer in the envelope", async (_, bytes, status, code) => {
    const service = await startTestService();
    const answer = await exchange(service, bytes);
    expect([answer.status, answer.json["success"], answer.json["code"]]).toEqual([status, false, code]);
    const { reason, requestId } = answer.json["body"] as { reason: string; requestId: string };
    expect(requestId).toBe(answer.requestId);
    expect(await linesOf(service, requestId)).toEqual([[status, reason]]);
  });

  /** A look-up whose body is sent in one chunk. */
  const inChunks = (service: TestService, data: string) =>
    `POST ${PREFIX}/v1.0.1/get-customer-information HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n` +
    `Authorization: Bearer ${service.trialToken}\r\nTransfer-Encoding: Chunked\r\n${close}\r\n` +
    `${data.length.toString(16)}\r\n${data}\r\n0\r\n\r\n`;

  test("a body in chunks is read", async () => {
    const service = await startTestService();
    const answer = await exchange(service, inChunks(service, '{"code":"1000001"}'));
    expect(answer.json["code"]).toBe("400aa010");
  });

  test("a chunked body that is too large is refused", async () => {
    const service = await startTestService();
    const answer = await exchange(service, inChunks(service, `{"code":"${"1".repeat(8000)}"}`));
    expect([answer.status, answer.json["code"]]).toEqual([413, "400ad005"]);
  });

  test("a caller that goes away in the middle of a body does no harm", async () => {
    const service = await startTestService();
    const { socket, closed } = await openSocket(service);
    const half = requestText(service, "txn-status", { checkoutId: "x" }, { length: 100 });
    socket.write(half, () => socket.destroy());
    await closed;
    expect((await service.inject("/healthz")).statusCode).toBe(200);
    expect(service.logs.filter((line) => line.includes('"level":"error"'))).toEqual([]);
  });
});
