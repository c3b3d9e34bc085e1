// A command queue between topupd and a conditional-access system (CAS). README.md says how to run it.
import { createHmac, timingSafeEqual } from "node:crypto";
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { createServer } from "node:http";

const { TOPUPD_WEBHOOK_SECRET = "", TOPUPD_TARGET_KEY, TOPUPD_STAFF_KEY } = process.env;
const {
  TOPUPD_URL = "http://127.0.0.1:8081",
  JOURNAL = "boxes.ndjson",
  PORT = "8090",
  DESK_PORT = "8091",
} = process.env;
const secret = Buffer.from(TOPUPD_WEBHOOK_SECRET.replace(/^whsec_/, ""), "base64");
if (secret.length === 0 || !TOPUPD_TARGET_KEY) throw new Error("TOPUPD_WEBHOOK_SECRET or TOPUPD_TARGET_KEY is not set");
const [TOLERANCE_SECONDS, MOST_CHARACTERS, AT_ONCE] = [300, 1_000_000, 8];
const RETRY_MS = [1_000, 5_000, 30_000, 300_000];
const log = (text) => console.log(text);
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

// The CAS. Replace the two lines of `command` by the call of yours; throw Refused for what no retry can cure.
class Refused extends Error {}
const cas = {
  /** @param until time at which the CAS itself ends the entitlement; null switches the box off at once. */
  async command(box, until) {
    if (box.startsWith("99")) throw new Refused(`box ${box} is unknown`);
    log(`CAS: ${box} ${until === null ? "off" : `on until ${until}`}`);
  },
};

// The journal: one line for each change. The last line of a box wins, so that a kill loses nothing that was answered.
const boxes = new Map(); // box -> { box, cuid, until, id, time, number, isDone }
if (existsSync(JOURNAL))
  for (const line of readFileSync(JOURNAL, "utf8").split("\n")) {
    try {
      if (line !== "") keep(JSON.parse(line));
    } catch {
      log("the last line of the journal was cut short by a kill, and is left out");
    }
  }
writeFileSync(`${JOURNAL}.new`, [...boxes.values()].map((state) => `${JSON.stringify(state)}\n`).join(""));
renameSync(`${JOURNAL}.new`, JOURNAL);
const journal = openSync(JOURNAL, "a");

function keep(state) {
  boxes.set(state.box, state);
  return state;
}

function store(state) {
  writeSync(journal, `${JSON.stringify(state)}\n`);
  fsyncSync(journal);
  return keep(state);
}

// The queue: one command for each box at a time. A newer state replaces one that still waits.
const busy = new Set();
function work() {
  for (const state of boxes.values()) {
    if (busy.size >= AT_ONCE) return;
    if (state.isDone || busy.has(state.box)) continue;
    busy.add(state.box);
    carryOut(state.box).finally(() => {
      busy.delete(state.box);
      work();
    });
  }
}

async function carryOut(box) {
  for (let attempt = 0; ; attempt += 1) {
    const { until, id } = boxes.get(box);
    try {
      await cas.command(box, until);
      await confirm(id, "done", `box ${box} ${until === null ? "off" : "authorised"}`);
    } catch (error) {
      if (!(error instanceof Refused)) {
        log(`${box}: ${error.message}, tried again`);
        await sleep(RETRY_MS[Math.min(attempt, RETRY_MS.length - 1)]);
        continue;
      }
      await confirm(id, "failed", error.message);
    }
    const now = boxes.get(box);
    if (now.id === id) return store({ ...now, isDone: true });
  }
}

/** Acknowledges an event, until topupd answers. Repeating it is harmless. */
async function confirm(eventId, state, detail) {
  for (let attempt = 0; ; attempt += 1) {
    const status = await ask("POST", "confirmations", TOPUPD_TARGET_KEY, { eventId, state, detail }).then(
      (response) => response.status,
      () => 503,
    );
    if (status < 500 && status !== 429) return status < 300 || log(`${eventId}: topupd answered ${status}`);
    await sleep(RETRY_MS[Math.min(attempt, RETRY_MS.length - 1)]);
  }
}

function ask(method, path, key, body) {
  const headers = { authorization: `Bearer ${key}`, ...(body && { "content-type": "application/json" }) };
  const signal = AbortSignal.timeout(10_000);
  return fetch(`${TOPUPD_URL}/api/v1/${path}`, { method, headers, signal, body: body && JSON.stringify(body) });
}

