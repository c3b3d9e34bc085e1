import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { formatAccessToken } from "../src/domain/access-token.ts";
import { PREFIX } from "../test/support/open-service.ts";
import { CUSTOMERS, makeProvider } from "./partner.ts";
import { type Ground, memoryOf, p99, startServing } from "./processes.ts";

export interface PartnerFloodOptions extends Ground {
  /** How often each honest caller asks before and during each flood. */
  readonly rounds: number;
  readonly workers?: number;
  readonly sockets?: number;
}

const REQUESTS = 30;
const HONEST_CALLERS = 4;
const PAUSE_MS = 5;
const CLOSED_WITHIN_MS = 30_000;
/** Goals, which are only shown. No test depends on time or garbage collection. */
const MOST_TIMES_QUIET = 3;
const MOST_MS = 250;
const FEW_MEBIBYTES = 100;
/** More than garbage takes. */
const MOST_MEBIBYTES = 300;

const OPERATION = `${PREFIX}/v1.0.1/get-customer-information`;
const PAGES = ["/openapi/v1.0.1.json", "/docs", "/docs/partner-guide"];

/** Requests that each socket sends at once, by name. */
const FLOODS: Readonly<Record<string, (index: number) => string>> = {
  "no token": () => lookUp(""),
  "unknown tokens": () => lookUp(`Authorization: Bearer ${formatAccessToken("production", randomBytes(32))}\r\n`),
  pages: (index) => `GET ${PAGES[index % PAGES.length]} HTTP/1.1\r\nHost: localhost\r\n${lastIs(index)}\r\n`,
};

function lookUp(headers: string): string {
  const body = JSON.stringify({ code: "c1" });
  return `POST ${OPERATION} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${headers}Content-Length: ${body.length}\r\n\r\n${body}`;
}

/** Sockets that are not refused are closed by the service after all answers. */
function lastIs(index: number): string {
  return index === REQUESTS - 1 ? "Connection: close\r\n" : "";
}

/**
 * Floods the partners' port: 200 sockets send 30 requests each at once, again and again, while honest callers look
 * customers up.
 * @returns waiting times and memory.
 * @throws Error if an honest call fails, a socket is answered again after a 401, or the memory has no bound.
 */
export async function floodPartners({
  rounds,
  workers = 1,
  sockets = 200,
  ...ground
}: PartnerFloodOptions): Promise<string> {
  const token = await makeProvider(ground);
  const served = await startServing(ground, workers);
  try {
    const ask = async (code: string) => {
      const begun = performance.now();
      const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
      const response = await fetch(served.url + OPERATION, { method: "POST", headers, body: JSON.stringify({ code }) });
      const answer = await response.text();
      if (response.status !== 200 || !answer.includes(`"cuid":"${code}"`))
        throw new Error(`${code} was answered ${response.status} ${answer}`);
      return performance.now() - begun;
    };
    const askHonestly = async () => {
      const waits: number[] = [];
      const callers = Array.from({ length: HONEST_CALLERS }, async (_, caller) => {
        for (let round = 0; round < rounds; round += 1) {
          waits.push(await ask(`c${(caller + round) % CUSTOMERS}`));
          await sleep(PAUSE_MS);
        }
      });
      await Promise.all(callers);
      return waits;
    };
    await askHonestly();
    const quiet = p99(await askHonestly());
    const before = memoryOf(served, "VmRSS");
    const lines = [`quiet: honest callers wait ${quiet} ms (99 %)`];
    const broken: string[] = [];
    for (const [name, request] of Object.entries(FLOODS)) {
      const requests = Array.from({ length: REQUESTS }, (_, index) => request(index)).join("");
      const flooder = await startFlooder(served.url, sockets, requests);
      const waits = await askHonestly();
      const { opened, answeredOn } = await flooder.end();
      const grown = Math.round((memoryOf(served, "VmHWM") - before) / 1024);
      const flooded = p99(waits);
      const isSoon = flooded <= MOST_TIMES_QUIET * quiet && flooded < MOST_MS;
      const isReached = isSoon && grown <= FEW_MEBIBYTES;
      lines.push(
        `${name}: ${flooded} ms, ${grown} MiB more, ${opened} sockets: ${isReached ? "as" : "NOT as"} aimed at`,
      );
      if (answeredOn > 0) broken.push(`${answeredOn} sockets got another answer after a 401`);
      if (grown > MOST_MEBIBYTES) broken.push(`a flood with ${name} takes more than ${MOST_MEBIBYTES} MiB`);
    }
    if (broken.length > 0) throw new Error([...broken, ...lines].join("\n"));
    return `${rounds} rounds, ${lines.join("\n")}`;
  } finally {
    await served.end("SIGTERM");
  }
}

/** Resolves once the service has closed a socket. */
async function startFlooder(url: string, sockets: number, requests: string) {
  const { hostname: host, port } = new URL(url);
  const address = { host, port: Number(port), localAddress: "127.0.0.2" };
  const program = fileURLToPath(new URL("flooder.mjs", import.meta.url));
  const flood = JSON.stringify({ address, sockets, requests, count: REQUESTS });
  const child = spawn(process.execPath, [program, flood], { stdio: ["pipe", "pipe", "inherit"] });
  const closed = once(child, "close");
  const end = async () => {
    child.stdin.end();
    await closed;
  };
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const giveUp = setTimeout(() => void end(), CLOSED_WITHIN_MS);
  const first = await lines.next();
  clearTimeout(giveUp);
  if (first.value !== "flooding") throw new Error("the service closes no socket of a flood");
  return {
    end: async () => {
      const last = lines.next();
      await end();
      return JSON.parse((await last).value) as { readonly opened: number; readonly answeredOn: number };
    },
  };
}
