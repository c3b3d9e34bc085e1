import { connect } from "node:net";

/*
 * A process of a flood: each of its sockets sends the same requests at once, and is opened again as soon as it is closed,
 * and again when all are refused, until standard input ends. Prints a line as soon as one was opened again, and at its end the number of sockets, and of those that got another
 * answer after a 401.
 */
const { address, sockets, requests, count } = JSON.parse(process.argv[2] ?? "");
const PAUSE_MS = 10;
const REFUSED = "HTTP/1.1 401";
let opened = 0;
let answeredOn = 0;
let isOver = false;

function open() {
  if (isOver) return;
  opened += 1;
  if (opened === sockets + 1) process.stdout.write("flooding\n");
  let refusals = 0;
  let isFailing = false;
  const socket = connect(address);
  socket.on("data", (bytes) => {
    const before = refusals;
    refusals += bytes.toString("latin1").split(REFUSED).length - 1;
    if (before < 2 && refusals >= 2) answeredOn += 1;
    if (Math.floor(refusals / count) > Math.floor(before / count)) socket.write(requests);
  });
  socket.on("error", ({ code }) => {
    isFailing = code !== "ECONNRESET" && code !== "EPIPE";
  });
  socket.on("close", () => (isFailing ? setTimeout(open, PAUSE_MS) : open()));
  socket.write(requests);
}

for (let started = 0; started < sockets; started += 1) open();
process.stdin.resume().on("end", () => {
  isOver = true;
  process.stdout.write(JSON.stringify({ opened, answeredOn }), () => process.exit());
});
