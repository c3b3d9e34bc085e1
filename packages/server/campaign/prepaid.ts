import { setTimeout as sleep } from "node:timers/promises";
import { expectBook } from "./book.ts";
import { Fleet } from "./fleet.ts";
import { type Answer, BOUQUETS, connectionOf, makeProvider, type PartnerClient, type Purchase } from "./partner.ts";
import { expectTopupd, type Ground } from "./processes.ts";
import { Choices } from "./random.ts";

export interface PrepaidOptions extends Ground {
  readonly seed: number;
  readonly rounds: number;
  /** Number of top-ups of a round that are attempted, and of those that the first deposit covers. */
  readonly topUps: number;
  readonly covered: number;
  readonly processes: number;
  readonly workers: number;
}

const CLIENTS = 32;
/** So few that many top-ups are of the same customer. */
const CUSTOMERS = 100;
const BACK_WITHIN_MS = 60_000;
const PAUSE_MS = 20;
/** Processes that are killed while a round's top-ups are sent, on average. */
const KILLS = 4;

const [{ code: bouquetId, price: PRICE }] = BOUQUETS;
const PERCENT = 2.5;
/** The charge of a top-up, in minor units. */
const CHARGE = PRICE * (100 - PERCENT);

/**
 * Clients of a prepaid partner attempt more top-ups than its balance covers, while processes are killed in every second
 * round. Exactly those that it covers must succeed. All others must be refused for good. After a deposit, each is refused
 * with its old checkout and succeeds with a new one, while processes are killed.
 * @throws Error that names the round with a violation.
 */
export async function prepaid(options: PrepaidOptions): Promise<string> {
  const { seed, rounds, topUps, covered, processes, workers, ...ground } = options;
  const choices = new Choices(seed);
  const fleet = new Fleet(ground, await makeProvider(ground, CUSTOMERS), workers);
  const partner = new Partner(fleet, choices, Math.ceil(topUps / KILLS));
  await topupd(ground, "partner", "account", "wallet", "--credit-limit", "0");
  await topupd(ground, "partner", "commission", "wallet", "--percent", String(PERCENT));
  try {
    for (let index = 0; index < processes; index += 1) await fleet.start(index);
    for (let round = 0; round < rounds; round += 1) {
      const fail = (what: string) => {
        throw new Error(`round ${round}: ${what}`);
      };
      const deposit = async (count: number, reference: string) => {
        const words = [amountOf(count * CHARGE), "--reference", `${reference} ${round}`];
        await topupd(ground, "partner", "deposit", "wallet", ...words);
      };
      const expectZero = async () => {
        const { balance } = await topupd(ground, "partner", "balance", "wallet");
        if (balance !== "0.00") fail(`the balance is ${balance}`);
      };

      const purchases = await partner.prepare(topUps);
      await deposit(covered, "first");
      const first = await partner.topUp(purchases, choices.below(2) === 0);
      const refused = purchases.filter((_, index) => first[index]?.status !== 200);
      if (topUps - refused.length !== covered) fail(`${topUps - refused.length} top-ups succeeded`);
      for (const { status, text } of first) if (status !== 200 && !isUncovered(status, text)) fail(`refused: ${text}`);
      await expectZero();
      const expectNever = async (when: string) => {
        for (const { code, text } of await partner.query(refused)) if (code !== "400ab108") fail(`${when}: ${text}`);
      };
      await expectNever("refused, then");

      await deposit(topUps - covered, "rest");
      const listed = await partner.prepare(topUps - covered);
      const mixed = listed.flatMap((purchase, index) => [refused[index] as Purchase, purchase]);
      const answers = await partner.topUp(mixed, true);
      const old = answers.filter((_, index) => index % 2 === 0);
      const second = answers.filter((_, index) => index % 2 === 1);
      for (const { status, text } of old) if (status !== 402) fail(`not refused again: ${text}`);
      for (const { status, text } of second) if (status !== 200) fail(`refused after the deposit: ${text}`);
      await expectZero();
      await expectNever("refused, then after the deposit");
      const { size } = fleet.told.topUps;
      if (size !== (round + 1) * topUps) fail(`${size} transactions`);
      await expectBook(ground, fleet.told).catch((cause: Error) => fail(cause.message));
    }
  } finally {
    await fleet.end();
  }
  return `${rounds} rounds of ${topUps} top-ups, ${partner.kills} kills: ${covered} each succeeded, and all others with new checkouts after a deposit`;
}

