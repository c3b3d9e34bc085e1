import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, test, vi } from "vitest";
import { Pipeline } from "../../src/partner/pipeline.ts";
import { type Instead, interposed } from "../support/interposed-store.ts";
import { openSocket, requestText } from "../support/raw-socket.ts";
import { PREFIX, prepareTopUp, startTestService, type TestService } from "../support/service.ts";

const FIBER = { cuid: "1000001", service: "internet", reqId: "trial1" };

afterEach(() => {
  vi.restoreAllMocks();
});

describe("a connection", () => {
  test("with a top-up and a stray byte gets the top-up's answer, and ends", async () => {
    const service = await startTestService();
    const purchase = await prepareTopUp(service, FIBER);
    const { socket, received, closed } = await openSocket(service);
    socket.write(`${requestText(service, "subscription-package-topup", purchase)}}`);
    await closed;
    expect(received()).toMatch(/^HTTP\/1\.1 200 /);
    expect(received()).not.toContain("malformed_json");
    expect((await service.call("txn-status", purchase)).status).toBe(200);
  });

  test("has so many requests in hand and no more", async () => {
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const settleLater: Instead = (settle, args) => released.then(() => settle(...args));
    const service = await startTestService({ wrapStore: interposed(new Map([["settleTopUp", settleLater]])) });
    const serve = vi.spyOn(Pipeline.prototype, "serve");
    const one = requestText(service, "subscription-package-topup", await prepareTopUp(service, FIBER));
    serve.mockClear();
    const { socket, received, closed } = await openSocket(service);
    // The limit applies after a token was accepted.
    socket.write(one.repeat(2));
    await vi.waitFor(() => expect(serve).toHaveBeenCalledTimes(2), 10_000);
    socket.write(one.repeat(200));
    await vi.waitFor(() => expect(serve).toHaveBeenCalledTimes(32), 10_000);
    release();
    await closed;
    expect(statusesIn(received())).toEqual([...Array.from({ length: 32 }, () => "200"), "429"]);
    expect(received()).toContain('"code":"400ac006"');
    expect(received()).toMatch(/retry-after: 1/i);
    expect(received().match(/connection: close/gi)).toHaveLength(1);
    expect(serve).toHaveBeenCalledTimes(32);
  });

  test("on which a token was accepted may send many requests in one piece, by whichever door", async () => {
    const service = await startTestService();
    const one = requestText(service, "get-customer-information", { code: "1000001" });
    for (const first of [one, one.repeat(2)]) {
      const { socket, received } = await openSocket(service);
      socket.write(first);
      await once(socket, "data");
      socket.write(one.repeat(30));
      const count = 30 + first.length / one.length;
      await vi.waitFor(() => expect(statusesIn(received())).toEqual(Array.from({ length: count }, () => "200")));
      socket.destroy();
    }
  });

  test("has one request in progress until a token was accepted on it, and ends with the first that is refused", async () => {
    const service = await startTestService();
    const admit = vi.spyOn(Pipeline.prototype, "admit");
    const one = requestText(service, "txn-status", { checkoutId: "x" });
    const unknown = one.replace(service.trialToken, "unknown");
    for (const pieces of [[unknown], [unknown + one.repeat(29)], [unknown.slice(0, -3), unknown.slice(-3)]]) {
      admit.mockClear();
      const { socket, received, closed } = await openSocket(service);
      for (const piece of pieces) {
        socket.write(piece);
        await sleep(20);
      }
      await closed;
      expect(statusesIn(received())).toEqual(["401"]);
      expect(received().match(/\r\nConnection: close\r\n/g)).toHaveLength(1);
      expect(admit).toHaveBeenCalledTimes(1);
    }
  });

  test("admits nothing behind a refused request, whatever node:http announces afterwards", async () => {
    const service = await startTestService();
    const admit = vi.spyOn(Pipeline.prototype, "admit");
    const announced: [IncomingMessage, ServerResponse][] = [];
    const { server } = service.app;
    server.on("request", (...pair) => announced.push(pair));
    const one = requestText(service, "txn-status", { checkoutId: "x" });
    const { socket, closed } = await openSocket(service);
    socket.write(one.replace(service.trialToken, "unknown") + one.repeat(29));
    await closed;
    expect(announced.length).toBeGreaterThan(1);
    for (const [, response] of announced.splice(1)) response.emit("close");
    server.emit("request", ...(announced[0] as [IncomingMessage, ServerResponse]));
    expect(admit).toHaveBeenCalledTimes(1);
  });

  test("that sends thousands of requests and reads nothing is cut off, while others are answered", async () => {
    const service = await startTestService();
    const take = vi.spyOn(Pipeline.prototype, "take");
    const cutOff: Promise<unknown>[] = [];
    service.app.server.on("connection", (socket) => cutOff.push(once(socket, "close")));
    const thousands = Buffer.from("GET / HTTP/1.1\r\nHost: x\r\n\r\n".repeat(2000));
    const sockets: Socket[] = [];
    for (let count = 0; count < 40; count += 1) sockets.push((await openSocket(service)).socket.pause());
    for (const socket of sockets) socket.write(thousands);
    const { socket, received, closed } = await openSocket(service);
    const headers = "Connection: close\r\n";
    socket.end(requestText(service, "get-customer-information", { code: "1000001" }, { headers }));
    await closed;
    expect(received()).toMatch(/^HTTP\/1\.1 200/);
    await Promise.all(cutOff);
    expect(take).toHaveBeenCalledTimes(40 * 5 + 1);
    for (const each of sockets) each.destroy();
  });
});

