import { setTimeout as sleep } from "node:timers/promises";
import { expectBook } from "./book.ts";
import { type Blow, KILL, Struck } from "./faults/blows.ts";
import { Fleet } from "./fleet.ts";
import { type Answer, CUSTOMERS, makeProvider, type Purchase, verifySent } from "./partner.ts";
import type { Ground } from "./processes.ts";
import { Choices } from "./random.ts";

export interface KillOptions extends Ground {
  readonly seed: number;
  readonly rounds: number;
  readonly processes?: number;
  /** Workers of each service. With more than one, workers and the settler are killed too, and the service restarts them. */
  readonly workers?: number;
  /** The faults to choose from (default: kills). */
  readonly blows?: readonly Blow[];
  /** The longest pause of a partner between two calls. */
  readonly pauseMs?: number;
}

const PARTNERS = 12;
const LONGEST_LOAD_MS = 500;

/**
 * Processes on one database serve a mixed load, while faults strike: one of them is killed with SIGKILL and started again,
 * or another blow. Every acknowledged top-up must be recorded once. Every other one must have a clear status, and
 * sending it again to any process must complete it.
 * @throws Error that names the round with a violation.
 */
export async function kill({
  seed,
  rounds,
  processes = 1,
  workers = 1,
  blows = [KILL],
  pauseMs = 0,
  ...ground
}: KillOptions): Promise<string> {
  const choices = new Choices(seed);
  /** Choices for the questions after the load. Their number depends on the speed of the load. */
  const asked = new Choices(choices.seed());
  const token = await makeProvider(ground);
  const fleet = new Fleet(ground, token, workers);
  const struck = new Struck(blows);
  /** Each is dealt once before any is dealt again. */
  const deck: Blow[] = [];
  const counts = { acknowledged: 0, sent: 0 };
  try {
    for (let index = 0; index < processes; index += 1) await fleet.start(index);
    for (let round = 0; round < rounds; round += 1) {
      const load = new Load(fleet, pauseMs);
      const working = load.start(choices);
      for (let blow = 1 + choices.below(2); blow > 0; blow -= 1) {
        await sleep(50 + choices.below(LONGEST_LOAD_MS));
        if (deck.length === 0) deck.push(...blows);
        const [{ name, strike }] = deck.splice(choices.below(deck.length), 1) as [Blow];
        struck.add(name, await strike(fleet, choices));
      }
      await sleep(choices.below(200));
      load.end();
      await working;
      await fleet.untilReady();
      counts.acknowledged += load.sent.filter(({ checkoutId }) => fleet.told.topUps.has(checkoutId)).length;
      for (const one of load.sent) {
        await verifySent(asked.of(fleet.clients), one).catch((cause: Error) => {
          throw new Error(`round ${round}: ${cause.message}`, { cause });
        });
      }
      // Every top-up that was sent is recorded now.
      counts.sent += load.sent.length;
      await expectBook(ground, fleet.told).catch((cause: Error) => {
        throw new Error(`round ${round}: ${cause.message}`, { cause });
      });
    }
  } finally {
    await fleet.end();
  }
  const { acknowledged, sent } = counts;
  if (acknowledged === 0) throw new Error("no top-up was acknowledged: the campaign has shown nothing");
  return (
    `${rounds} rounds, ${struck.text()}: ${acknowledged} acknowledged top-ups all there once, ` +
    `${sent - acknowledged} interrupted ones settled`
  );
}

/** The calls of partners: most are top-ups, some are look-ups. */
export class Load {
  readonly sent: Purchase[] = [];
  readonly #fleet: Fleet;
  readonly #pauseMs: number;
  #hasEnded = false;

  constructor(fleet: Fleet, pauseMs = 0) {
    this.#fleet = fleet;
    this.#pauseMs = pauseMs;
  }

  end(): void {
    this.#hasEnded = true;
  }

  /** Starts the partners, each with choices of its own. @returns when all have ended. */
  start(choices: Choices): Promise<unknown> {
    const working = Promise.all(Array.from({ length: PARTNERS }, () => this.#run(new Choices(choices.seed()))));
    // A partner may fail before anybody waits for it.
    working.catch(() => {});
    return working;
  }

  async #run(choices: Choices): Promise<void> {
    while (!this.#hasEnded) {
      try {
        await this.#step(choices);
        if (this.#pauseMs > 0) await sleep(choices.below(this.#pauseMs));
      } catch (error) {
        // fetch throws a TypeError if a connection is refused or breaks.
        if (!(error instanceof TypeError || String(error).includes("400ae002"))) throw error;
        await sleep(10);
      }
    }
  }

  async #step(choices: Choices): Promise<void> {
    const client = choices.of(this.#fleet.clients);
    const kind = choices.below(10);
    const former = this.sent.length === 0 ? undefined : choices.of(this.sent);
    if (kind === 0) expectDone(await client.call("get-customer-information", { code: `c${choices.below(CUSTOMERS)}` }));
    else if (kind === 1 && former !== undefined && this.#fleet.told.topUps.has(former.checkoutId))
      expectDone(await client.query(former.checkoutId));
    else if (kind === 2 && former !== undefined) expectDone(await client.topUp(former));
    else {
      const purchase = await client.prepare(choices);
      this.sent.push(purchase);
      expectDone(await choices.of(this.#fleet.clients).topUp(purchase));
    }
  }
}

function expectDone({ status, text }: Answer): void {
  if (status !== 200) throw new Error(`refused: ${text}`);
}
