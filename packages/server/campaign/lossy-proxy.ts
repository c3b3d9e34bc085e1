import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import type { Choices } from "./random.ts";

/** The fault that the proxy makes in one request. */
const MISHAPS = [
  ...Array<"nothing">(10).fill("nothing"),
  "drop the request",
  "swallow the request",
  "reset",
  "delay the request",
  "delay the request",
  "drop the answer",
  "drop the answer",
  "swallow the answer",
  "delay the answer",
  "send it twice",
  "send it twice",
  "cut the answer",
  "break the answer off",
  "answer itself",
] as const;

const LONGEST_DELAY_MS = 400_000;

export interface LossyProxy {
  readonly url: string;
  /** How often each mishap happened. */
  readonly mishaps: ReadonlyMap<string, number>;
  /** Resolves when nothing is under way any more that could still reach the service. */
  idle(): Promise<void>;
  close(): Promise<void>;
}

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** Stands before the service as the worst of networks would. Delays are by the given clock. */
export async function startLossyProxy(
  port: number,
  choices: Choices,
  sleep: (ms: number) => Promise<void>,
): Promise<LossyProxy> {
  const agent = new Agent({ keepAlive: true });
  const mishaps = new Map<string, number>();
  const underWay = new Set<Promise<unknown>>();
  const track = <Value>(work: Promise<Value>): Promise<Value> => {
    const ended: Promise<unknown> = Promise.allSettled([work]).then(() => underWay.delete(ended));
    underWay.add(ended);
    return work;
  };

  const server = createServer((incoming, response) => {
    // A request continues to the service after its caller has given up.
    response.on("error", () => {});
    track(relay(incoming, response)).catch(() => response.destroy());
  });
  const relay = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const mishap = choices.of(MISHAPS);
    const delayMs = choices.below(choices.of([2_000, 60_000, LONGEST_DELAY_MS]));
    const coin = choices.below(2) === 0;
    mishaps.set(mishap, (mishaps.get(mishap) ?? 0) + 1);
    const body = await buffer(incoming);
    const pass = () => track(forward(agent, port, incoming, body));
    switch (mishap) {
      case "nothing":
        return send(response, await pass());
      case "drop the request":
        response.destroy();
        return;
      case "swallow the request":
        return;
      case "reset":
        incoming.socket.resetAndDestroy();
        return;
      case "delay the request":
        await sleep(delayMs);
        return send(response, await pass());
      case "drop the answer":
        await pass();
        response.destroy();
        return;
      case "swallow the answer":
        await pass();
        return;
      case "delay the answer": {
        const answer = await pass();
        await sleep(delayMs);
        return send(response, answer);
      }
      case "send it twice": {
        const [first, second] = [pass(), track(sleep(delayMs).then(pass))];
        // One of the two may fail while the other is awaited.
        second.catch(() => {});
        return send(response, await (coin ? first : second));
      }
      case "cut the answer": {
        const answer = await pass();
        return send(response, { ...answer, body: answer.body.subarray(0, choices.below(answer.body.length)) });
      }
      case "break the answer off": {
        const { status, headers, body: whole } = await pass();
        response.writeHead(status, { ...headers, "content-length": whole.length });
        response.write(whole.subarray(0, whole.length >> 1), () => response.destroy());
        return;
      }
      case "answer itself":
        if (coin) await pass();
        // A gateway or a firewall, which may have passed the request on.
        response
          .writeHead(choices.of([404, 422, 429, 502, 503, 504]), { "content-type": "text/html" })
          .end("<h1>Sorry</h1>");
    }
  };

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    mishaps,
    async idle() {
      while (underWay.size > 0) await Promise.all(underWay);
    },
    async close() {
      agent.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function send(response: ServerResponse, { status, headers, body }: Answer): void {
  response.writeHead(status, { ...headers, "content-length": body.length }).end(body);
}

const PASSED_ON = ["content-type", "retry-after", "idempotent-replayed", "x-request-id"];

function forward(agent: Agent, port: number, { url, method, headers }: IncomingMessage, body: Buffer): Promise<Answer> {
  const { authorization, "content-type": type } = headers;
  const sent = { authorization, "content-type": type, "content-length": body.length };
  return new Promise((resolve, reject) => {
    const onward = request({ agent, host: "127.0.0.1", port, path: url, method, headers: sent });
    onward.on("error", reject);
    onward.on("response", (answer) => {
      const kept = PASSED_ON.flatMap((name) =>
        answer.headers[name] === undefined ? [] : [[name, answer.headers[name]]],
      );
      buffer(answer).then(
        (whole) => resolve({ status: answer.statusCode ?? 0, headers: Object.fromEntries(kept), body: whole }),
        reject,
      );
    });
    onward.end(body);
  });
}
