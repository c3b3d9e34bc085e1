import { setTimeout as sleep } from "node:timers/promises";
import { type Ground, runThere } from "./ground.ts";
import { type Answer, PartnerClient } from "./partner-client.ts";
import { expectTopupd, isReady, type Served, startServing } from "./processes.ts";
import { CUSTOMERS, makeProvider } from "./provider.ts";
import { Choices } from "./random.ts";
import { type Sent, verifySent, verifyTotals } from "./sent.ts";

/** A server of PostgreSQL that the campaign may end and start again. */
export interface RestartableServer {
  readonly stop: (mode: "immediate" | "fast") => Promise<void>;
  readonly start: () => Promise<void>;
}

export interface StormOptions extends Ground {
  readonly seed: number;
  readonly rounds: number;
  readonly server: RestartableServer;
  readonly processes?: number;
  readonly partners?: number;
  readonly longestLoadMs?: number;
}

const READY_TIMEOUT_MS = 15_000;

/**
 * Several processes on one PostgreSQL serve a mixed load, while now one of them is killed, now the server
 * itself is restarted. Every acknowledged top-up must be there once, and every other must have a clear status
 * and be completed by sending it again, to whichever process.
 * @throws Error that names the round in which it was otherwise.
 */
export async function storm(options: StormOptions): Promise<string> {
  const { seed, rounds, server, processes = 2, partners = 12, longestLoadMs = 600, ...ground } = options;
  const choices = new Choices(seed);
  const token = await makeProvider(ground);
  const fleet = await Fleet.start(ground, token, processes);
  const all: Sent[] = [];
  const counts = { kills: 0, restarts: 0, acknowledged: 0, interrupted: 0 };
  try {
    for (let round = 0; round < rounds; round += 1) {
      const load = new Load(fleet);
      const working = Array.from({ length: partners }, () => load.run(new Choices(choices.seed())));
      for (let blow = 1 + choices.below(2); blow > 0; blow -= 1) {
        await sleep(50 + choices.below(longestLoadMs));
        if (choices.below(2) === 0) {
          counts.kills += 1;
          await fleet.killAndStart(choices.below(processes));
        } else {
          counts.restarts += 1;
          await server.stop(choices.of(["immediate", "fast"] as const));
          await sleep(choices.below(300));
          await server.start();
        }
      }
      await sleep(choices.below(200));
      load.end();
      await Promise.all(working);
      await fleet.untilReady();
      for (const one of load.sent) await verifySent(choices.of(fleet.clients), one, `round ${round}`);
      const acknowledged = load.sent.filter((one) => one.acknowledged !== undefined).length;
      counts.acknowledged += acknowledged;
      counts.interrupted += load.sent.length - acknowledged;
      all.push(...load.sent);
      await expectTopupd(["check"], runThere(ground));
    }
  } finally {
    await fleet.end();
  }
  await verifyTotals(ground, token, all);
  if (counts.acknowledged === 0) throw new Error("no top-up was acknowledged: the campaign has shown nothing");
  return (
    `${rounds} rounds on ${processes} processes, ${counts.kills} kills and ${counts.restarts} restarts of PostgreSQL: ` +
    `${counts.acknowledged} acknowledged top-ups all there once, ${counts.interrupted} interrupted ones settled`
  );
}

/** The processes, any of which may be asked anything. */
class Fleet {
  readonly #ground: Ground;
  readonly #token: string;
  readonly #served: Served[];
  clients: PartnerClient[];

  static async start(ground: Ground, token: string, processes: number): Promise<Fleet> {
    const served = await Promise.all(Array.from({ length: processes }, () => startServing([], runThere(ground))));
    return new Fleet(ground, token, served);
  }

  private constructor(ground: Ground, token: string, served: Served[]) {
    this.#ground = ground;
    this.#token = token;
    this.#served = served;
    this.clients = served.map(({ url }) => new PartnerClient(url, token));
  }

  async killAndStart(index: number): Promise<void> {
    const victim = this.#served[index] as Served;
    const end = await victim.end("SIGKILL");
    if (end !== "SIGKILL") throw new Error(`the service ended by itself with ${end}: ${victim.stderr()}`);
    const served = await startServing([], runThere(this.#ground));
    this.#served[index] = served;
    this.clients = this.clients.with(index, new PartnerClient(served.url, this.#token));
  }

  async untilReady(): Promise<void> {
    for (const { url, stderr } of this.#served) {
      const deadline = Date.now() + READY_TIMEOUT_MS;
      while (!(await isReady(url).catch(() => false))) {
        if (Date.now() > deadline) throw new Error(`a process does not come back by itself: ${stderr()}`);
        await sleep(20);
      }
    }
  }

  async end(): Promise<void> {
    await Promise.all(this.#served.map(({ end }) => end("SIGTERM")));
  }
}

/** What partners do: mostly top-ups, and now and then a look at what is there already. */
class Load {
  readonly sent: Sent[] = [];
  readonly #fleet: Fleet;
  #hasEnded = false;

  constructor(fleet: Fleet) {
    this.#fleet = fleet;
  }

  end(): void {
    this.#hasEnded = true;
  }

  /** One partner, who makes choices of its own. */
  async run(choices: Choices): Promise<void> {
    while (!this.#hasEnded) {
      try {
        await this.#step(choices);
      } catch (error) {
        // fetch says so with a TypeError when a connection is refused or breaks.
        if (!(error instanceof TypeError || error instanceof Unavailable)) throw error;
        await sleep(5);
      }
    }
  }

  async #step(choices: Choices): Promise<void> {
    const client = choices.of(this.#fleet.clients);
    const kind = choices.below(10);
    const former = this.sent.length === 0 ? undefined : choices.of(this.sent);
    if (kind === 0) expectDone(await client.call("get-customer-information", { code: `c${choices.below(CUSTOMERS)}` }));
    else if (kind === 1 && former?.acknowledged !== undefined) {
      const { text } = expectDone(await client.query(former.purchase.checkoutId));
      if (text !== former.acknowledged) throw new Error(`acknowledged as ${former.acknowledged}, but now ${text}`);
    } else if (kind === 2 && former !== undefined) await this.#topUp(client, former);
    else {
      const one: Sent = { purchase: await this.#prepare(client, choices) };
      this.sent.push(one);
      await this.#topUp(choices.of(this.#fleet.clients), one);
    }
  }

  async #prepare(client: PartnerClient, choices: Choices) {
    try {
      return await client.prepare(choices.below(CUSTOMERS), choices);
    } catch (error) {
      if (error instanceof Error && error.message.includes("400ae002")) throw new Unavailable();
      throw error;
    }
  }

  async #topUp(client: PartnerClient, one: Sent): Promise<void> {
    const { text } = expectDone(await client.topUp(one.purchase));
    if (one.acknowledged !== undefined && one.acknowledged !== text)
      throw new Error(`acknowledged as ${one.acknowledged}, and then as ${text}`);
    one.acknowledged = text;
  }
}

class Unavailable extends Error {}

function expectDone(answer: Answer): Answer {
  if (answer.status === 503) throw new Unavailable();
  if (answer.status !== 200) throw new Error(`refused: ${answer.text}`);
  return answer;
}
