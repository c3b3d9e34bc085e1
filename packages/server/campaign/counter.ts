import { setTimeout as sleep } from "node:timers/promises";
import { reverseTransaction } from "../src/office/corrections/reversal.ts";
import { addStaff } from "../src/office/staff/operations.ts";
import { accountTools } from "../src/system/account-tools.ts";
import { deskOf, run } from "../test/support/desk.ts";
import { CHEAP } from "../test/support/office-line.ts";
import { keepPassword } from "../test/support/staff-api.ts";
import { expectBook, type Told } from "./book.ts";
import { Fleet } from "./fleet.ts";
import { connectionOf, makeProvider, openDesk } from "./partner.ts";
import { freePort, type Ground } from "./processes.ts";
import { Choices } from "./random.ts";

export interface CounterOptions extends Ground {
  readonly seed: number;
  readonly sales: number;
  readonly kills: number;
  readonly workers: number;
  readonly sellers?: number;
}

const CUSTOMERS = 100;
const PASSWORD = "kettle orbit fjord";
const METHODS = ["cash", "cash", "card", "wallet"] as const;
const BACK_WITHIN_MS = 60_000;
/** Cash at the beginning of each shift. */
const OPENING = 100;

/** What happened so far. */
interface Counts {
  kills: number;
  asked: number;
  twice: number;
  lost: number;
  shifts: number;
  reversed: number;
}

interface Sold {
  readonly txnId: string;
  readonly price: string;
  readonly method: string;
}

/**
 * Sellers sell at the counter, with double clicks, reloads and lost answers, while processes of the service are killed.
 * Each sale must be made once, and the shifts, the account and the transactions must agree.
 * @throws Error that names the violation.
 */
export async function counter({
  seed,
  sales,
  kills,
  workers,
  sellers: many = 20,
  ...ground
}: CounterOptions): Promise<string> {
  const choices = new Choices(seed);
  const token = await makeProvider(ground, CUSTOMERS);
  await addSellers(ground, many);
  const [console, port] = [await freePort(), await freePort()];
  const fleet = new Fleet(ground, token, workers, ["--console-port", `${console}`, "--counter-port", `${port}`]);
  const counts: Counts = { kills: 0, asked: 0, twice: 0, lost: 0, shifts: 0, reversed: 0 };
  let isSelling = true;
  try {
    await fleet.start(0);
    const url = `http://127.0.0.1:${port}/api/v1`;
    const desk = await openDesk(ground);
    const sellAll = async (seller: Seller) => {
      await seller.logIn();
      for (let left = Math.ceil(sales / many); left > 0; ) {
        // A shift that was opened before the answer was lost is open already.
        await seller.ask("POST", "/shift", { opening: String(OPENING) }, [201, 409]);
        const sold: Sold[] = [];
        for (const some = Math.min(left, 1 + seller.choices.below(40)); sold.length < some; left -= 1)
          sold.push(await seller.sell());
        const wrong = sold.filter(() => seller.choices.below(50) === 0);
        for (const { txnId } of wrong) {
          await reverse(seller, desk, txnId);
          fleet.told.reversed.add(txnId);
        }
        await seller.closeShift(sold, wrong);
      }
    };
    const killAll = async () => {
      while (counts.kills < kills && isSelling) {
        await sleep(200 + choices.below(1_500));
        counts.kills += await fleet.kill(0, choices);
      }
    };
    const sellers = Array.from({ length: many }, (_, index) => {
      return new Seller(url, sellerName(index), new Choices(choices.seed()), counts, fleet.told);
    });
    const selling = Promise.all(sellers.map(sellAll)).finally(() => {
      isSelling = false;
    });
    await Promise.all([selling, killAll()]);
    await desk.close();
    await fleet.untilReady();
    const { size } = fleet.told.topUps;
    const made = new Set([...fleet.told.topUps.values()].map(({ txnId }) => txnId));
    if (made.size !== size) throw new Error("a sale was answered for another");
    await expectBook(ground, fleet.told);
    return (
      `${size} sales by ${many} sellers, ${counts.kills} kills, ${counts.twice} double clicks, ` +
      `${counts.lost} lost answers, ${counts.asked} asked again: each made once; ` +
      `${counts.shifts} shifts and the account agree, ${counts.reversed} reversed`
    );
  } finally {
    await fleet.end();
  }
}

const sellerName = (index: number) => `seller ${index}`;

async function addSellers(ground: Ground, many: number): Promise<void> {
  const opened = await openDesk(ground);
  const desk = deskOf(opened.ports, { name: "campaign" }, { accounts: accountTools(opened.ports, CHEAP) });
  for (let index = 0; index < many; index += 1) {
    const name = sellerName(index);
    await run(desk, addStaff, { name, sellerOf: "wallet", password: PASSWORD });
    await keepPassword(opened.store, name);
  }
  await opened.close();
}

/** Staff reverse a sale that its seller asked for, and the seller returns the cash. */
async function reverse(seller: Seller, { desk }: Awaited<ReturnType<typeof openDesk>>, txnId: string): Promise<void> {
  await seller.ask("POST", `/sales/${txnId}/reversal-request`, { reason: "wrong box" }, [200]);
  await run(desk, reverseTransaction, { id: txnId, reason: "the seller asked" });
}

/** A seller at a page that asks again if an answer is lost. */
class Seller {
  readonly choices: Choices;
  readonly #url: string;
  readonly #name: string;
  readonly #counts: Counts;
  readonly #told: Told;
  #cookie = "";

