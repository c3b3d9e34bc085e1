import { readFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { setImmediate } from "node:timers/promises";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { Webhook } from "standardwebhooks";
import { describe, expect, onTestFinished, test } from "vitest";
import type { AddressList } from "../../src/domain/address-list.ts";
import { EVENT_KINDS, eventMessage, type RecordedEvent } from "../../src/domain/event.ts";
import { DeliveryFailed, type OpenExchange, type WebhookSecret } from "../../src/domain/target.ts";
import { createZone } from "../../src/domain/wall-time.ts";
import { addressGuard, type Resolve } from "../../src/targets/address-guard.ts";
import { createPoster, newWebhookSecret, refuseUrl, type WebhookPorts } from "../../src/targets/webhook.ts";
import { wall } from "../domain/builders.ts";
import { OWN_NETWORKS } from "../support/desk.ts";
import { readFences, tableRows, unquote } from "../support/markdown.ts";
import { seededRandom } from "../support/random.ts";
import { answerWith, type Delivery, eventWith, startReceiver } from "./receivers.ts";

const random = seededRandom(25);
const SECRET = newWebhookSecret(random);
const CURRENT: WebhookSecret = { secret: SECRET, until: undefined };
const LIMIT_MS = 150;
const never = new AbortController().signal;

interface SenderOptions extends Partial<WebhookPorts> {
  readonly allowed?: AddressList | undefined;
  readonly resolve?: Resolve;
  readonly secrets?: readonly WebhookSecret[];
}

function senderTo(url: string, options: SenderOptions = {}) {
  const { secrets = [CURRENT], resolve, limitMs = 5000, clock = Date.now, readsAnswer = true } = options;
  const guard = addressGuard("allowed" in options ? options.allowed : OWN_NETWORKS, resolve);
  const poster = createPoster({ kind: "webhook", url }, secrets, { readsAnswer, clock, limitMs, guard });
  onTestFinished(() => poster.close());
  const zone = createZone("Asia/Kathmandu");
  return {
    ...poster,
    send: (event: RecordedEvent, signal: AbortSignal, exchange: OpenExchange = {}) =>
      poster.post(eventMessage(event, zone, 2), signal, exchange),
  };
}

/** The failure of a delivery. */
async function errorOf(delivery: Promise<void>): Promise<DeliveryFailed> {
  const error = await delivery.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(DeliveryFailed);
  return error as DeliveryFailed;
}

async function failureOf(delivery: Promise<void>): Promise<string> {
  return (await errorOf(delivery)).message;
}

/** A receiver that answers with bytes, one piece after the other. */
function answerBytes(...pieces: readonly string[]) {
  const write = async (socket: Socket | null) => {
    for (const piece of pieces) {
      await new Promise((written) => socket?.write(piece, written));
      await setImmediate();
    }
  };
  return startReceiver(({ socket }) => void write(socket));
}

/** The body, verified by the specification's own library. */
function verified(secret: string, { body, headers }: Delivery): unknown {
  return new Webhook(secret).verify(body, headers as Record<string, string>);
}

describe("a delivery", () => {
  test("is verified by the specification's library, and says who sends it", async () => {
    const receiver = await startReceiver();
    await senderTo(receiver.url).send(eventWith(), never);
    const [delivery] = receiver.deliveries as [Delivery];
    expect(verified(SECRET, delivery)).toEqual(eventMessage(eventWith(), createZone("Asia/Kathmandu"), 2));
    expect(delivery.path).toBe("/topupd?key=letmein");
    expect(delivery.headers).toMatchObject({
      "webhook-id": "evt_1795413600000_7",
      "content-type": "application/json",
      "user-agent": "topupd",
    });
  });

  test("has the time of the attempt, which is not that of the event", async () => {
    const receiver = await startReceiver();
    await senderTo(receiver.url, { clock: () => 1_800_000_000_999 }).send(eventWith(), never);
    expect(receiver.deliveries[0]?.headers["webhook-timestamp"]).toBe("1800000000");
  });

  test("is signed with both secrets until the older one ends, and with the newer one alone from then on", async () => {
    const receiver = await startReceiver();
    const older = newWebhookSecret(random);
    let now = Date.now();
    const until = now + 60_000;
    const secrets = [CURRENT, { secret: older, until }];
    const sender = senderTo(receiver.url, { secrets, clock: () => now });
    await sender.send(eventWith(), never);
    now = until;
    await sender.send(eventWith(), never);
    const [both, newer] = receiver.deliveries as [Delivery, Delivery];
    expect(verified(SECRET, both)).toEqual(verified(older, both));
    expect(verified(SECRET, newer)).toBeDefined();
    expect(() => verified(older, newer)).toThrow("No matching signature");
  });

  test.each([200, 299])("that is answered with %i is acknowledged", async (status) => {
    const receiver = await startReceiver(answerWith(status));
    await senderTo(receiver.url).send(eventWith(), never);
    expect(receiver.deliveries.length).toBe(1);
  });

  test("goes over a connection that is there already", async () => {
    const receiver = await startReceiver((response) => response.end("applied"));
    const sender = senderTo(receiver.url);
    for (let seq = 1; seq <= 5; seq += 1) await sender.send(eventWith({ seq }), never);
    expect(receiver.deliveries.length).toBe(5);
    // A connection may still be busy when the next delivery begins.
    expect(receiver.connections()).toBeLessThan(3);
  });
});

describe("informational answers", () => {
  const CONTINUE = "HTTP/1.1 100 Continue\r\n\r\n";
  const HINTS = "HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n";
  const WELL = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

  test.each([
    ["100 in the same piece", [`${CONTINUE}${WELL}`]],
    ["100 in a piece of its own", [CONTINUE, WELL]],
    ["several, cut anywhere", [`${CONTINUE}${HINTS.slice(0, 9)}`, `${HINTS.slice(9)}${CONTINUE}`, WELL]],
  ])("are skipped before the final one: %s", async (_, pieces) => {
    const receiver = await answerBytes(...pieces);
    const exchange: OpenExchange = {};
    await senderTo(receiver.url).send(eventWith(), never, exchange);
    expect([exchange.status, receiver.deliveries.length]).toEqual([200, 1]);
  });

  test("do not hide a failure", async () => {
    const receiver = await answerBytes(`${CONTINUE}HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n`);
    expect(await failureOf(senderTo(receiver.url).send(eventWith(), never))).toBe("status 503");
  });

  test("can be 16, and the connection is closed at the next", async () => {
    const most = await answerBytes(HINTS.repeat(16), WELL);
    await senderTo(most.url).send(eventWith(), never);
    const more = await answerBytes(HINTS.repeat(16), CONTINUE, WELL);
    const failure = await failureOf(senderTo(more.url).send(eventWith(), never));
    expect(failure).toBe("more than 16 informational answers (1xx)");
  });

  test("can have 16 KiB, and one alone no more either", async () => {
    const hints = (bytes: number) => `HTTP/1.1 103 Early Hints\r\nLink: ${"x".repeat(bytes)}\r\n\r\n`;
    const most = await answerBytes(hints(8_000), hints(8_000), WELL);
    await senderTo(most.url).send(eventWith(), never);
    const more = await answerBytes(hints(8_000), hints(8_400), WELL);
    const long = await answerBytes(hints(17_000), WELL);
    const failures = [more, long].map(({ url }) => failureOf(senderTo(url).send(eventWith(), never)));
    expect(await Promise.all(failures)).toEqual([
      "more than 16 KiB of informational answers (1xx)",
      "the head of the answer is longer than 16 KiB",
    ]);
  });

  test("that never end keep nobody busy", async () => {
    let isOpen = true;
    const write = (socket: Socket | null) => {
      socket
        ?.on("error", () => {})
        .on("close", () => {
          isOpen = false;
        });
      const more = () => void (isOpen && socket?.write(HINTS.repeat(100), () => globalThis.setImmediate(more)));
      more();
    };
    const receiver = await startReceiver(({ socket }) => write(socket));
    const failure = await failureOf(senderTo(receiver.url).send(eventWith(), never));
    expect(failure).toBe("more than 16 informational answers (1xx)");
    await expect.poll(() => isOpen).toBe(false);
  });
});

describe("an answer says when the next attempt may come:", () => {
  const NOW = Date.parse("2026-11-20T09:00:00.500Z");
  const MINUTE_MS = 60_000;
  const NONE: Record<string, string> = {};

  test.each([
    [429, { "retry-after": "120" }, NOW + 2 * MINUTE_MS],
    [503, { "Retry-After": "120" }, NOW + 2 * MINUTE_MS],
    [503, { "retry-after": "7200" }, NOW + 60 * MINUTE_MS],
    [429, { "retry-after": "Fri, 20 Nov 2026 09:02:00 GMT" }, NOW + 2 * MINUTE_MS - 500],
    [429, { "retry-after": "Friday, 20-Nov-26 09:02:00 GMT" }, NOW + 2 * MINUTE_MS - 500],
    [429, { "retry-after": "Fri Nov 20 09:02:00 2026" }, NOW + 2 * MINUTE_MS - 500],
    [503, { "retry-after": "Sat, 21 Nov 2026 09:02:00 GMT" }, NOW + 60 * MINUTE_MS],
    [503, { "retry-after": "Fri, 20 Nov 2026 08:59:00 GMT" }, undefined],
    [503, { "retry-after": "0" }, undefined],
    [503, { "retry-after": "-120" }, undefined],
    [503, { "retry-after": "soon" }, undefined],
    [503, NONE, undefined],
    [500, { "retry-after": "120" }, undefined],
    [302, { "retry-after": "120" }, undefined],
    [410, { "retry-after": "120" }, Infinity],
  ])("%i with %j", async (status, headers, retryAt) => {
    const receiver = await startReceiver(answerWith(status, headers));
    const error = await errorOf(senderTo(receiver.url, { clock: () => NOW }).send(eventWith(), never));
    expect([error.message, error.isAnswer, error.retryAt]).toEqual([`status ${status}`, true, retryAt]);
  });
});

describe("staff see of a delivery", () => {
  test("the body as sent, the status and the answer, but no header and no secret", async () => {
    const receiver = await startReceiver((response) => response.writeHead(202).end("applied: ठीक छ"));
    const exchange: OpenExchange = {};
    await senderTo(receiver.url).send(eventWith(), never, exchange);
    const request = receiver.deliveries[0]?.body;
    expect(exchange).toEqual({ request, status: 202, answer: "applied: ठीक छ", isPending: false });
  });

  test("the beginning of the answer also if its status is a failure, and the body if there is no answer", async () => {
    const receiver = await startReceiver((response) => response.writeHead(500).end("é".repeat(10_000)));
    const sender = senderTo(receiver.url);
    const refused: OpenExchange = {};
    expect(await failureOf(sender.send(eventWith(), never, refused))).toBe("status 500");
    expect(refused).toEqual({ request: receiver.deliveries[0]?.body, status: 500, answer: "é".repeat(4096) });
    await receiver.close();
    const unanswered: OpenExchange = {};
    await failureOf(sender.send(eventWith(), never, unanswered));
    expect(unanswered).toEqual({ request: receiver.deliveries[0]?.body });
  });
});

describe("a delivery fails", () => {
  test.each([302, 400, 410, 500])("where the answer is %i", async (status) => {
    const receiver = await startReceiver(answerWith(status));
    expect(await failureOf(senderTo(receiver.url).send(eventWith(), never))).toBe(`status ${status}`);
  });

  test("if the receiver hangs, and its message does not contain the URL", async () => {
    const receiver = await startReceiver(() => {});
    const failure = await failureOf(senderTo(receiver.url, { limitMs: LIMIT_MS }).send(eventWith(), never));
    expect(failure).toBe("no answer within 0.15 seconds");
  });

  test("if no receiver listens", async () => {
    const receiver = await startReceiver();
    await receiver.close();
    expect(await failureOf(senderTo(receiver.url).send(eventWith(), never))).toBe("connection refused");
  });

  test("where the receiver closes without an answer, and goes through once it answers again", async () => {
    let isWell = false;
    const receiver = await startReceiver((response) => {
      if (isWell) response.writeHead(204).end();
      else response.destroy();
    });
    const sender = senderTo(receiver.url);
    expect(await failureOf(sender.send(eventWith(), never))).toBe("connection closed");
    isWell = true;
    await sender.send(eventWith(), never);
  });

  test("where the host has no address", async () => {
    const resolve: Resolve = () => Promise.reject(Object.assign(new Error("of the host"), { code: "ENOTFOUND" }));
    const failure = await failureOf(senderTo("http://billing.example/", { resolve }).send(eventWith(), never));
    expect(failure).toBe("the host has no address");
  });

  test("when its sender is stopped, also one that was stopped before", async () => {
    const stop = new AbortController();
    const receiver = await startReceiver(() => stop.abort());
    const sender = senderTo(receiver.url);
    expect(await failureOf(sender.send(eventWith(), stop.signal))).toBe("interrupted");
    expect(await failureOf(sender.send(eventWith(), stop.signal))).toBe("interrupted");
    expect(receiver.deliveries.length).toBe(1);
  });

  test("while the name is still looked up, and is not sent when the answer comes after all", async () => {
    const receiver = await startReceiver();
    let find = () => {};
    const found = new Promise<void>((resolved) => {
      find = resolved;
    });
    const resolve: Resolve = () => found.then(() => [{ address: "127.0.0.1", family: 4 }]);
    const sender = senderTo(`http://billing.example:${receiver.port}/`, { resolve, limitMs: LIMIT_MS });
    expect(await failureOf(sender.send(eventWith({ seq: 1 }), never))).toBe("no answer within 0.15 seconds");
    find();
    await senderTo(receiver.url).send(eventWith({ seq: 2 }), never);
    await sender.send(eventWith({ seq: 3 }), never);
    const numbers = receiver.deliveries.map(({ headers }) => String(headers["webhook-id"]).split("_")[2]);
    expect(numbers).toEqual(["2", "3"]);
  });
});

describe("an answer whose body does not end", () => {
  const endless = (status: number, chunk: string) =>
    startReceiver((response) => {
      response.writeHead(status);
      const write = setInterval(() => response.write(chunk), 5);
      response.on("close", () => clearInterval(write));
    });

  test("is cut off, and its status counts", async () => {
    const chunk = "x".repeat(8192);
    const [well, ill] = [await endless(200, chunk), await endless(500, chunk)];
    await senderTo(well.url).send(eventWith(), never);
    expect(await failureOf(senderTo(ill.url).send(eventWith(), never))).toBe("status 500");
  });

  test("is cut off at the time limit if it comes byte by byte", async () => {
    const [well, ill] = [await endless(200, "x"), await endless(500, "x")];
    // The limit leaves time for the status on a busy machine.
    const sendTo = (url: string) => senderTo(url, { limitMs: 1000 }).send(eventWith(), never);
    const [failure] = await Promise.all([failureOf(sendTo(ill.url)), sendTo(well.url)]);
    expect(failure).toBe("status 500");
  });
});

describe("an accepted event waits for its confirmation", () => {
  const PENDING = '{"state":"pending"}';
  const long = JSON.stringify({ note: "x".repeat(60_000), state: "pending" });

  /** Whether an answer's body promises a confirmation. */
  async function isPending(answer: (response: ServerResponse) => void, limitMs = 5000) {
    const receiver = await startReceiver(answer);
    const exchange: OpenExchange = {};
    await senderTo(receiver.url, { limitMs }).send(eventWith(), never, exchange);
    return exchange.isPending;
  }

  test.each<[string, string | Buffer, string?]>([
    ["plain", PENDING],
    ["after a byte order mark", `\uFEFF${PENDING}`],
    ["after empty lines", `\r\n\n  ${PENDING}\n`],
    ["behind other fields", long],
    ["in gzip", gzipSync(PENDING), "gzip"],
    ["in gzip with a byte order mark", gzipSync(`\uFEFF${PENDING}`), "x-gzip"],
    ["in deflate", deflateSync(long), "Deflate"],
    ["in Brotli", brotliCompressSync(PENDING), "br"],
  ])("if the promise comes %s", async (_, body, encoding = "identity") => {
    const headers = { "content-encoding": encoding };
    expect(await isPending((response) => response.writeHead(200, headers).end(body))).toBe(true);
  });

  test("if the promise comes in pieces of a byte", async () => {
    const bytes = Buffer.from(`\uFEFF${PENDING}`);
    const answer = async (response: ServerResponse) => {
      for (const byte of bytes) {
        await new Promise((written) => response.write(Buffer.of(byte), written));
        await setImmediate();
      }
      response.end();
    };
    expect(await isPending((response) => void answer(response))).toBe(true);
  });

  test.each(["", "{"])("if the promise comes late, after %j", async (beginning) => {
    const answer = (response: ServerResponse) => {
      response.writeHead(200).flushHeaders();
      if (beginning !== "") response.write(beginning);
      setTimeout(() => response.end(PENDING.slice(beginning.length)), 1_500);
    };
    expect(await isPending(answer)).toBe(true);
  });

  test.each<[string, string]>([
    ["another word", "pending"],
    ["an array", `[${PENDING}]`],
    ["a promise inside of another object", `{"data":${PENDING}}`],
    ["an object that is no JSON", "{state: pending}"],
    ["a page", `<!doctype html>${PENDING}`],
    ["blanks", "\n\n"],
  ])("but not for %s", async (_, body) => {
    expect(await isPending((response) => response.writeHead(200).end(body))).toBe(false);
  });

  test("but not if an answer has no body, whatever its headers say", async () => {
    const headers = { "content-type": "application/json", "content-encoding": "gzip" };
    for (const answer of [answerWith(204, headers), answerWith(200, { ...headers, "content-length": "0" })])
      expect(await isPending(answer, 60_000)).toBe(false);
    expect(await isPending((response) => void response.writeHead(200, headers).end(), 60_000)).toBe(false);
  });

  test("but not if the body does not begin in time, or begins otherwise and never ends", async () => {
    expect(await isPending((response) => response.writeHead(200).flushHeaders(), LIMIT_MS)).toBe(false);
    expect(await isPending((response) => response.writeHead(200).write("applied"), LIMIT_MS)).toBe(false);
  });
});

describe("an accepted event fails if its answer may promise a confirmation that was not read:", () => {
  const JSON_HEADERS = { "content-type": "application/json; charset=utf-8" };
  const cut = (body: string | Buffer) => (response: ServerResponse) => {
    response.writeHead(200, { "content-length": "1000" }).write(body, () => response.destroy());
  };
  const all = (headers: Record<string, string>, body: string | Buffer) => (response: ServerResponse) =>
    void response.writeHead(200, headers).end(body);
  const endless = gzipSync(`{"note":"${"x".repeat(10_000_000)}`);

  test.each<[string, (response: ServerResponse) => void, string]>([
    ["the body breaks off", cut('{"state":'), "the answer broke off"],
    ["gzip breaks off", all({ "content-encoding": "gzip" }, gzipSync("{}   ").subarray(0, -9)), "the answer broke off"],
    ["the body is too long", all({}, `{"note":"${"x".repeat(65_536)}"}`), "the answer is longer than 64 KiB"],
    ["gzip gives too much", all({ "content-encoding": "gzip" }, endless), "the answer is longer than 64 KiB"],
    [
      "the encoding is unknown",
      all({ ...JSON_HEADERS, "content-encoding": "zstd" }, "?"),
      "the answer has an unknown Content-Encoding",
    ],
    [
      "the encoding is wrong",
      all({ ...JSON_HEADERS, "content-encoding": "gzip" }, '{"state":"pending"}'),
      "the answer cannot be decoded",
    ],
  ])("%s", async (_, answer, problem) => {
    const receiver = await startReceiver(answer);
    const exchange: OpenExchange = {};
    const error = await errorOf(senderTo(receiver.url).send(eventWith(), never, exchange));
    // The receiver can be reached, so other connections get their events.
    expect([error.message, error.isAnswer, exchange.status]).toEqual([problem, true, 200]);
  });

  test.each<[string, (response: ServerResponse) => void, string]>([
    ["JSON does not begin", (response) => response.writeHead(200, JSON_HEADERS).flushHeaders(), ""],
    ["an object does not end", (response) => response.writeHead(200).write("{"), ", only its beginning"],
  ])("%s in time", async (_, answer, more) => {
    const receiver = await startReceiver(answer);
    const failure = await failureOf(senderTo(receiver.url, { limitMs: 500 }).send(eventWith(), never));
    expect(failure).toBe(`no answer within 0.5 seconds${more}`);
  });

  test("but the status alone counts for a webhook of a partner, which confirms nothing", async () => {
    const receiver = await startReceiver(cut('{"state":'));
    const exchange: OpenExchange = {};
    await senderTo(receiver.url, { readsAnswer: false }).send(eventWith(), never, exchange);
    expect([exchange.status, exchange.answer]).toEqual([200, undefined]);
  });
});

const PRIVATE = "the address is private, and TOPUPD_PRIVATE_TARGETS does not allow it";

describe("a hostile address", () => {
  const loopback: Resolve = () => Promise.resolve([{ address: "127.0.0.1", family: 4 }]);

  test.each(["127.0.0.1", "0x7f.1", "[::ffff:7f00:1]"])("is never connected to: %s", async (host) => {
    const receiver = await startReceiver();
    const url = `http://${host}:${receiver.port}/`;
    const failure = await failureOf(senderTo(url, { allowed: undefined }).send(eventWith(), never));
    expect([failure, receiver.connections()]).toEqual([PRIVATE, 0]);
    // The address can be reached.
    await senderTo(url).send(eventWith(), never);
    expect(receiver.connections()).toBe(1);
  });

  test.each(["http", "https"])("is never connected to if a name leads to it, by %s", async (scheme) => {
    const receiver = await startReceiver();
    const url = `${scheme}://billing.example:${receiver.port}/`;
    const options = { allowed: undefined, resolve: loopback };
    const failure = await failureOf(senderTo(url, options).send(eventWith(), never));
    expect([failure, receiver.connections()]).toEqual([PRIVATE, 0]);
    await senderTo(url, { resolve: loopback })
      .send(eventWith(), never)
      .catch(() => {});
    expect(receiver.connections()).toBe(1);
  });

  test("is never connected to beside a public one, which is not connected to either", async () => {
    const resolve: Resolve = async (host) => [{ address: "1.1.1.1", family: 4 }, ...(await loopback(host))];
    const receiver = await startReceiver();
    const url = `http://billing.example:${receiver.port}/`;
    const failure = await failureOf(senderTo(url, { allowed: undefined, resolve }).send(eventWith(), never));
    expect([failure, receiver.connections()]).toEqual([PRIVATE, 0]);
  });

  test("is never connected to if a name changed to it after its target was added", async () => {
    const receiver = await startReceiver();
    const url = `http://billing.example:${receiver.port}/`;
    const addresses = ["1.1.1.1", "127.0.0.1"];
    const resolve: Resolve = () => Promise.resolve([{ address: addresses.shift() ?? "", family: 4 }]);
    expect(await refuseUrl(url, addressGuard(undefined, resolve))).toBe(undefined);
    const failure = await failureOf(senderTo(url, { allowed: undefined, resolve }).send(eventWith(), never));
    expect([failure, receiver.connections()]).toEqual([PRIVATE, 0]);
  });

  test("is not got by a second look-up: a connection goes to the address that was judged", async () => {
    const receiver = await startReceiver();
    const hosts: string[] = [];
    const resolve: Resolve = (host) => {
      hosts.push(host);
      return loopback(host);
    };
    await senderTo(`http://billing.example:${receiver.port}/`, { resolve }).send(eventWith(), never);
    expect(hosts).toEqual(["billing.example"]);
    expect(receiver.deliveries[0]?.headers.host).toBe(`billing.example:${receiver.port}`);
  });

  test("is never connected to by a redirect", async () => {
    const hidden = await startReceiver();
    const receiver = await startReceiver(answerWith(307, { location: hidden.url }));
    expect(await failureOf(senderTo(receiver.url).send(eventWith(), never))).toBe("status 307");
    expect(hidden.connections()).toBe(0);
  });
});

describe("docs/integrations.md", () => {
  const text = readFileSync(new URL("../../../../docs/integrations.md", import.meta.url), "utf8");
  const page = /^## Webhooks$[\s\S]*?(?=^## )/m.exec(text)?.[0] ?? "";

  test("shows an event as it comes", async () => {
    const receiver = await startReceiver();
    const { state, ...event } = eventWith();
    const subscriptions = state.subscriptions.map((each) => ({ ...each, end: wall("2026-12-23 11:45:00") }));
    await senderTo(receiver.url).send({ ...event, state: { ...state, subscriptions } }, never);
    const [example] = readFences(page).filter(({ language }) => language === "json");
    expect(JSON.parse(receiver.deliveries[0]?.body ?? "")).toEqual(JSON.parse(example?.lines.join("\n") ?? ""));
  });

  test("explains every header and every kind of event", () => {
    const explained = tableRows(page).map(([name = ""]) => unquote(name));
    const headers = ["webhook-id", "webhook-timestamp", "webhook-signature"];
    expect(explained).toEqual(["Header", ...headers, "type", ...EVENT_KINDS]);
  });
});

test("a new secret is one of the specification, with 32 bytes of its own", () => {
  const secret = newWebhookSecret(random);
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(newWebhookSecret(random)).not.toBe(secret);
});
