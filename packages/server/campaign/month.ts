import { appendFileSync, createReadStream, rmSync } from "node:fs";
import { join } from "node:path";
import { runCommandLine } from "../src/cli/program.ts";
import type { Runtime } from "../src/cli/runtime.ts";
import { type BasePlans, DEFAULT_BASE_PLANS } from "../src/domain/catalogue.ts";
import { issueCheckout, openCheckout } from "../src/domain/checkout.ts";
import type { Transaction } from "../src/domain/top-up.ts";
import { formatTransactionId } from "../src/domain/transaction-id.ts";
import { readDay } from "../src/domain/zone.ts";
import type { Ports } from "../src/services/ports.ts";
import { StoreUnavailable } from "../src/store/errors.ts";
import type { Store } from "../src/store/store.ts";
import { seededRandom } from "../test/support/random.ts";
import { Book } from "./month-book.ts";
import { decimal, fillProvider, MONTHS, PARTNERS, type Provider } from "./month-provider.ts";
import { Sums } from "./month-sums.ts";
import { Choices } from "./random.ts";

export interface MonthOptions {
  readonly seed: number;
  /** Thousands of top-ups. */
  readonly rounds: number;
  /** An empty folder. */
  readonly cwd: string;
  readonly openStore: (options: {
    readonly clock: () => number;
    readonly random: (bytes: number) => Uint8Array;
    readonly timeZone: string;
    readonly currencyExponent: number;
    readonly basePlans: BasePlans;
  }) => Promise<Store>;
}

const TOP_UPS_PER_ROUND = 1_000;
/** Decided together, at one time. */
const MOST_TOGETHER = 250;
/** One top-up in so many is taken back, some time later. */
const REVERSED_EVERY = 80;
/** So many wait for that at a time. */
const MOST_WAITING = 12;
const MOST_ATTEMPTS = 20;
const AUTHOR = "campaign";
const KEYS = ["checkoutId", "txnId", "udf1"] as const;

/**
 * Makes a month of top-ups by three partners, and holds what the commands say of it against sums that are taken
 * otherwise: by what was acknowledged, by what a list shows, and by days as the platform knows them.
 * @throws Error that says what differs.
 */
export async function month(options: MonthOptions): Promise<string> {
  const campaign = new Month(options);
  await campaign.trade();
  await campaign.verifyList();
  await campaign.verifySettlement();
  await campaign.verifyReconciliation();
  const { topUps, reversals, zone } = campaign;
  return `${topUps} top-ups and ${reversals} reversals of a month in ${zone}: settlement and reconciliation agree with them, to the minor unit`;
}

class Month {
  topUps = 0;
  reversals = 0;
  readonly zone: string;
  readonly #options: MonthOptions;
  readonly #choices: Choices;
  readonly #exponent: number;
  readonly #days: readonly string[];
  /** The start of each day and of the one after the last, by which top-ups are placed; nothing is held against it. */
  #bounds: number[] = [];
  #now = 0;
  readonly #random = seededRandom(11);
  readonly #books: Book[] = [];
  readonly #waiting: (readonly [partner: number, Transaction])[] = [];
  readonly #expected = new Sums();
  readonly #dayOf: (at: number) => string;

  constructor(options: MonthOptions) {
    const choices = new Choices(options.seed);
    const { zone, month, days } = choices.of(MONTHS);
    this.zone = zone;
    this.#options = options;
    this.#choices = choices;
    this.#exponent = choices.of([0, 2, 4]);
    this.#days = Array.from({ length: days }, (_, index) => `${month}-${String(index + 1).padStart(2, "0")}`);
    const parts = { timeZone: zone, year: "numeric", month: "2-digit", day: "2-digit" } as const;
    const format = new Intl.DateTimeFormat("en-CA", parts);
    this.#dayOf = (at) => format.format(at);
  }

