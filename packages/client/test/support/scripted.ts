import { type Client, type ClientOptions, createClient } from "../../src/index.ts";
import { type VirtualClock, virtualClock } from "./virtual-clock.ts";
import { BASE, type Reply, START, TOKEN } from "./wire.ts";

/** `reset`: the connection breaks. `hang`: nothing ever comes. A function may look at the moment, and act. */
export type Scripted = Reply | "reset" | "hang" | (() => Reply | "reset" | "hang");

export interface Scene {
  readonly client: Client;
  readonly clock: VirtualClock;
  /** What was sent, as `operation`, so far. */
  readonly sent: string[];
  readonly bodies: unknown[];
  /** When each was sent, in milliseconds since the start. */
  readonly times: number[];
}

/**
 * A client whose deployment answers as the script says. The last answer is given again and again.
 * Random choices are the largest there are, so that every wait is as long as it may be.
 */
export function scene(script: readonly Scripted[], options: Partial<ClientOptions> = {}): Scene {
  const clock = virtualClock();
  const [sent, bodies, times]: [string[], unknown[], number[]] = [[], [], []];
  const fetch = (url: string, { body, signal }: RequestInit): Promise<Response> => {
    const line = script[Math.min(sent.length, script.length - 1)];
    sent.push(url.slice(url.lastIndexOf("/") + 1));
    bodies.push(JSON.parse(body as string));
    times.push(clock.now() - START);
    const now = typeof line === "function" ? line() : line;
    if (now === undefined || now === "reset") return Promise.reject(new TypeError("fetch failed"));
    if (now !== "hang") return Promise.resolve(asResponse(now));
    return new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));
  };
  const base = { base: BASE, token: TOKEN, fetch, clock, random: () => 0.999_999 };
  return { client: createClient({ ...base, ...options }), clock, sent, bodies, times };
}

/** As little of a response as the client needs, and nothing that waits for a turn of the event loop. */
export function asResponse({ status, text, headers }: Reply): Response {
  const response = { status, headers: new Headers(headers), redirected: false, body: null, text: async () => text };
  return response as unknown as Response;
}
