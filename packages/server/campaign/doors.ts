import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { type AddressInfo, connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { type Chunk, type DoorCase, DoorCases } from "./door-cases.ts";
import { type DoorService, openDoor } from "./door-services.ts";
import { MemorySocket } from "./memory-socket.ts";
import { Choices } from "./random.ts";

export interface DoorsOptions {
  readonly seed: number;
  /** Connections. */
  readonly rounds: number;
}

/** Number of cases after which the services are rebuilt. */
const CASES_OF_ONE_STORE = 50_000;
/** A service that has written nothing for so many turns of the event loop waits for its caller. */
const QUIET_TURNS = 8;
/** One case of so many is over a real connection. */
const TCP_EVERY = 500;
/** Ends a connection that the service leaves open against the rules. */
const TCP_TIMEOUT_MS = 20_000;

/** All that a service did with a connection, in the same words for the same. */
interface Record {
  readonly text: string;
  readonly answers: number;
}

/**
 * Sends generated connections to two services and compares the bytes that come back, how the connections end, and what
 * the observers hear.
 * @throws Error with the first case that differs.
 */
export async function doors({ seed, rounds }: DoorsOptions): Promise<string> {
  const sums = { requests: 0, answers: 0, fast: 0 };
  for (let from = 0; from < rounds; from += CASES_OF_ONE_STORE) {
    const folder = mkdtempSync(join(tmpdir(), "topupd-doors-"));
    const services = [
      await openDoor(join(folder, "one.db"), false),
      await openDoor(join(folder, "other.db"), true),
    ] as const;
    try {
      const cases = new DoorCases(services[0].world);
      for (let number = from; number < Math.min(rounds, from + CASES_OF_ONE_STORE); number += 1) {
        for (const service of services) await service.pass(number);
        const choices = new Choices(seed + Math.imul(number, 0x9e3779b1));
        const overTcp = number % TCP_EVERY === TCP_EVERY - 1;
        const made = overTcp ? cases.makePlain(choices) : cases.make(number, choices);
        const play = overTcp ? playOverTcp : playInMemory;
        const records = await play(services, made);
        const wrong = wrongIn(made, records);
        if (wrong !== undefined)
          throw new Error(`case ${number} of seed ${seed}: ${wrong}${await describe(services, made, records)}`);
        sums.requests += made.requests.length;
        sums.answers += records[0].answers;
      }
      sums.fast += services[1].fastCalls();
    } finally {
      for (const service of services) await service.close();
      rmSync(folder, { recursive: true });
    }
  }
  const { requests, answers, fast } = sums;
  if (fast === 0) throw new Error("no request was served by the fast door");
  return `${rounds} connections with ${requests} requests: ${answers} answers, alike by both doors; ${fast} by the fast door, ${answers - fast} handed over`;
}

type Services = readonly [DoorService, DoorService];
type Records = readonly [Record, Record];

function wrongIn({ requests, isPlain }: DoorCase, [one, other]: Records): string | undefined {
  if (one.text !== other.text) return "the services differ";
  const isRefused = one.text.includes("HTTP/1.1 401");
  if (isPlain && !isRefused && one.answers !== requests.length)
    return `${requests.length} requests got ${one.answers} answers`;
  return undefined;
}

/** The case, its results, and the first of its requests that also differs alone. */
async function describe(services: Services, made: DoorCase, records: Records): Promise<string> {
  const told = tell(made.chunks, records);
  for (const bytes of made.requests) {
    const chunks = [{ bytes, pause: "quiet" }] as const;
    const alone = await playInMemory(services, { chunks, endsAtOnce: false });
    if (alone[0].text !== alone[1].text) return `${told}\n\nalone:${tell(chunks, alone)}`;
  }
  return told;
}

function tell(chunks: readonly Chunk[], [one, other]: Records): string {
  const sent = chunks.map(({ bytes, pause }) => `${JSON.stringify(bytes.toString("latin1"))} pause: ${pause}`);
  return `\nsent:\n${sent.join("\n")}\none:\n${one.text}\nother:\n${other.text}`;
}

async function playInMemory(
  services: Services,
  { chunks, endsAtOnce }: Pick<DoorCase, "chunks" | "endsAtOnce">,
): Promise<Records> {
  let quietFor = 0;
  const open = ({ server }: DoorService) => {
    const socket = new MemorySocket(() => {
      quietFor = 0;
    });
    server.emit("connection", socket);
    return socket;
  };
  const sockets = [open(services[0]), open(services[1])] as const;
  await turn();
  const quiet = async () => {
    for (quietFor = 0; quietFor < QUIET_TURNS; quietFor += 1) await turn();
  };
  for (const { bytes, pause } of chunks) {
    for (const socket of sockets) socket.receive(bytes);
    if (pause === "turn") await turn();
    if (pause === "quiet") await quiet();
  }
  if (!endsAtOnce) await quiet();
  const before = sockets.map(({ left, answers }) => (endsAtOnce ? "" : `${left} after ${answers.length} bytes`));
  for (const socket of sockets) socket.receiveEnd();
  await quiet();
  const [one, other] = sockets;
  const ends = [one.left, other.left];
  for (const socket of sockets) socket.destroy();
  await turn();
  // Who closes early may be seen to do so before an answer or behind it, which is not for the caller to see.
  if (endsAtOnce) for (const { heard } of services) heard.splice(0, heard.length, `${heard.length} requests`);
  return [
    record(services[0], one.answers, [before[0], ends[0]]),
    record(services[1], other.answers, [before[1], ends[1]]),
  ];
}

async function playOverTcp(services: Services, { chunks }: Pick<DoorCase, "chunks">): Promise<Records> {
  const [one, other] = await Promise.all(
    services.map(async ({ server }) => {
      const { port } = server.address() as AddressInfo;
      const socket = connect({ port, host: "127.0.0.1", noDelay: true });
      const parts: Buffer[] = [];
      socket.on("data", (part: Buffer) => parts.push(part));
      const closed = once(
        socket.setTimeout(TCP_TIMEOUT_MS, () => socket.destroy()),
        "close",
      );
      for (const { bytes } of chunks) {
        socket.write(bytes);
        await turn();
      }
      await closed;
      return Buffer.concat(parts).toString("latin1");
    }),
  );
  for (let turns = 0; turns < QUIET_TURNS; turns += 1) await turn();
  return [record(services[0], one, []), record(services[1], other, [])];
}

const ID = /\r\nx-request-id: (\S+)/gi;
const DATE = /\r\nDate: [^\r]+GMT\r\n/g;

function record({ heard }: DoorService, answers = "", ends: readonly unknown[]): Record {
  const ids = [...answers.matchAll(ID)].map(([, id = ""]) => id);
  let text = answers.replace(DATE, "\r\nDate\r\n");
  for (const [index, id] of ids.entries()) text = text.replaceAll(id, `(id ${index})`);
  const lines = [...text.split("\r\n"), ...ends, ...heard.splice(0).sort()];
  return { text: lines.map((line) => JSON.stringify(line)).join("\n"), answers: ids.length };
}