/** Runs a command, and reads its answer. */
async function topupd(ground: Ground, ...words: readonly string[]) {
  return JSON.parse(await expectTopupd([...words, "--json"], ground));
}

/** The first refusal names the missing amount: a balance of whole charges lacks one charge. Its answer may be lost. */
function isUncovered(status: number, text: string): boolean {
  const { code, body } = JSON.parse(text) as { code: string; body?: { missing?: number } };
  return status === 402 && code === "400ab109" && [undefined, CHARGE / 100].includes(body?.missing);
}

function amountOf(minor: number): string {
  return (minor / 100).toFixed(2);
}

/** The clients. Each sends one request at a time to any process, until it gets a clear answer. */
class Partner {
  kills = 0;
  readonly #fleet: Fleet;
  readonly #choices: Choices;
  readonly #peace: number;

  /** @param peace number of answers between two kills, on average. */
  constructor(fleet: Fleet, choices: Choices, peace: number) {
    this.#fleet = fleet;
    this.#choices = choices;
    this.#peace = peace;
  }

  prepare(count: number): Promise<Purchase[]> {
    const customers = Array.from({ length: count }, () => this.#choices.below(CUSTOMERS));
    return inParallel(customers, async (index) => {
      const connection = connectionOf(index);
      const { text } = await this.#insist((client) => client.call("get-subscription-package", connection));
      const { checkoutId } = (JSON.parse(text) as { body: { checkoutId: string } }).body;
      return { ...connection, checkoutId, bouquetId, amt: String(PRICE) };
    });
  }

  query(purchases: readonly Purchase[]): Promise<Answer[]> {
    return inParallel(purchases, ({ checkoutId }) => this.#insist((client) => client.query(checkoutId)));
  }

  /** Sends top-ups. @param isKilling whether processes are killed meanwhile. */
  topUp(purchases: readonly Purchase[], isKilling: boolean): Promise<Answer[]> {
    let left = 1 + this.#choices.below(this.#peace);
    return inParallel(purchases, async (purchase) => {
      const answer = await this.#insist((client) => client.topUp(purchase));
      left -= 1;
      if (isKilling && left === 0) {
        // The other clients go on meanwhile.
        const killed = await this.#fleet.kill(this.#choices.below(this.#fleet.clients.length), this.#choices);
        this.kills += killed;
        left = 1 + this.#choices.below(2 * this.#peace);
      }
      return answer;
    });
  }

  async #insist(ask: (client: PartnerClient) => Promise<Answer>): Promise<Answer> {
    const deadline = Date.now() + BACK_WITHIN_MS;
    for (;;) {
      const answer = await ask(this.#choices.of(this.#fleet.clients)).catch((error: unknown) => {
        // fetch throws a TypeError if a connection is refused or breaks.
        if (!(error instanceof TypeError) || Date.now() > deadline) throw error;
      });
      if (answer !== undefined && (answer.status !== 503 || Date.now() > deadline)) return answer;
      await sleep(PAUSE_MS);
    }
  }
}

/** Works on items by all clients at once. @returns the results, in the order of the items. */
async function inParallel<Item, Result>(items: readonly Item[], work: (item: Item) => Promise<Result>) {
  const results: Result[] = [];
  const left = items.entries();
  const client = async () => {
    for (const [index, item] of left) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  return results;
}
