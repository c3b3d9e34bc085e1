import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { expectTopupd, type Ground, memoryOf, p99, type Served, startServing } from "./processes.ts";

export interface FloodOptions extends Ground {
  /** How often honest requests are sent while the flood goes on. */
  readonly rounds: number;
}

const MOST_MEBIBYTES = 100;
const FLOOD_SOCKETS = 20;
const FLOOD_BYTES = 449 * 1024;
const SLOW_SOCKETS = 400;
const PAUSE_MS = 20;
/** Callers beside staff and the scraper, who are at 127.0.0.1. */
const [FLOODER, SLOW_CALLER] = ["127.0.0.2", "127.0.0.3"];

/**
 * Floods the ports of the console and of the metrics: 20 sockets on each send thousands of requests at once and read
 * nothing, and 400 log-ins never finish their bodies. Meanwhile staff and a scraper ask in turn.
 * @returns memory and waiting times. @throws Error if an honest request fails, or the service takes over 100 MiB more.
 */
export async function flood({ rounds, ...ground }: FloodOptions): Promise<string> {
  await expectTopupd(["migrate"], ground);
  const key = (await expectTopupd(["staff", "key", "add", "probe", "--role", "viewer"], ground)).trim();
  const served = await startServing(ground, 1, ["--console-port", "0", "--metrics-port", "0"]);
  const sockets: Socket[] = [];
  try {
    const console = await urlIn(served, "serving the console");
    const metrics = await urlIn(served, "serving metrics");
    const ask = async (url: string) => {
      const begun = performance.now();
      const response = await fetch(url, { headers: { authorization: `Bearer ${key}` } });
      await response.arrayBuffer();
      if (response.status !== 200) throw new Error(`${url} answered ${response.status}`);
      return performance.now() - begun;
    };
    const [document, page] = [`${console}/api/v1/openapi.json`, `${console}/api/v1/session`];
    for (const url of [document, page, `${metrics}/metrics`]) await ask(url);
    const before = memoryOf(served, "VmRSS");
    const send = (url: string, from: string, text: string) => sockets.push(openFrom(new URL(url), from, text));
    const slow = `POST /api/v1/session HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{`;
    for (let count = 0; count < SLOW_SOCKETS; count += 1) send(console, SLOW_CALLER, slow);
    const waits: { readonly staff: number[]; readonly scraper: number[] } = { staff: [], scraper: [] };
    for (let round = 0; round < rounds; round += 1) {
      if (round % 20 === 0)
        for (const url of [document, `${metrics}/metrics`]) {
          const request = `GET ${new URL(url).pathname} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
          const requests = request.repeat(Math.ceil(FLOOD_BYTES / request.length));
          for (let count = 0; count < FLOOD_SOCKETS; count += 1) send(url, FLOODER, requests);
        }
      waits.staff.push(await ask(page));
      waits.scraper.push(await ask(`${metrics}/metrics`));
      await sleep(PAUSE_MS);
    }
    const grown = (memoryOf(served, "VmHWM") - before) / 1024;
    const told = `${Math.round(grown)} MiB more; staff waited ${p99(waits.staff)} ms, a scraper ${p99(waits.scraper)} ms (99 %)`;
    if (grown > MOST_MEBIBYTES) throw new Error(`a flood takes ${told}`);
    return `${rounds} rounds: ${told}`;
  } finally {
    for (const socket of sockets) socket.destroy();
    await served.end("SIGTERM");
  }
}

function openFrom({ hostname, port }: URL, localAddress: string, text: string): Socket {
  const socket = connect({ host: hostname, port: Number(port), localAddress });
  socket.on("error", () => {}).pause();
  socket.write(text);
  return socket;
}

async function urlIn({ stderr }: Served, message: string): Promise<string> {
  for (let tries = 0; tries < 500; tries += 1) {
    const line = stderr()
      .split("\n")
      .find((each) => each.includes(`"${message}"`));
    if (line !== undefined) return (JSON.parse(line) as { readonly url: string }).url;
    await sleep(PAUSE_MS);
  }
  throw new Error(`nobody is ${message}: ${stderr()}`);
}
