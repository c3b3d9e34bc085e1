import { setTimeout as sleep } from "node:timers/promises";
import { expectBook } from "./book.ts";
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
  /** A server of PostgreSQL that the campaign may end and start again. */
  readonly server?: {
    readonly stop: (mode: "immediate" | "fast") => Promise<void>;
    readonly start: () => Promise<void>;
  };
}

const PARTNERS = 12;
const LONGEST_LOAD_MS = 500;

/**
 * Processes on one database serve a mixed load. Meanwhile one of them is killed with SIGKILL and started again, or
 * PostgreSQL is restarted. Every acknowledged top-up must be recorded once. Every other one must have a clear status, and
 * sending it again to any process must complete it.
 * @throws Error that names the round with a violation.
 */
export async function kill({
  seed,
  rounds,
  processes = 1,
  workers = 1,
  server,
  ...ground
}: KillOptions): Promise<string> {
  const choices = new Choices(seed);
  /** Choices for the questions after the load. Their number depends on the speed of the load. */
  const asked = new Choices(choices.seed());
  const token = await makeProvider(ground);
  const fleet = new Fleet(ground, token, workers);
  const counts = { kills: 0, restarts: 0, acknowledged: 0, sent: 0 };
  try {
    for (let index = 0; index < processes; index += 1) await fleet.start(index);
    for (let round = 0; round < rounds; round += 1) {
      const load = new Load(fleet);
      const working = Array.from({ length: PARTNERS }, () => load.run(new Choices(choices.seed())));
      for (let blow = 1 + choices.below(2); blow > 0; blow -= 1) {
        await sleep(50 + choices.below(LONGEST_LOAD_MS));
        if (server === undefined || choices.below(2) === 0) {
          counts.kills += 1;
          await fleet.kill(choices.below(processes), choices);
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
  const { kills, restarts, acknowledged, sent } = counts;
  if (acknowledged === 0) throw new Error("no top-up was acknowledged: the campaign has shown nothing");
  return (
    `${rounds} rounds, ${kills} kills and ${restarts} restarts of PostgreSQL: ${acknowledged} acknowledged top-ups ` +
    `all there once, ${sent - acknowledged} interrupted ones settled`
  );
}

/** The calls of partners: most are top-ups, some are look-ups. */
class Load {
  readonly sent: Purchase[] = [];
  readonly #fleet: Fleet;
  #hasEnded = false;

  constructor(fleet: Fleet) {
    this.#fleet = fleet;
  }

  end(): void {
    this.#hasEnded = true;
  }

  /** One partner, with choices of its own. */
  async run(choices: Choices): Promise<void> {
    while (!this.#hasEnded) {
      try {
        await this.#step(choices);
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
