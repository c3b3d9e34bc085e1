import { setTimeout as sleep } from "node:timers/promises";
import { type BoundedClient, Unavailable } from "./bounded-client.ts";
import type { Answer, Purchase } from "./partner-client.ts";
import { CUSTOMERS } from "./provider.ts";
import type { Choices } from "./random.ts";
import type { Sent } from "./sent.ts";

const LONGEST_PAUSE_MS = 40;
/** A partner who is told to ask what became of a top-up asks so often, and then leaves it. */
const ASKS = 4;

interface Tried extends Sent {
  /** How many answers said that it was made just now. */
  made: number;
}

/** What partners do while sessions are lost: top-ups, the same one on several processes too, and looks at what is there. */
export class SessionLoad {
  readonly sent: Tried[] = [];
  /** What was answered as refused, and never sent as it should have been. */
  readonly refused: Purchase[] = [];
  /** How many answers said that the service could not say. */
  unavailable = 0;
  readonly #clients: readonly BoundedClient[];
  #hasEnded = false;

  constructor(clients: readonly BoundedClient[]) {
    this.#clients = clients;
  }

  /** Resolves once so many top-ups were acknowledged, before which there is nothing to lose. */
  async hasBegun(topUps: number): Promise<void> {
    const isMade = () => this.sent.filter(({ acknowledged }) => acknowledged !== undefined).length >= topUps;
    while (!this.#hasEnded && !isMade()) await sleep(LONGEST_PAUSE_MS);
  }

  end(): void {
    this.#hasEnded = true;
  }

  /** One partner, who makes choices of its own. */
  async run(choices: Choices): Promise<void> {
    while (!this.#hasEnded) {
      await this.#unlessUnavailable(() => this.#step(choices));
      await sleep(choices.below(LONGEST_PAUSE_MS));
    }
  }

  async #step(choices: Choices): Promise<void> {
    const client = choices.of(this.#clients);
    const kind = choices.below(12);
    const former = this.sent.length === 0 ? undefined : choices.of(this.sent);
    if (kind === 0) expectDone(await client.call("get-customer-information", { code: `c${choices.below(CUSTOMERS)}` }));
    else if (kind === 1) await this.#sendRefused(client, choices);
    else if (kind === 2 && former !== undefined) await this.#ask(client, former);
    else if (kind === 3 && former !== undefined) await this.#sendToAll(former, choices);
    else {
      const one: Tried = { purchase: await client.prepare(choices.below(CUSTOMERS), choices), made: 0 };
      this.sent.push(one);
      if (choices.below(4) === 0) await this.#sendToAll(one, choices);
      else await this.#topUp(choices.of(this.#clients), one, choices);
    }
  }

  async #sendRefused(client: BoundedClient, choices: Choices): Promise<void> {
    const purchase = await client.prepare(choices.below(CUSTOMERS), choices);
    this.refused.push(purchase);
    const { code, text } = await client.topUp({ ...purchase, amt: "1" });
    if (code !== "400ab106") throw new Error(`a wrong amount was answered with ${text}`);
  }

  async #sendToAll(one: Tried, choices: Choices): Promise<void> {
    await Promise.all(this.#clients.map((client) => this.#topUp(client, one, choices)));
  }

  /** As the interface says: where it is not known what became of it, txn-status is asked, on whichever process. */
  async #topUp(client: BoundedClient, one: Tried, choices: Choices): Promise<void> {
    if (await this.#unlessUnavailable(() => this.#send(client, one))) return;
    for (let asks = 0; asks < ASKS && !this.#hasEnded; asks += 1) {
      await sleep(choices.below(4 * LONGEST_PAUSE_MS));
      const other = choices.of(this.#clients);
      const isSettled = await this.#unlessUnavailable(async () => {
        if (!(await this.#ask(other, one))) await this.#send(other, one);
      });
      if (isSettled) return;
    }
  }

  async #send(client: BoundedClient, one: Tried): Promise<void> {
    const answer = expectDone(await client.topUp(one.purchase));
    if (!answer.replayed) one.made += 1;
    if (one.made > 1) throw new Error(`made ${one.made} times: ${answer.text}`);
    acknowledge(one, answer);
  }

  /** @returns whether it is on record. */
  async #ask(client: BoundedClient, one: Tried): Promise<boolean> {
    const { acknowledged } = one;
    const answer = await client.query(one.purchase.checkoutId);
    if (answer.code === "400ab107" && acknowledged === undefined) return false;
    if (answer.status !== 200) throw new Error(`acknowledged as ${acknowledged}, but now ${answer.text}`);
    acknowledge(one, answer);
    return true;
  }

  async #unlessUnavailable(work: () => Promise<void>): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      this.unavailable += 1;
      return false;
    }
  }
}

function acknowledge(one: Tried, { text }: Answer): void {
  if (one.acknowledged !== undefined && one.acknowledged !== text)
    throw new Error(`acknowledged as ${one.acknowledged}, and then as ${text}`);
  one.acknowledged = text;
}

function expectDone(answer: Answer): Answer {
  if (answer.status !== 200) throw new Error(`refused: ${answer.text}`);
  return answer;
}
