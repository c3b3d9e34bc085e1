import { expect, onTestFinished, test } from "vitest";
import { Devices } from "../src/index.ts";
import { startDevice } from "./device.ts";

const USER = { "User-Name": "sita" };
const ACCEPTED = { code: 41 };

function open(waitsMs: readonly number[] = [60, 60, 60]): Devices {
  const devices = new Devices(waitsMs);
  onTestFinished(() => devices.close());
  return devices;
}

test("a device that answers the last of three equal packets has answered", async () => {
  const { device, requests } = await startDevice("s", (_, count) => (count < 3 ? undefined : ACCEPTED));
  expect(await open().endSession(device, USER)).toEqual({ kind: "accepted" });
  expect(requests).toHaveLength(3);
  expect(requests.every((each) => each.equals(requests[0] as Buffer))).toBe(true);
});

test("a silent device, one with another secret, and none at all end without an answer", async () => {
  const silent = await startDevice("s", () => undefined);
  const other = await startDevice("other", () => ACCEPTED);
  const devices = open([20, 20, 20]);
  expect(await devices.endSession(silent.device, USER)).toBeUndefined();
  expect(await devices.endSession({ ...other.device, secret: "s" }, USER)).toBeUndefined();
  expect(await devices.endSession({ address: "127.0.0.1", port: 1, secret: "s" }, USER)).toBeUndefined();
  expect([silent.requests.length, other.requests.length]).toEqual([3, 3]);
});

test("a device gets eight requests at once, and a silent one holds up no other", async () => {
  const silent = await startDevice("s", () => undefined);
  const quick = await startDevice("s", () => ACCEPTED);
  const devices = open([1_000]);
  const ending = new AbortController();
  const waiting = Array.from({ length: 300 }, () => devices.endSession(silent.device, USER, ending.signal));
  expect(await devices.endSession(quick.device, USER)).toEqual({ kind: "accepted" });
  await expect.poll(() => silent.requests.length).toBe(8);
  expect(new Set(silent.requests.map(([, identifier]) => identifier)).size).toBe(8);
  ending.abort();
  expect(await Promise.all(waiting)).toEqual(waiting.map(() => undefined));
});