  constructor(url: string, name: string, choices: Choices, counts: Counts, told: Told) {
    this.#url = url;
    this.#name = name;
    this.choices = choices;
    this.#counts = counts;
    this.#told = told;
  }

  async logIn(): Promise<void> {
    const response = await this.#insist("POST", "/session", { name: this.#name, password: PASSWORD });
    this.#cookie = /topupd_counter=[^;]+/.exec(response.headers.get("set-cookie") ?? "")?.[0] ?? "";
  }

  /** Asks until there is a clear answer. @param expected its statuses. */
  async ask<Answer>(
    method: string,
    path: string,
    body: object | undefined,
    expected: readonly number[],
  ): Promise<Answer> {
    const response = await this.#insist(method, path, body);
    const text = await response.text();
    if (!expected.includes(response.status)) throw new Error(`${method} ${path} was answered ${text}`);
    return JSON.parse(text) as Answer;
  }

  /** Sells one bouquet, with a double click, a reload or a lost answer. */
  async sell(): Promise<Sold> {
    const connection = connectionOf(this.choices.below(CUSTOMERS));
    const offer = await this.ask<Offer>("POST", "/offers", connection, [200]);
    const { bouquetId, price } = this.choices.of(offer.bouquets);
    const method = this.choices.of(METHODS);
    const { checkoutId } = offer;
    const facts = { ...connection, checkoutId, bouquetCode: bouquetId, amount: Math.round(Number(price) * 100) };
    const finish = async () => {
      const { txnId } = await this.#finish(sale);
      this.#told.note({ ...facts, txnId });
      return txnId;
    };
    const sale = { checkoutId, ...connection, bouquetId, price, method, again: true };
    const kind = this.choices.below(4);
    if (kind === 0) await this.#loseAnswer(sale);
    if (kind === 1) {
      this.#counts.twice += 1;
      await Promise.all([finish(), finish()]);
    }
    if (kind === 2) await finish();
    return { txnId: await finish(), price, method };
  }

  /** Closes the shift, and compares the cash. @param wrong sales of which the cash is returned first. */
  async closeShift(sold: readonly Sold[], wrong: readonly Sold[]): Promise<void> {
    for (const { txnId, method } of wrong) {
      this.#counts.reversed += 1;
      if (method === "cash") await this.ask("POST", `/sales/${txnId}/cash-returned`, undefined, [200, 409]);
    }
    const cash = (some: readonly Sold[]) =>
      some.reduce((sum, { method, price }) => sum + (method === "cash" ? Math.round(Number(price) * 100) : 0), 0);
    const expected = ((OPENING * 100 + cash(sold) - cash(wrong)) / 100).toFixed(2);
    const body = { counted: expected };
    // The answer of the first request may be lost: then the shift is closed.
    await this.ask("POST", "/shift/close", body, [200, 409]);
    const [last] = (await this.ask<Shifts>("GET", "/shifts?limit=1", undefined, [200])).items;
    if (last?.expected !== expected || last.closedAt === null)
      throw new Error(`${this.#name}: the shift expects ${last?.expected}, and ${expected} was sold`);
    this.#counts.shifts += 1;
  }

  /** Sends a sale, and goes away before its answer comes. */
  async #loseAnswer(sale: object): Promise<void> {
    this.#counts.lost += 1;
    const signal = AbortSignal.timeout(1 + this.choices.below(30));
    await this.#fetch("POST", "/sales", sale, signal).catch(() => {});
  }

  /** Does what the page does: it sends the sale, and asks what became of it if the answer does not come. */
  async #finish(sale: { readonly checkoutId: string }): Promise<Pick<Sold, "txnId">> {
    const deadline = Date.now() + BACK_WITHIN_MS;
    for (;;) {
      const answer = await this.#fetch("POST", "/sales", sale).catch(() => undefined);
      if (answer?.status === 201) return (await answer.json()) as Sold;
      if (answer !== undefined && answer.status < 500) throw new Error(`refused: ${await answer.text()}`);
      this.#counts.asked += 1;
      const outcome = await this.ask<Outcome>("GET", `/offers/${sale.checkoutId}`, undefined, [200]);
      if (outcome.receipt !== null) return outcome.receipt;
      if (outcome.state === "never" || Date.now() > deadline) throw new Error(`a sale is ${outcome.state}`);
    }
  }

  async #insist(method: string, path: string, body: object | undefined): Promise<Response> {
    const deadline = Date.now() + BACK_WITHIN_MS;
    for (;;) {
      const answer = await this.#fetch(method, path, body).catch(() => undefined);
      if (answer !== undefined && answer.status < 500) return answer;
      if (Date.now() > deadline) throw new Error(`${method} ${path} gets no answer: ${await answer?.text()}`);
      await sleep(50);
    }
  }

  #fetch(method: string, path: string, body: object | undefined, signal?: AbortSignal): Promise<Response> {
    const headers = { cookie: this.#cookie, ...(body && { "content-type": "application/json" }) };
    return fetch(`${this.#url}${path}`, {
      ...{ method, headers, signal: signal ?? AbortSignal.timeout(40_000) },
      ...(body && { body: JSON.stringify(body) }),
    });
  }
}

interface Offer {
  readonly checkoutId: string;
  readonly bouquets: readonly { readonly bouquetId: string; readonly price: string }[];
}

interface Outcome {
  readonly state: string;
  readonly receipt: Sold | null;
}

interface Shifts {
  readonly items: readonly { readonly expected: string; readonly closedAt: string | null }[];
}
