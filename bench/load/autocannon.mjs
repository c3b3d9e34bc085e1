// Sends each line of a file once, as a body, and prints the result as JSON.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const autocannon = createRequire(new URL("../../tools/", import.meta.url))("autocannon");
const [, , url, token, bodiesFile, connections, seconds] = process.argv;
const bodies = readFileSync(bodiesFile, "utf8").trimEnd().split("\n");
const latencies = [];
let taken = 0;
let failed = 0;
let last = performance.now();

// The connections share one count, so that no two of them ever send the same body.
const setupRequest = (request) => {
  request.body = bodies[taken % bodies.length];
  taken += 1;
  return request;
};
const begun = performance.now();
const running = autocannon({
  url,
  method: "POST",
  headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
  requests: [{ setupRequest }],
  connections: Number(connections),
  duration: Number(seconds),
  timeout: 30,
  // It looks this often whether the time is over.
  sampleInt: 10,
});
running.on("response", (_client, status, _bytes, latency) => {
  last = performance.now();
  if (status < 200 || status > 299) failed += 1;
  latencies.push(latency);
});
const { errors } = await running;

latencies.sort((a, b) => a - b);
const percentile = (share) => latencies[Math.ceil(latencies.length * share) - 1] ?? 0;
const requests = latencies.length;
const perSecond = (requests * 1000) / (last - begun);
const result = { perSecond, p50: percentile(0.5), p99: percentile(0.99), requests, failed: failed + errors };
process.stdout.write(`${JSON.stringify(result)}\n`);
