import { spawn } from "node:child_process";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { existsSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Attributes, disconnectRequest, isSendable, readAnswer } from "../src/packet.ts";
import { sealedReply } from "./device.ts";

const SESSION: Attributes = { "User-Name": "sita", "Acct-Session-Id": "A1", "Framed-IP-Address": "10.0.0.7" };
const REQUEST = disconnectRequest(7, SESSION, "testing123");
const number = (value: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};

describe("a Disconnect-Request", () => {
  test.skipIf(!existsSync("/usr/bin/radclient"))("is the one that radclient sends", async () => {
    const socket = createSocket("udp4").bind(0, "127.0.0.1");
    await once(socket, "listening");
    const { port } = socket.address();
    const client = spawn("/usr/bin/radclient", ["-r", "1", "-t", "1", `127.0.0.1:${port}`, "disconnect", "testing123"]);
    const sent = once(socket, "message") as Promise<[Buffer]>;
    const lines = Object.entries(SESSION).map(([name, value]) => `${name} = "${value}"`);
    client.stdin.end(`${lines.join(", ")}, Message-Authenticator = 0x00`);
    const [packet] = await sent;
    client.kill();
    socket.close();
    expect(disconnectRequest(packet[1] ?? 0, SESSION, "testing123").toString("hex")).toBe(packet.toString("hex"));
  });

  test.each([
    ["User-Name", ""],
    ["User-Name", "x".repeat(254)],
    ["Framed-IP-Address", "fe80::1"],
    ["NAS-Port", "4294967296"],
    ["NAS-Port", "-1"],
  ] as const)("is not made with %s = %s", (name, value) => {
    expect(isSendable(name, value)).toBe(false);
    expect(() => disconnectRequest(0, { [name]: value }, "s")).toThrow(TypeError);
  });
});

describe("an answer", () => {
  test("says that the session will end, or why not", () => {
    const read = (code: number, ...attributes: [number, Buffer][]) =>
      readAnswer(sealedReply(REQUEST, { code, attributes }, "testing123"), REQUEST, "testing123");
    expect(read(41)).toEqual({ kind: "accepted" });
    expect(read(42)).toEqual({ kind: "refused", cause: undefined });
    expect(read(42, [101, number(503)])).toEqual({ kind: "refused", cause: 503 });
    expect(read(2)).toBeUndefined();
  });

  test("counts only if it is whole, and sealed with the secret for this request", () => {
    const good = sealedReply(REQUEST, { code: 41, attributes: [[18, Buffer.from("done")]] }, "testing123");
    expect(readAnswer(good, REQUEST, "testing123")).toEqual({ kind: "accepted" });
    expect(readAnswer(good, REQUEST, "other")).toBeUndefined();
    expect(readAnswer(good, disconnectRequest(7, { "User-Name": "ram" }, "testing123"), "testing123")).toBeUndefined();
    const badSeal = sealedReply(REQUEST, { code: 41, attributes: [[80, Buffer.alloc(16)]] }, "testing123");
    expect(readAnswer(badSeal, REQUEST, "testing123")).toBeUndefined();
    for (let at = 0; at < good.length; at += 1) {
      const bent = Buffer.from(good);
      bent[at] = (bent[at] ?? 0) ^ 1;
      expect([at, readAnswer(bent, REQUEST, "testing123")]).toEqual([at, undefined]);
    }
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
        expect(readAnswer(Buffer.from(bytes), REQUEST, "testing123")).toBeUndefined();
      }),
    );
  });
});
