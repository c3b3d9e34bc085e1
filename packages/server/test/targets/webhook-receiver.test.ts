import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { Webhook } from "standardwebhooks";
import { expect, onTestFinished, test } from "vitest";
import { type EventMessage, eventMessage, type RecordedEvent } from "../../src/domain/event.ts";
import { createZone } from "../../src/domain/wall-time.ts";
import { addressGuard } from "../../src/targets/address-guard.ts";
import { createPoster, newWebhookSecret } from "../../src/targets/webhook.ts";
import { wall } from "../domain/builders.ts";
import { OWN_NETWORKS } from "../support/desk.ts";
import { seededRandom } from "../support/random.ts";
import { alertEvent, eventWith } from "./receivers.ts";

const PROGRAM = fileURLToPath(new URL("../../../../examples/webhook-receiver.mjs", import.meta.url));
const SECRET = newWebhookSecret(seededRandom(26));
const ZONE = createZone("Asia/Kathmandu");
const ON = "00012345 on until 2126-12-23T06:00:00.000Z";
const OFF = "00012345 off";

/** Starts the example as its reader does. */
async function startExample() {
  const env = { TOPUPD_WEBHOOK_SECRET: SECRET, PORT: "0" };
  const child = spawn(process.execPath, [PROGRAM], { env, stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "close");
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  while (!said.includes("\n")) await Promise.race([once(child.stdout, "data"), ended.then(unexpectedEnd)]);
  const url = `http://127.0.0.1:${/listening on port (\d+)\n/.exec(said)?.[1]}/`;
  const post = async (headers: Record<string, string>, body: string) =>
    (await fetch(url, { method: "POST", headers, body })).status;
  return {
    url,
    post,
    /** @param secondsAgo age of the signature */
    deliver: (event: RecordedEvent, { secret = SECRET, secondsAgo = 0 } = {}) => {
      const body = JSON.stringify(eventMessage(event, ZONE, 2));
      return post(signed(secret, body, secondsAgo), body);
    },
    /** Ends the example. @returns its actions on set-top boxes. */
    switched: async () => {
      child.kill();
      await ended;
      return said.split("\n").slice(1, -1);
    },
  };
}

function unexpectedEnd(): never {
  throw new Error("the example ended");
}

/** Signs with the specification's own library. */
function signed(secret: string, body: string, secondsAgo: number): Record<string, string> {
  const { id } = JSON.parse(body) as EventMessage;
  const at = new Date(Date.now() - secondsAgo * 1000);
  const timestamp = String(Math.floor(at.getTime() / 1000));
  const signature = new Webhook(secret).sign(id, at, body);
  return { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signature };
}

const recorded = eventWith();
const blocked = eventWith({
  ...{ seq: 8, kind: "connection.blocked", at: recorded.at + 1000, topUp: undefined, partner: undefined },
  state: { ...recorded.state, blocked: true },
});
const ended = eventWith({
  ...{ seq: 9, kind: "subscription.ended", at: recorded.at + 2000, topUp: undefined, partner: undefined },
  state: {
    blocked: false,
    subscriptions: recorded.state.subscriptions.map((each) => ({ ...each, end: wall("2026-11-23 11:45:02") })),
  },
});

test("the example switches a box on by a top-up, and off by a block and at the end", async () => {
  const example = await startExample();
  for (const event of [recorded, blocked, { ...recorded, seq: 9 }, { ...ended, seq: 10 }])
    expect(await example.deliver(event)).toBe(204);
  expect(await example.switched()).toEqual([ON, OFF, ON, OFF]);
});

test("the example takes what topupd sends, also while its secret is being rotated", async () => {
  const example = await startExample();
  const secrets = [
    { secret: newWebhookSecret(seededRandom(27)), until: undefined },
    { secret: SECRET, until: Date.now() + 60_000 },
  ];
  const config = { kind: "webhook", url: example.url } as const;
  const ports = { readsAnswer: true, clock: Date.now, guard: addressGuard(OWN_NETWORKS) };
  const poster = createPoster(config, secrets, ports);
  onTestFinished(() => poster.close());
  await poster.post(eventMessage(recorded, ZONE, 2), new AbortController().signal, {});
  expect(await example.switched()).toEqual([ON]);
});

test("the example does nothing about repeated and late events, trials, other services and alerts, but acknowledges them", async () => {
  const example = await startExample();
  const others = ([{ environment: "trial" }, { service: "internet" }] as const).map((change) => ({
    ...recorded,
    key: { ...recorded.key, ...change },
  }));
  for (const event of [...others, alertEvent(3), recorded, recorded, blocked, recorded, blocked])
    expect(await example.deliver(event)).toBe(204);
  expect(await example.switched()).toEqual([ON, OFF]);
});

test("the example continues after a restore that repeats numbers, and with a clock that is behind", async () => {
  const example = await startExample();
  for (const event of [recorded, { ...blocked, seq: 2 }, { ...recorded, seq: 3, at: blocked.at - 5 }])
    expect(await example.deliver(event)).toBe(204);
  expect(await example.switched()).toEqual([ON, OFF, ON]);
});

test("the example refuses forged, altered, unsigned, stale and future events", async () => {
  const example = await startExample();
  const body = JSON.stringify(eventMessage(recorded, ZONE, 2));
  const headers = signed(SECRET, body, 0);
  const answers = [
    await example.deliver(recorded, { secret: newWebhookSecret(seededRandom(28)) }),
    await example.post(headers, body.replace("2126", "2226")),
    await example.post({ ...headers, "webhook-id": "evt_1_1" }, body),
    await example.post({ ...headers, "webhook-signature": "v1," }, body),
    await example.post({}, body),
    await example.deliver(recorded, { secondsAgo: 310 }),
    await example.deliver(recorded, { secondsAgo: -310 }),
  ];
  expect(answers).toEqual(answers.map(() => 401));
  expect(await example.deliver(recorded, { secondsAgo: 290 })).toBe(204);
  expect(await example.switched()).toEqual([ON]);
});

test("the example answers 500 to what it cannot apply, and goes on", async () => {
  const example = await startExample();
  const body = JSON.stringify({ id: "evt_1_1" });
  expect(await example.post(signed(SECRET, body, 0), body)).toBe(500);
  expect(await example.deliver(recorded)).toBe(204);
  expect(await example.switched()).toEqual([ON]);
});
