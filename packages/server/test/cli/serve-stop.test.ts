import { once } from "node:events";
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { commandLine } from "../support/command-line.ts";
import { fillDatabase } from "../support/provider-files.ts";
import { rawConnection } from "../support/sqlite-database.ts";

const PATH = "/staging/api/third-party/v1.0.1/get-customer-information";
const BODY = '{"code":"2000001"}';

/** A request of which the server has taken the head and has half of the body. */
async function halfSent(url: string, token: string) {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  onTestFinished(() => {
    socket.destroy();
  });
  const received = { text: "" };
  socket.setEncoding("utf8").on("data", (text: string) => {
    received.text += text;
  });
  socket.on("error", () => {});
  const head = [
    `POST ${PATH} HTTP/1.1`,
    "Host: topupd",
    `Authorization: Bearer ${token}`,
    "Content-Type: application/json",
    `Content-Length: ${BODY.length}`,
    // Its answer tells that the server has the request in hand.
    "Expect: 100-continue",
  ];
  socket.write(`${head.join("\r\n")}\r\n\r\n`);
  await until(() => received.text.includes("100 Continue"));
  received.text = "";
  socket.write(BODY.slice(0, 9));
  return { socket, received };
}

/** Waits for what must come; a test has a bound of its own beside this one. */
async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 1000; tries += 1) {
    if (await holds()) return;
    await sleep(10);
  }
  throw new Error("it did not come about");
}

function isRefused(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    socket.once("error", () => resolve(true));
    socket.once("connect", () => {
      socket.destroy();
      resolve(false);
    });
  });
}

async function startFilled(...words: string[]) {
  const line = commandLine();
  const token = await fillDatabase(line);
  return { line, token, service: await line.start("serve", ...words) };
}

describe("a service that is asked to stop", () => {
  test("ends with exit code 0, and leaves the database whole", async () => {
    const { line, service } = await startFilled("--drain-seconds", "0");
    service.signal("SIGTERM");
    expect(await service.ended).toBe(0);
    expect(service.stderr()).toMatch(/"signal":"SIGTERM","msg":"stopping"[\s\S]*"msg":"stopped"/);
    expect((await line.run("check")).code).toBe(0);
  });

  test("leaves its leases to other processes at once", async () => {
    const line = commandLine({ env: { TOPUPD_PRIVATE_TARGETS: "127.0.0.1" } });
    await fillDatabase(line);
    await line.mustRun("target", "add", "tv", "--kind", "webhook", "--url", "http://127.0.0.1:9/");
    await line.mustRun("partner", "webhook", "wallet", "--url", "http://127.0.0.1:9/");
    const service = await line.start("serve", "--drain-seconds", "0");
    const database = rawConnection(join(line.folder, "topupd.db"));
    const held = () =>
      database
        .prepare("SELECT name FROM lease ORDER BY name")
        .all()
        .map(({ name }) => name);
    const all = ["alerts", "deliveries", "ends", "sessions", expect.stringMatching(/^target:\d+$/), "trial"];
    await expect.poll(held).toEqual(all);
    service.signal("SIGTERM");
    expect(await service.ended).toBe(0);
    expect(held()).toEqual([]);
  });

  test("answers the request that it has in hand, and waits neither for more connections nor for kept-alive ones", async () => {
    const { token, service } = await startFilled("--drain-seconds", "0", "--shutdown-seconds", "30");
    const { socket, received } = await halfSent(service.url, token);
    service.signal("SIGTERM");
    await until(() => isRefused(service.url));
    socket.write(BODY.slice(9));
    expect(await service.ended).toBe(0);
    expect(received.text).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*"code":"400aa010"/);
    expect(service.stderr()).not.toContain("cut off");
  });

  test("does not wait for one that never asked for anything", async () => {
    const { service } = await startFilled("--drain-seconds", "0", "--shutdown-seconds", "30");
    const socket = connect(Number(new URL(service.url).port), "127.0.0.1");
    onTestFinished(() => {
      socket.destroy();
    });
    socket.on("error", () => {});
    await once(socket, "connect");
    service.signal("SIGTERM");
    expect(await service.ended).toBe(0);
    expect(service.stderr()).not.toContain("cut off");
  });

  test("cuts off at its deadline what is still not sent whole", async () => {
    const { token, service } = await startFilled("--drain-seconds", "0", "--shutdown-seconds", "1");
    const { socket, received } = await halfSent(service.url, token);
    const closed = once(socket, "close");
    service.signal("SIGTERM");
    expect(await service.ended).toBe(0);
    await closed;
    expect(received.text).not.toContain("200 OK");
    expect(service.stderr()).toContain("unfinished requests were cut off at the deadline");
  });

  test("shows that it is not ready, and goes on answering while it drains", async () => {
    const { token, service } = await startFilled("--drain-seconds", "2");
    const ready = async () => (await fetch(`${service.url}/readyz`)).status;
    expect(await ready()).toBe(200);
    service.signal("SIGTERM");
    await until(async () => (await ready()) === 503);
    expect((await fetch(`${service.url}/healthz`)).status).toBe(200);
    const answer = await fetch(service.url + PATH, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: BODY,
    });
    expect(answer.status).toBe(200);
    expect(await service.ended).toBe(0);
  });

  test("ends at once when it is asked a second time", async () => {
    const { token, service } = await startFilled("--drain-seconds", "0", "--shutdown-seconds", "300");
    await halfSent(service.url, token);
    service.signal("SIGTERM");
    await service.untilSaid(/"msg":"stopping"/);
    service.signal("SIGTERM");
    expect(await service.ended).toBeNull();
  });
});