/** Stores the state that an event wants. @returns whether there is something to do, and so to confirm. */
function apply({ id, data: { environment, cuid, connection, subscriptions, repeated } }) {
  const { service, reqId: box, blocked } = connection ?? {}; // alerts have none
  if (environment !== "production" || service !== "tv") return false; // trials switch nothing
  const [, time, number] = id.split("_").map(Number);
  const last = boxes.get(box);
  if (last !== undefined && time <= last.time && number <= last.number) return last.id === id && !last.isDone;
  const ends = subscriptions.filter(({ addOn }) => !addOn).map(({ endAt }) => Date.parse(endAt));
  const end = Math.max(...ends.filter((each) => each > Date.now())); // -Infinity if all have ended
  const until = blocked || end < 0 ? null : new Date(end).toISOString();
  if (repeated) log(`${box}: staff sent it again`);
  store({ box, cuid, until, id, time, number, isDone: false });
  work();
  return true;
}

function isGenuine({ "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signatures = "" }, body) {
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) <= TOLERANCE_SECONDS)) return false;
  const mac = createHmac("sha256", secret).update(`${id}.${timestamp}.${body}`).digest("base64");
  const expected = Buffer.from(`v1,${mac}`);
  return signatures.split(" ").some((text) => {
    const signature = Buffer.from(text);
    return signature.length === expected.length && timingSafeEqual(signature, expected);
  });
}

async function receive(request) {
  let body = "";
  for await (const chunk of request.setEncoding("utf8")) {
    body += chunk;
    if (body.length > MOST_CHARACTERS) return [413];
  }
  if (!isGenuine(request.headers, body)) return [401];
  return apply(JSON.parse(body)) ? [202, { state: "pending" }] : [204];
}

/** Sends the CAS the stored state of a box again, such as after the box was replaced or reset. */
function recall(box) {
  const state = boxes.get(box);
  if (state === undefined) return [404, { problem: "unknown box" }];
  store({ ...state, isDone: false });
  work();
  return [202, { box, until: state.until }];
}

/** Compares all boxes with topupd's list. topupd sends the customers of those that differ again. */
async function compare() {
  const listed = new Map();
  let cursor = "";
  do {
    const page = await ask("GET", `connections?service=tv&limit=500${cursor && `&cursor=${cursor}`}`, TOPUPD_STAFF_KEY);
    if (!page.ok) throw new Error(`topupd answered ${page.status}`);
    const { items, cursor: next } = await page.json();
    for (const { reqId, cuid, state } of items)
      listed.set(reqId, { cuid, isOn: state === "running" || listed.get(reqId)?.isOn === true });
    cursor = next && encodeURIComponent(next);
  } while (cursor);
  const isOn = (box) => Date.parse(boxes.get(box)?.until ?? 0) > Date.now();
  const differing = [...listed].filter(([box, wanted]) => wanted.isOn !== isOn(box));
  for (const cuid of new Set(differing.map(([, each]) => each.cuid)))
    await ask("POST", `customers/${encodeURIComponent(cuid)}/resend`, TOPUPD_STAFF_KEY, {});
  const unknown = [...boxes.keys()].filter((box) => !listed.has(box) && isOn(box));
  for (const box of unknown) log(`${box} is on, and no customer has it: switch it off by hand`);
  return [200, { compared: listed.size, differing: differing.map(([box]) => box), unknown }];
}

function serve(port, answer) {
  const server = createServer((request, response) => {
    answer(request).then(
      ([status, body]) => response.writeHead(status).end(body && JSON.stringify(body)),
      (error) => response.writeHead(500).end(log(`500: ${error.message}`)), // topupd sends it again
    );
  });
  return new Promise((resolve) => server.listen(Number(port), "127.0.0.1", () => resolve(server.address().port)));
}

const port = await serve(PORT, receive);
// Only for programs on this machine.
const deskPort = await serve(DESK_PORT, async ({ method, url }) => {
  const [, what, box = ""] = url.split("/").map(decodeURIComponent);
  if (method === "POST" && what === "recall") return recall(box);
  return method === "POST" && what === "compare" ? compare() : [404];
});
log(`listening on port ${port}, for the desk on port ${deskPort}`);
work();
process.on("SIGTERM", () => {
  closeSync(journal);
  process.exit(0);
});
