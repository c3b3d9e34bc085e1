import { setTimeout as sleep } from "node:timers/promises";
import { Told } from "./book.ts";
import { PartnerClient } from "./partner.ts";
import { type Ground, type Served, signalProcess, startServing } from "./processes.ts";
import type { Choices } from "./random.ts";

const READY_TIMEOUT_MS = 15_000;

/** The processes. Any of them may get any request. */
export class Fleet {
  readonly #ground: Ground;
  readonly #token: string;
  readonly #workers: number;
  readonly #flags: readonly string[];
  readonly #served: Served[] = [];
  clients: PartnerClient[] = [];
  /** Times of the kills. */
  readonly kills: number[] = [];
  /** The answers that all clients got. */
  readonly told = new Told();

  constructor(ground: Ground, token: string, workers: number, flags: readonly string[] = []) {
    this.#ground = ground;
    this.#token = token;
    this.#workers = workers;
    this.#flags = flags;
  }

  async start(index: number): Promise<void> {
    this.#served[index] = await startServing(this.#ground, this.#workers, this.#flags);
    this.clients = this.#served.map(({ url }) => new PartnerClient(url, this.#token, this.told));
  }

  /** Kills one process of a service; or all of it, and starts it again. @returns 0 if the process had ended already. */
  async kill(index: number, choices: Choices): Promise<number> {
    const victim = this.#served[index] as Served;
    const children = this.#workers === 1 || choices.below(3) === 0 ? [] : victim.children();
    const at = Date.now();
    if (children.length > 0) {
      const killed = signalProcess(choices.of(children), "SIGKILL");
      if (killed > 0) this.kills.push(at);
      return killed;
    }
    this.kills.push(at);
    const end = await victim.end("SIGKILL");
    if (end !== "SIGKILL") throw new Error(`the service ended by itself with ${end}: ${victim.stderr()}`);
    await this.start(index);
    return 1;
  }

  async untilReady(): Promise<void> {
    for (const { url, stderr } of this.#served) {
      const deadline = Date.now() + READY_TIMEOUT_MS;
      while (!(await isReady(url))) {
        if (Date.now() > deadline) throw new Error(`a process does not come back by itself: ${stderr()}`);
        await sleep(20);
      }
    }
  }

  async end(): Promise<void> {
    await Promise.all(this.#served.map(({ end }) => end("SIGTERM")));
  }
}

/** Kills processes of the first service, at random times while so much is made. */
export async function killAtTimes(
  fleet: Fleet,
  { kills, wanted, made }: { readonly kills: number; readonly wanted: number; readonly made: () => number },
  choices: Choices,
): Promise<void> {
  for (let at = 0; fleet.kills.length < kills; ) {
    at += choices.below((2 * wanted) / (kills + 1));
    while (made() < Math.min(at, wanted)) await sleep(50);
    await sleep(choices.below(1_000));
    await fleet.kill(0, choices);
  }
}

export async function isReady(url: string): Promise<boolean> {
  return fetch(`${url}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  );
}
