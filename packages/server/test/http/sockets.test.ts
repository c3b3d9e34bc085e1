import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, test, vi } from "vitest";
import type { TopUpCommand } from "../../src/domain/top-up.ts";
import { Sockets } from "../../src/http/sockets.ts";
import { by } from "../support/by.ts";
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
  test("that asks for a tunnel and is cut off does not end the service", async () => {
    const service = await startTestService();
    for (let round = 0; round < 20; round += 1) {
      const { socket, ended } = await open(service);
      socket.write("CONNECT x:1 HTTP/1.1\r\n\r\n");
      socket.resetAndDestroy();
      await ended;
    }
    expect((await service.inject("/healthz")).statusCode).toBe(200);
  });

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

  test.each(["/", "/%zz"])(
    "that sends thousands of requests for %s and reads nothing is soon cut off",
    async (path) => {
      const service = await startTestService();
      const take = vi.spyOn(Sockets.prototype, "take");
      const cutOff: Promise<unknown>[] = [];
      service.app.server.on("connection", (socket) => cutOff.push(once(socket, "close")));
      const thousands = Buffer.from(`GET ${path} HTTP/1.1\r\n\r\n`.repeat(3600));
      const sockets: Socket[] = [];
      for (let count = 0; count < 400; count += 1) {
        const { socket } = await open(service);
        sockets.push(socket.pause());
      }
      for (const socket of sockets) socket.write(thousands);
      // Another caller is answered meanwhile.
      const { socket, received, ended } = await open(service);
      const look = request(service, "get-customer-information", { code: "1000001" });
      socket.write(look);
      await once(socket, "data");
      socket.end(look.replace("Host: x", "Host: x\r\nConnection: close"));
      await ended;
      expect(received().match(/HTTP\/1\.1 200/g)).toHaveLength(2);
      await Promise.all(cutOff);
      expect(take).toHaveBeenCalledTimes(400 * 33 + 2);
      expect(service.logs.filter((line) => line.includes('"msg":"request"'))).toHaveLength(400 * 33 + 2);
      for (const socket of sockets) socket.destroy();
    },
  );
});

describe("a body that is slow to come", () => {
  test("does not outlive the revocation of its token", async () => {
    const service = await startTestService();
    const purchase = await prepareTopUp(service, FIBER);
    const { socket, received } = await open(service);
    const whole = request(service, "subscription-package-topup", purchase);
    socket.write(whole.slice(0, -10));
    await sleep(700);
    const [token] = (await service.store.listAccessTokens()).filter(({ environment }) => environment === "trial");
    await service.store.revokeAccessToken((token as NonNullable<typeof token>).id, by(service.now));
    socket.write(whole.slice(-10));
    await once(socket, "data");
    expect(received()).toContain('"code":"400ac004"');
    expect(await service.store.findTransaction(purchase["checkoutId"] as string)).toBeUndefined();
    socket.destroy();
  });

  test("lets nobody go on by leaving while its token is looked up again", async () => {
    let lookUps = 0;
    let reset = () => {};
    const service = await startTestService({
      wrapStore: (store) => {
        const find = store.findAccessToken.bind(store);
        const findAccessToken = async (hash: Uint8Array) => {
          lookUps += 1;
          if (lookUps !== 2) return find(hash);
          // As long as a look-up over a network, in which the caller goes away.
          reset();
          await sleep(100);
          return find(hash);
        };
        return Object.assign(store, { findAccessToken });
      },
    });
    const purchase = await prepareTopUp(service, FIBER);
    lookUps = 0;
    const { socket, ended } = await open(service);
    const whole = request(service, "subscription-package-topup", purchase);
    reset = () => socket.resetAndDestroy();
    socket.write(whole.slice(0, -10));
    await sleep(700);
    const [token] = (await service.store.listAccessTokens()).filter(({ environment }) => environment === "trial");
    await service.store.revokeAccessToken((token as NonNullable<typeof token>).id, by(service.now));
    socket.write(whole.slice(-10));
    await ended;
    await sleep(300);
    expect(lookUps).toBe(2);
    expect(await service.store.findTransaction(purchase["checkoutId"] as string)).toBeUndefined();
    expect(service.logs.filter((line) => line.includes('"level":"error"'))).toEqual([]);
  });

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

  test("is said to a tunnel that is asked for behind a top-up, which has its answer", async () => {
    const service = await startTestService();
    const { socket, received, ended } = await open(service);
    const purchase = await prepareTopUp(service, FIBER);
    socket.write(`${request(service, "subscription-package-topup", purchase)}CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n`);
    await ended;
    expect(received()).toMatch(/^HTTP\/1\.1 200 /);
    expect(received()).not.toContain("405");
  });
});

