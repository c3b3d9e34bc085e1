import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, test, vi } from "vitest";
import type { TopUpCommand } from "../../src/domain/top-up.ts";
import { Sockets } from "../../src/http/sockets.ts";
import { PREFIX, prepareTopUp, startTestService, type TestService } from "../support/service.ts";

const FIBER = { cuid: "1000001", service: "internet", reqId: "trial1" };

afterEach(() => {
  vi.restoreAllMocks();
});

async function open(
  service: TestService,
): Promise<{ socket: Socket; received: () => string; ended: Promise<unknown> }> {
  const address = service.app.server.listening
    ? (service.app.server.address() as { port: number })
    : { port: Number(new URL(await service.app.listen({ host: "127.0.0.1", port: 0 })).port) };
  const socket = connect(address.port, "127.0.0.1");
  let text = "";
  socket.on("data", (chunk) => {
    text += chunk.toString();
  });
  socket.on("error", () => {});
  await once(socket, "connect");
  return { socket, received: () => text, ended: once(socket, "close") };
}

function request(service: TestService, operation: string, body: object, length?: number): string {
  const text = JSON.stringify(body);
  return (
    `POST ${PREFIX}/v1.0.1/${operation} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n` +
    `Authorization: Bearer ${service.trialToken}\r\nContent-Length: ${length ?? Buffer.byteLength(text)}\r\n\r\n${text}`
  );
}

describe("a connection", () => {
  test("with a top-up and a stray byte gets the top-up's answer, and ends", async () => {
    const service = await startTestService();
    const purchase = await prepareTopUp(service, FIBER);
    const { socket, received, ended } = await open(service);
    socket.write(`${request(service, "subscription-package-topup", purchase)}}`);
    await ended;
    expect(received()).toMatch(/^HTTP\/1\.1 200 /);
    expect(received()).not.toContain("malformed_json");
    expect((await service.call("txn-status", purchase)).status).toBe(200);
  });

  test("has so many requests in hand and no more", async () => {
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const service = await startTestService({
      wrapStore: (store) => {
        const settle = store.settleTopUp.bind(store);
        return Object.assign(store, { settleTopUp: (command: TopUpCommand) => released.then(() => settle(command)) });
      },
    });
    const take = vi.spyOn(Sockets.prototype, "take");
    const one = request(service, "subscription-package-topup", await prepareTopUp(service, FIBER));
    take.mockClear();
    const { socket, received, ended } = await open(service);
    socket.write(one.repeat(200));
    for (let tries = 0; take.mock.calls.length < 33 && tries < 1000; tries += 1) await sleep(10);
    release();
    await ended;
    const statuses = [...received().matchAll(/HTTP\/1\.1 (\d+)/g)].map((match) => match[1]);
    expect(statuses).toEqual([...Array.from({ length: 32 }, () => "200"), "429"]);
    expect(received()).toContain('"code":"400ac006"');
    expect(received().toLowerCase()).toContain("retry-after: 1");
    expect(
      received()
        .toLowerCase()
        .match(/connection: close/g),
    ).toHaveLength(1);
    expect(take).toHaveBeenCalledTimes(33);
  });

  test("that sends thousands of requests and reads nothing is cut off, while others are answered", async () => {
    const service = await startTestService();
    const take = vi.spyOn(Sockets.prototype, "take");
    const cutOff: Promise<unknown>[] = [];
    service.app.server.on("connection", (socket) => cutOff.push(once(socket, "close")));
    const thousands = Buffer.from("GET / HTTP/1.1\r\n\r\n".repeat(3600));
    const sockets: Socket[] = [];
    for (let count = 0; count < 40; count += 1) sockets.push((await open(service)).socket.pause());
    for (const socket of sockets) socket.write(thousands);
    const { socket, received, ended } = await open(service);
    const look = request(service, "get-customer-information", { code: "1000001" });
    socket.end(look.replace("Host: x", "Host: x\r\nConnection: close"));
    await ended;
    expect(received()).toMatch(/^HTTP\/1\.1 200/);
    await Promise.all(cutOff);
    expect(take).toHaveBeenCalledTimes(40 * 33 + 1);
    for (const each of sockets) each.destroy();
  });
});

describe("a body that is slow to come", () => {
  test("is waited for ten seconds, and then told so", async () => {
    const service = await startTestService();
    const { socket, received, ended } = await open(service);
    socket.write(request(service, "txn-status", { checkoutId: "x" }, 500));
    await ended;
    expect(received()).toMatch(/^HTTP\/1\.1 4/);
    expect(received()).toContain('"success":false');
  });
});

describe("nothing", () => {
  test("is said on a socket that was opened ahead of need and never used", async () => {
    const service = await startTestService();
    const { received, ended } = await open(service);
    await ended;
    expect(received()).toBe("");
  });

  test("is said to the rest of a request that has its answer", async () => {
    const service = await startTestService();
    const { socket, received, ended } = await open(service);
    const whole = request(service, "txn-status", { checkoutId: "x" }, 100).replace(service.trialToken, "unknown");
    socket.write(whole);
    await once(socket, "data");
    socket.end();
    await ended;
    expect(received().match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 401"]);
  });
});

describe("requests in one piece", () => {
  const upgrading = (text: string) =>
    text.replace(
      "Host: x\r\n",
      "Host: x\r\nUpgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMA\r\n",
    );
  /** Sends pieces with a pause between them, and gives the codes that came back until the connection ended, if it did. */
  async function codesOf(service: TestService, pieces: readonly string[]) {
    const { socket, received, ended } = await open(service);
    for (const piece of pieces) {
      socket.write(piece);
      await Promise.race([ended, sleep(300)]);
    }
    const isEnded = socket.destroyed || socket.readableEnded;
    socket.destroy();
    return { codes: [...received().matchAll(/"code":"([^"]+)"/g)].map((match) => match[1]), isEnded };
  }

  test("are answered in turn up to a wish to upgrade, a top-up among them", async () => {
    const service = await startTestService();
    const purchase = await prepareTopUp(service, FIBER);
    const topUp = request(service, "subscription-package-topup", purchase);
    const look = request(service, "get-customer-information", { code: "1000001" });
    const told = await codesOf(service, [look + topUp + upgrading(look) + topUp, look]);
    expect(told).toEqual({ codes: ["400aa010", "400ab001", "400aa010"], isEnded: true });
    expect((await service.call("txn-status", purchase)).status).toBe(200);
  });

  test("are all answered in turn where one expects to be told to go on", async () => {
    const service = await startTestService();
    const look = request(service, "get-customer-information", { code: "1000001" });
    const first = look.replace("Host: x\r\n", "Host: x\r\nExpect: 100-continue\r\n");
    const unknown = request(service, "txn-status", { checkoutId: "unknown" });
    const told = await codesOf(service, [first + unknown, look]);
    expect(told).toEqual({ codes: ["400aa010", "400ab101", "400aa010"], isEnded: false });
  });
});
