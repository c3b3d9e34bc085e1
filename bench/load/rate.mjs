// Sends requests at a fixed rate: `rate.mjs URL TOKEN BODIES RATE SECONDS` prints the result as JSON.
import { readFileSync } from "node:fs";
import { connect } from "node:net";

const [, , url, token, file, rate, seconds] = process.argv;
const { hostname, port, pathname, host } = new URL(url);
const bodies = readFileSync(file, "utf8").trimEnd().split("\n");
const head = `POST ${pathname} HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${token}\r\ncontent-type: application/json\r\n`;
const CONNECTIONS = 1_000;
/** Limit of open requests of a connection. A service answers 429 above it. */
const IN_HAND = 16;
const TICK_MS = 2;
/** Time for answers after the last request. */
const PATIENCE_MS = 3_000;

const waits = [];
let [good, refused, unsent, next] = [0, 0, 0, 0];
const open = () => {
  const connection = { socket: connect(Number(port), hostname), sent: [], rest: "" };
  connection.socket.setEncoding("latin1").on("data", (text) => hear(connection, text));
  connection.socket.on("error", () => {});
  connection.socket.on("close", () => {
    connection.isClosed = true;
  });
  return connection;
};
const connections = Array.from({ length: CONNECTIONS }, open);

function hear(connection, text) {
  const all = connection.rest + text;
  let from = 0;
  for (let at = all.indexOf("HTTP/1.1 "); at !== -1 && at + 12 <= all.length; at = all.indexOf("HTTP/1.1 ", from)) {
    const begun = connection.sent.shift();
    if (all.startsWith("200", at + 9)) {
      good += 1;
      waits.push(performance.now() - begun);
    } else refused += 1;
    from = at + 12;
  }
  connection.rest = all.slice(Math.max(from, all.length - 12));
}

await new Promise((resolve) => setTimeout(resolve, 500));
const began = performance.now();
let turn = 0;
const timer = setInterval(() => {
  const elapsed = Math.min(performance.now() - began, seconds * 1000);
  for (const due = Math.floor((elapsed * rate) / 1000); next < due; next += 1) {
    turn = (turn + 1) % CONNECTIONS;
    if (connections[turn].isClosed) connections[turn] = open();
    const connection = connections[turn];
    if (connection.sent.length >= IN_HAND) {
      unsent += 1;
      continue;
    }
    const body = bodies[next % bodies.length];
    connection.sent.push(performance.now());
    connection.socket.write(`${head}content-length: ${body.length}\r\n\r\n${body}`);
  }
  if (elapsed < seconds * 1000) return;
  clearInterval(timer);
  // Answers after the last request was sent are not goodput.
  const [served, turnedAway] = [good, refused];
  setTimeout(() => {
    waits.sort((a, b) => a - b);
    const p99 = waits[Math.floor(waits.length * 0.99)];
    process.stdout.write(JSON.stringify({ good: served / seconds, refused: turnedAway / seconds, unsent, p99 }));
    process.exit(0);
  }, PATIENCE_MS);
}, TICK_MS);