describe("requests in one piece", () => {
  const upgrading = (text: string) =>
    text.replace(
      "Host: x\r\n",
      "Host: x\r\nUpgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMA\r\n",
    );
  const badPath = (text: string) => text.replace(/^POST [^ ]+/, `POST ${PREFIX}/%ff%zz`);
  const without = (text: string) => text.replace(/Content-Length.*/s, "Content-Length: 0\r\n\r\n");

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

  test.each([
    ["with a body", (text: string) => upgrading(text), "400aa010"],
    ["without a body", (text: string) => without(upgrading(text)), "400ad001"],
    ["whose path cannot be read", (text: string) => badPath(upgrading(text)), "400ad003"],
    ["by another method", (text: string) => upgrading(text).replace(/^POST/, "PUT"), "400ad004"],
  ])("are never answered with another's answer behind a wish to upgrade %s", async (_, change, code) => {
    const service = await startTestService();
    const purchase = await prepareTopUp(service, FIBER);
    await service.call("subscription-package-topup", purchase);
    const first = change(request(service, "get-customer-information", { code: "1000001" }));
    const recorded = request(service, "txn-status", { checkoutId: purchase["checkoutId"] });
    const unknown = request(service, "txn-status", { checkoutId: "unknown" });
    // Of the answers that came, each is to be the one to the request in its place: what is behind has none at all.
    const told = await codesOf(service, [first + recorded, unknown]);
    expect(told).toEqual({ codes: [code], isEnded: true });
  });

  test("are answered in turn up to a wish to upgrade, a top-up among them", async () => {
    const service = await startTestService();
    const purchase = await prepareTopUp(service, FIBER);
    const topUp = request(service, "subscription-package-topup", purchase);
    const look = request(service, "get-customer-information", { code: "1000001" });
    const told = await codesOf(service, [look + topUp + upgrading(look) + topUp, look]);
    expect(told).toEqual({ codes: ["400aa010", "400ab001", "400aa010"], isEnded: true });
    expect((await service.call("txn-status", purchase)).status).toBe(200);
  });

  test.each([
    ["100-continue", "Expect: 100-continue"],
    ["what nobody knows", "Expect: the-unexpected"],
    ["an upgrade of which nobody was told", "X-Upgrade: h2c"],
  ])("are all answered in turn where one expects %s", async (_, header) => {
    const service = await startTestService();
    const purchase = await prepareTopUp(service, FIBER);
    await service.call("subscription-package-topup", purchase);
    const look = request(service, "get-customer-information", { code: "1000001" });
    const first = look.replace("Host: x\r\n", `Host: x\r\n${header}\r\n`);
    const recorded = request(service, "txn-status", { checkoutId: purchase["checkoutId"] });
    const unknown = request(service, "txn-status", { checkoutId: "unknown" });
    const told = await codesOf(service, [first + recorded, unknown]);
    expect(told).toEqual({ codes: ["400aa010", "400ab001", "400ab101"], isEnded: false });
  });

  test("behind a tunnel that is asked for have no answer, and the connection ends", async () => {
    const service = await startTestService();
    const look = request(service, "get-customer-information", { code: "1000001" });
    const told = await codesOf(service, [`${look}CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n${look}`, look]);
    expect(told).toEqual({ codes: ["400aa010"], isEnded: true });
  });
});