  /** Everything that is bought in the month, its first and last millisecond included. */
  async trade(): Promise<void> {
    const store = await this.#open();
    try {
      const { zone } = store.provider;
      this.#bounds = this.#days.map((day) => readDay(day, zone)?.start as number);
      this.#bounds.push((this.#bounds.at(-1) as number) + 24 * 3_600_000);
      this.#now = this.#bounds[0] as number;
      const provider = await fillProvider(this.#ports(store), { name: AUTHOR }, this.#exponent);
      // All but the first day and the last: the books go on beyond the period that is reconciled.
      const [from, until] = [this.#bounds.at(1) as number, this.#bounds.at(-2) as number];
      const isInPeriod = (at: number) => at >= from && at < until;
      for (const key of KEYS) this.#books.push(new Book(key, this.#exponent, this.#choices, isInPeriod));
      for (const [index, key] of KEYS.entries()) appendFileSync(this.#file(index), `${key},amount,status\n`);
      for (const times of this.#times()) await this.#tradeAt(store, provider, times);
      // What is taken back in another month is nothing to this one's settlement, but to whether it is owed.
      this.#now = this.#bounds.at(-1) as number;
      while (this.#waiting.length > 0) await this.#reverse(store);
      this.#writeBooks();
    } finally {
      await store.close();
    }
  }

  /** Rounds of times in their order, spread over the month, with every day's first and last millisecond. */
  #times(): number[][] {
    const { rounds } = this.#options;
    const [first, last] = [this.#bounds[0] as number, this.#bounds.at(-1) as number];
    const times = this.#bounds.slice(1).flatMap((bound, index) => [this.#bounds[index] as number, bound - 1]);
    while (times.length * MOST_TOGETHER < rounds * TOP_UPS_PER_ROUND * 2)
      times.push(first + (this.#choices.below(2 ** 32 - 1) % (last - first)));
    times.sort((a, b) => a - b);
    const perRound = Math.ceil(times.length / rounds);
    return Array.from({ length: rounds }, (_, round) => times.slice(round * perRound, (round + 1) * perRound));
  }

  async #tradeAt(store: Store, provider: Provider, times: readonly number[]): Promise<void> {
    for (const [index, at] of times.entries()) {
      this.#now = at;
      const together =
        Math.floor(((index + 1) * TOP_UPS_PER_ROUND) / times.length) -
        Math.floor((index * TOP_UPS_PER_ROUND) / times.length);
      const made = await Promise.all(Array.from({ length: together }, () => this.#topUp(store, provider)));
      for (const [partner, transaction] of made) {
        this.#expected.add(PARTNERS[partner] as string, this.#dayOf(transaction.at), transaction);
        if (this.#choices.below(REVERSED_EVERY) === 0) this.#waiting.push([partner, transaction]);
        else this.#books[partner]?.enter(transaction, false);
      }
      this.topUps += made.length;
      while (this.#waiting.length > MOST_WAITING) await this.#reverse(store);
    }
    this.#writeBooks();
  }

  /** Takes back any of those that wait for it: now, which may be days after it was recorded. */
  async #reverse(store: Store): Promise<void> {
    const [chosen] = this.#waiting.splice(this.#choices.below(this.#waiting.length), 1);
    if (chosen === undefined) return;
    const [partner, transaction] = chosen;
    const at = store.provider.zone.moment(this.#now);
    const by = { author: AUTHOR, at, reason: "the customer chose another" };
    const { kind } = await insist(() => store.corrections.reverse(transaction.checkoutId, by));
    if (kind === "not_found") throw new Error(`${transaction.txnId} is not on record`);
    this.reversals += 1;
    this.#books[partner]?.enterReversed(transaction, this.#now);
    if (this.#now < (this.#bounds.at(-1) as number))
      this.#expected.takeBack(PARTNERS[partner] as string, this.#dayOf(this.#now), transaction);
  }

  #writeBooks(): void {
    for (const [index, book] of this.#books.entries()) {
      const rows = book.takeRows();
      if (rows.length > 0) appendFileSync(this.#file(index), `${rows.join("\n")}\n`);
    }
  }

  async #topUp(store: Store, { partners, anySale }: Provider): Promise<readonly [partner: number, Transaction]> {
    const partner = this.#choices.below(partners.length);
    const { connection, code, price } = anySale(this.#choices);
    const partnerId = partners[partner]?.id as number;
    const holder = { partnerId, environment: connection.environment };
    // Listed before: not all of the five minutes are left, and the day may have been another.
    const issuedAt = this.#now - this.#choices.below(300_000);
    const secrets = await store.checkoutSecrets();
    const revision = (await store.currentCatalogue("production"))?.revision as number;
    const [secret] = secrets;
    if (secret === undefined) throw new Error("there is no secret");
    const checkoutId = issueCheckout(secret, holder, connection, { revision, issuedAt, nonce: this.#random(16) });
    const checkout = openCheckout(secrets, holder, checkoutId);
    if (checkout === undefined) throw new Error("the checkoutId does not open");
    const txnId = formatTransactionId(this.#now - this.#choices.below(1_000), this.#random(10));
    const told = { udf1: `order ${txnId}`, udf2: undefined };
    const command = {
      ...connection,
      ...holder,
      ...told,
      checkoutId,
      checkout,
      bouquetCode: code,
      amount: price,
      txnId,
    };
    const outcome = await insist(() => store.settleTopUp(command));
    if (outcome.kind === "refused") throw new Error(`a top-up was refused: ${outcome.refusal}`);
    return [partner, outcome.transaction];
  }

  /** What a list shows is what was acknowledged, and nothing else. */
  async verifyList(): Promise<void> {
    const store = await this.#open();
    try {
      const partners = new Map((await store.partners.list()).map(({ id, name }) => [id, name]));
      const listed = new Sums();
      let before: string | undefined;
      for (;;) {
        const page = await store.search.listTransactions({ environment: "production" }, { before, limit: 1_000 });
        for (const one of page) listed.add(partners.get(one.partnerId) as string, this.#dayOf(one.at), one);
        before = page.at(-1)?.txnId;
        if (before === undefined) break;
      }
      agree("the list", listed.gross(), this.#expected.gross());
    } finally {
      await store.close();
    }
  }

  async verifySettlement(): Promise<void> {
    const [first = "", last = ""] = [this.#days[0], this.#days.at(-1)];
    const { code, stdout, stderr } = await this.#run("report", "settlement", "--json", "--from", first, "--to", last);
    agree("the settlement's end", [code, stderr], [0, `${this.#expected.words(this.#exponent)}\n`]);
    agree("the settlement", lines(stdout).toSorted(), this.#expected.lines(this.#exponent));
    const days = await this.#run("report", "settlement", "--csv", "--by", "day", "--from", first, "--to", last);
    agree("the settlement by days", lines(days.stdout).length - 1, this.#expected.days());
  }

  /** Of each partner, by another key. */
  async verifyReconciliation(): Promise<void> {
    const [from = "", to = ""] = [this.#days.at(1), this.#days.at(-2)];
    for (const [index, book] of this.#books.entries()) {
      const partner = ["--partner", PARTNERS[index] as string, "--from", from, "--to", to];
      const flags = [...partner, "--key", book.key, "--status-column", "status", "--json"];
      const { code, stdout, stderr } = await this.#run("reconcile", this.#file(index), ...flags);
      const { answers, total } = book.expected;
      const found = lines(stdout).map((line) => JSON.parse(line) as { verdict: string; key: string });
      agree("the reconciliation's end", code, answers.length > 0 ? 3 : 0);
      agree("the reconciliation", found.map(({ verdict, key }) => `${verdict} ${key}`).toSorted(), answers.toSorted());
      const said = /^TOTAL .*$/m.exec(stderr)?.[0].split(/ +/);
      const amounts = [total.theirs, total.ours, total.theirs - total.ours];
      agree("both books", said, [
        "TOTAL",
        String(total.answers),
        ...amounts.map((sum) => decimal(sum, this.#exponent)),
      ]);
      rmSync(this.#file(index));
    }
  }

  #ports(store: Store): Ports {
    return { store, clock: () => this.#now, random: this.#random };
  }

  #open(): Promise<Store> {
    const world = { clock: () => this.#now, random: this.#random };
    return this.#options.openStore({
      ...{ ...world, timeZone: this.zone, currencyExponent: this.#exponent, basePlans: DEFAULT_BASE_PLANS },
    });
  }

  #file(partner: number): string {
    return join(this.#options.cwd, `book-${partner}.csv`);
  }

  async #run(...words: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }> {
    const said = { stdout: "", stderr: "" };
    const runtime = {
      ...{ version: "0.0.0", env: {}, isTerminal: false, random: this.#random },
      // A week later, all days are over.
      clock: () => (this.#bounds.at(-1) as number) + 7 * 24 * 3_600_000,
      openStore: () => this.#open(),
      openFile: (path: string) => createReadStream(path),
      lowerPriority: () => {},
      userName: () => AUTHOR,
      stdout: (text: string) => (said.stdout += text),
      stderr: (text: string) => (said.stderr += text),
    } as unknown as Runtime;
    return { code: await runCommandLine(words, runtime), ...said };
  }
}

/** A machine with much else to do may let a transaction wait too long. What is asked again is not done twice. */
async function insist<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let left = MOST_ATTEMPTS; ; left -= 1) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof StoreUnavailable) || left === 0) throw error;
    }
  }
}

function lines(text: string): string[] {
  return text.split("\n").filter((line) => line !== "");
}

function agree(what: string, real: unknown, expected: unknown): void {
  const [a, b] = [textsOf(real), textsOf(expected)];
  if (a.length === b.length && a.every((line, index) => line === b[index])) return;
  const [surplus, missing] = [a.find((line) => !b.includes(line)), b.find((line) => !a.includes(line))];
  throw new Error(`${what}: topupd says ${surplus}, and not ${missing} (${a.length} lines, and not ${b.length})`);
}

function textsOf(value: unknown): string[] {
  return (Array.isArray(value) ? value : [value]).map(String);
}