function statusesIn(received: string): string[] {
  return [...received.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status = ""]) => status);
}

describe("nothing", () => {
  test("is said on a socket that was opened ahead of need and never used", async () => {
    const service = await startTestService();
    shortenWait(service);
    const { received, closed } = await openSocket(service);
    await closed;
    expect(received()).toBe("");
  });

  test("is said to the rest of a request that has its answer", async () => {
    const service = await startTestService();
    const { socket, received, closed } = await openSocket(service);
    const whole = requestText(service, "txn-status", { checkoutId: "x" }, { length: 100 });
    socket.write(whole.replace("txn-status", "no-operation"));
    await once(socket, "data");
    socket.end();
    await closed;
    expect(statusesIn(received())).toEqual(["404"]);
  });
});

/** The limit of ten seconds is too long for a test. */
function shortenWait({ app: { server } }: TestService): void {
  expect([server.requestTimeout, server.headersTimeout]).toEqual([10_000, 10_000]);
  Object.assign(server, { requestTimeout: 500, headersTimeout: 500 });
}

test("a request whose body stops is answered in time by its own id, which the log has once", async () => {
  const service = await startTestService();
  shortenWait(service);
  const { socket, received, closed } = await openSocket(service);
  socket.write(requestText(service, "txn-status", { checkoutId: "x" }, { length: 100 }));
  await closed;
  const [, id = ""] = /\r\nx-request-id: ([0-9a-f]+)/i.exec(received()) ?? [];
  expect(received()).toMatch(/^HTTP\/1\.1 400 /);
  expect(received()).toContain('"code":"400ad001"');
  const ends = service.logs.filter((line) => line.includes(`"requestId":"${id}"`)).map((line) => JSON.parse(line));
  expect(ends).toMatchObject([{ msg: "request", status: 400, outcome: "malformed_json" }]);
  expect(service.logs.join("")).not.toContain("gave_up");
});

describe("requests in one piece", () => {
  const upgrading = { headers: "Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMA\r\n" };
  const lookUp = (service: TestService, options = {}) =>
    requestText(service, "get-customer-information", { code: "1000001" }, options);

  /** Sends pieces with a pause between them. @returns the codes that came back, and whether the connection ended. */
  async function codesOf(service: TestService, pieces: readonly string[]) {
    const { socket, received, closed } = await openSocket(service);
    for (const piece of pieces) {
      socket.write(piece);
      await Promise.race([closed, sleep(300)]);
    }
    const isEnded = socket.destroyed || socket.readableEnded;
    socket.destroy();
    return { codes: [...received().matchAll(/"code":"([^"]+)"/g)].map((match) => match[1]), isEnded };
  }

  test("are answered in turn up to a wish to upgrade, a top-up among them", async () => {
    const service = await startTestService();
    const purchase = await prepareTopUp(service, FIBER);
    const topUp = requestText(service, "subscription-package-topup", purchase);
    const pieces = [lookUp(service) + topUp + lookUp(service, upgrading) + topUp, lookUp(service)];
    expect(await codesOf(service, pieces)).toEqual({ codes: ["400aa010", "400ab001", "400aa010"], isEnded: true });
    expect((await service.call("txn-status", purchase)).status).toBe(200);
  });

  test("are all answered in turn if one has Expect: 100-continue", async () => {
    const service = await startTestService();
    const first = lookUp(service, { headers: "Expect: 100-continue\r\n" });
    const unknown = requestText(service, "txn-status", { checkoutId: "unknown" });
    const told = await codesOf(service, [first + unknown, lookUp(service)]);
    expect(told).toEqual({ codes: ["400aa010", "400ab101", "400aa010"], isEnded: false });
  });
});

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
    ["has no Host", `POST ${path} HTTP/1.1\r\n\r\n`, 400, "400ad001"],
    ["has two Hosts", `POST ${path} HTTP/1.1\r\nHost: x\r\nhost: x\r\nContent-Length: 2\r\n\r\n{}`, 400, "400ad001"],
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
