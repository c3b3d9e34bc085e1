// Switches the set-top boxes of a made-up TV system as topupd's events say. Set TOPUPD_WEBHOOK_SECRET (whsec_...) and PORT.
import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";

const key = Buffer.from((process.env.TOPUPD_WEBHOOK_SECRET ?? "").replace(/^whsec_/, ""), "base64");
if (key.length === 0) throw new Error("TOPUPD_WEBHOOK_SECRET is not set");
const TOLERANCE_SECONDS = 300; // what is older may be a recording that somebody plays back
const MOST_CHARACTERS = 1_000_000;

// The TV system: which boxes are on, and until when. It darkens a box by itself when that time comes.
const onUntil = new Map();
function switchBox(box, until) {
  if (until === undefined) onUntil.delete(box);
  else onUntil.set(box, until);
  console.log(`${box} ${until === undefined ? "off" : `on until ${until}`}`);
}

// The last event of each connection. A real system stores it in the transaction that applies the event.
const lastApplied = new Map();
function apply({ id, data: { environment, cuid, connection, subscriptions } }) {
  const { service, reqId, blocked } = connection ?? {}; // alerts have none
  if (environment !== "production" || service !== "tv") return; // trials switch nothing
  const [, time, number] = id.split("_").map(Number);
  const name = JSON.stringify([cuid, service, reqId]);
  const last = lastApplied.get(name);
  if (last !== undefined && time <= last.time && number <= last.number) return; // a repetition, or late
  const ends = subscriptions.filter(({ addOn }) => !addOn).map(({ endAt }) => Date.parse(endAt));
  const end = Math.max(...ends.filter((each) => each > Date.now())); // -Infinity where all have ended
  switchBox(reqId, blocked || end < 0 ? undefined : new Date(end).toISOString());
  lastApplied.set(name, { time, number });
}

function isGenuine({ "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signatures = "" }, body) {
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) <= TOLERANCE_SECONDS)) return false;
  const mac = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64");
  const expected = Buffer.from(`v1,${mac}`);
  return signatures.split(" ").some((text) => {
    const signature = Buffer.from(text);
    return signature.length === expected.length && timingSafeEqual(signature, expected);
  });
}

async function answer(request) {
  let body = "";
  for await (const chunk of request.setEncoding("utf8")) {
    body += chunk;
    if (body.length > MOST_CHARACTERS) return 413;
  }
  if (!isGenuine(request.headers, body)) return 401;
  apply(JSON.parse(body));
  return 204; // once it is applied: what was answered is not sent again
}

const server = createServer((request, response) => {
  answer(request).then(
    (status) => response.writeHead(status).end(),
    () => response.writeHead(500).end(), // topupd sends it again
  );
});
server.listen(Number(process.env.PORT), "127.0.0.1", () => console.log(`listening on port ${server.address().port}`));
