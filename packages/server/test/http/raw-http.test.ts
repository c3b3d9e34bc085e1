import { connect } from "node:net";
import { describe, expect, test } from "vitest";
import { PREFIX, startTestService, type TestService } from "../support/service.ts";

/** Sends bytes as they are, and gives all that comes back until the connection ends. */
async function exchange(
  service: TestService,
  bytes: string,
): Promise<{ status: number; json: Record<string, unknown>; requestId: string }> {
  const url = new URL(await service.app.listen({ host: "127.0.0.1", port: 0 }));
  const text = await new Promise<string>((resolve, reject) => {
    const socket = connect(Number(url.port), "127.0.0.1", () => socket.write(bytes));
    let received = "";
    socket.setTimeout(15_000, () => socket.destroy(new Error(`no end of the answer: ${received}`)));
    socket.on("data", (chunk) => {
      received += chunk.toString();
    });
    socket.on("end", () => resolve(received));
    socket.on("error", reject);
  });
  const [head = "", body = ""] = text.split("\r\n\r\n");
  const [, requestId = ""] = /\r\nx-request-id: ([0-9a-f]+)/i.exec(head) ?? [];
  expect(requestId).not.toBe("");
  expect(head).toMatch(/\r\ncache-control: no-store\r\n/i);
  return { status: Number(head.split(" ")[1]), json: JSON.parse(body) as Record<string, unknown>, requestId };
}

/** Status and outcome of the log lines with a request's id, once there are any. */
async function linesOf({ logs }: TestService, requestId: string): Promise<unknown[][]> {
  const lines = () => logs.filter((line) => line.includes(`"requestId":"${requestId}"`) && line.includes('"request"'));
  for (let turn = 0; lines().length === 0 && turn < 200; turn += 1)
    await new Promise((resolve) => setTimeout(resolve, 10));
  return lines()
    .map((line) => JSON.parse(line))
    .map(({ status, outcome }) => [status, outcome]);
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

  test("a request whose body stops is answered by its own id, which the log has once", async () => {
    const service = await startTestService();
    const answer = await exchange(
      service,
      `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n` +
        `Authorization: Bearer ${service.trialToken}\r\nContent-Length: 100\r\n\r\n{"che`,
    );
    expect([answer.status, answer.json["code"]]).toEqual([400, "400ad001"]);
    expect(await linesOf(service, answer.requestId)).toEqual([[400, "malformed_json"]]);
    expect(service.logs.join("")).not.toContain("gave_up");
  }, 20_000);

  /** A look-up whose body comes in one chunk. */
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
    const url = new URL(await service.app.listen({ host: "127.0.0.1", port: 0 }));
    await new Promise<void>((resolve, reject) => {
      const socket = connect(Number(url.port), "127.0.0.1", () => {
        const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n`;
        socket.write(`${head}Authorization: Bearer ${service.trialToken}\r\n\r\n{"che`, () => socket.destroy());
      });
      socket.on("close", () => resolve());
      socket.on("error", reject);
    });
    const response = await fetch(`${url.origin}/healthz`);
    expect(response.status).toBe(200);
    expect(service.logs.filter((line) => line.includes('"level":"error"'))).toEqual([]);
  });
});
