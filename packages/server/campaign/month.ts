import type { Partner } from "../src/domain/access-token.ts";
import { type BasePlans, DEFAULT_BASE_PLANS } from "../src/domain/catalogue.ts";
import { issueCheckout, openCheckout } from "../src/domain/checkout.ts";
import { Refused } from "../src/domain/refused.ts";
import type { Transaction } from "../src/domain/transaction.ts";
import { randomDigits } from "../src/domain/transaction.ts";
import { readDay } from "../src/domain/wall-time.ts";
import { reverseTransaction } from "../src/office/corrections/reversal.ts";
import { perform } from "../src/office/operation.ts";
import { reconcile } from "../src/office/settlement/reconcile.ts";
import { StoreUnavailable } from "../src/store/errors.ts";
import type { Store } from "../src/store/store.ts";
import { importRows, publishRows } from "../test/support/catalogue.ts";
import { partnersOf } from "../test/support/partners.ts";
import { deskOf } from "../test/support/plain-desk.ts";
import { seededRandom } from "../test/support/random.ts";
import { expectBook, Told } from "./book.ts";
import { Book } from "./month-book.ts";
import type { Ground } from "./processes.ts";
import { Choices } from "./random.ts";

export interface MonthOptions extends Ground {
  readonly seed: number;
  /** Thousands of top-ups. */
  readonly rounds: number;
  /** The month (default: chosen by the seed). */
  readonly of?: { readonly zone: string; readonly month: string; readonly days: number };
  readonly openStore: (options: {
    readonly clock: () => number;
    readonly random: (bytes: number) => Uint8Array;
    readonly timeZone: string;
    readonly currencyExponent: number;
    readonly basePlans: BasePlans;
  }) => Promise<Store>;
}

/** Time zones with unusual days, and a month of each. Clocks change in all but the first. */
const MONTHS = [
  { zone: "Asia/Kathmandu", month: "2026-11", days: 30 },
  { zone: "Europe/Berlin", month: "2027-03", days: 31 },
  { zone: "America/Havana", month: "2027-11", days: 30 },
  { zone: "Australia/Lord_Howe", month: "2027-04", days: 30 },
  { zone: "America/St_Johns", month: "2027-03", days: 31 },
] as const;
const DAY_MS = 86_400_000;

const CUSTOMERS = 2_000;
const PARTNERS = ["Blue Wallet", "Bank, North", "=Reseller"] as const;
const KEYS = ["checkoutId", "txnId", "udf1"] as const;
/** Connections of a customer, with the prefix of their reqId. */
const CONNECTIONS = { tv: "tv", internet: "net", iptv: "iptv" } as const;
const SERVICES = ["tv", "internet", "iptv"] as const;
/** Minor units. The last is the largest that there is: a month of it is more than 64 bits hold. */
const PRICES = [1n, 45_000n, 322_050n, 10n ** 15n - 1n];
const PERIODS = ["DAILY", "WEEKLY", "MONTHLY", "QUARTERLY"];

/** One top-up in so many is taken back, some time later. */
const REVERSED_EVERY = 40;
/** So many wait for that at a time. */
const MOST_WAITING = 4;
const MOST_ATTEMPTS = 20;
/** Checkouts that are never used, and an age at which they cannot be any more. */
const [LEFT, EXPIRED_MS] = [20, 600_000];
const ACTOR = { name: "campaign" };

/**
 * Makes a month of top-ups by three partners, and holds what settlement and reconciliation say of it against sums that
 * are taken otherwise: by what was acknowledged, and by days as the platform knows them.
 * @throws Error that says what differs.
 */
export async function month(options: MonthOptions): Promise<string> {
  const choices = new Choices(options.seed);
  const chosen = choices.of(MONTHS);
  const { zone, month, days } = options.of ?? chosen;
  const [exponent, random] = [choices.of([0, 2, 4]), seededRandom(11)];
  const time = { now: Date.parse(`${month}-01T00:00:00Z`) };
  const opening = { timeZone: zone, currencyExponent: exponent, basePlans: DEFAULT_BASE_PLANS };
  const store = await options.openStore({ ...opening, clock: () => time.now, random });
  try {
    const dates = Array.from({ length: days }, (_, index) => `${month}-${String(index + 1).padStart(2, "0")}`);
    const campaign = new Month(store, dates, time, random, choices);
    await campaign.fill(exponent);
    await campaign.trade(options.rounds * 1_000);
    await campaign.leave();
    await expectBook(options, campaign.told);
    await campaign.verifyReconciliation();
    const { topUps, reversals } = campaign;
    return `${topUps} top-ups and ${reversals} reversals of a month in ${zone}: settlement and reconciliation agree with them, to the minor unit`;
  } finally {
    await store.close();
  }
}

class Month {
  topUps = 0;
  reversals = 0;
  readonly told = new Told();
  readonly #store: Store;
  readonly #time: { now: number };
  readonly #random: (bytes: number) => Uint8Array;
  readonly #choices: Choices;
  /** The start of each day and of the one after the last, by which top-ups are placed; nothing is held against it. */
  readonly #bounds: readonly number[];
  /** All but the first day and the last: the books go on beyond the period that is reconciled. */
  readonly #period: { readonly from: number; readonly until: number };
  #partners: readonly Partner[] = [];
  readonly #books: readonly Book[];
  readonly #waiting: (readonly [partner: number, Transaction])[] = [];

  constructor(
    store: Store,
    days: readonly string[],
    time: { now: number },
    random: (bytes: number) => Uint8Array,
    choices: Choices,
  ) {
    const { zone } = store.provider;
    const starts = days.map((day) => readDay(day, zone)?.start as number);
    [this.#store, this.#time, this.#random, this.#choices] = [store, time, random, choices];
    this.#bounds = [...starts, (starts.at(-1) as number) + DAY_MS];
    const [from, until] = [starts[1] as number, starts.at(-1) as number];
    this.#period = { from, until };
    this.#books = KEYS.map((key) => new Book(key, choices, (at) => at >= from && at < until));
  }

  /** Fills the empty database of a small provider. All services have bouquets of the same codes. */
  async fill(exponent: number): Promise<void> {
    this.#time.now = this.#bounds[0] as number;
    const catalogue = SERVICES.flatMap((service) =>
      PERIODS.map((period, index) => {
        const price = decimal(PRICES[index] as bigint, exponent);
        return { service, code: `B-${index}`, name: `Plan of ${service} (${period})`, price };
      }),
    );
    const customers = Array.from({ length: CUSTOMERS }, (_, index) => ({
      ...{ cuid: `c${index}`, first_name: "First", last_name: "Last", mobile: `98${index}`, status: "active" },
      connections: {
        tv: [{ stb: `tv${index}`, status: "active" }],
        internet: [{ username: `net${index}`, status: "active" }],
        iptv: [{ username: `iptv${index}`, status: "active" }],
      },
    }));
    const ports = { store: this.#store, clock: () => this.#time.now, random: this.#random };
    await publishRows(ports.store, catalogue, ports.clock());
    await importRows(ports, customers);
    const by = { author: ACTOR.name, authority: undefined, at: ports.clock() };
    const added = PARTNERS.map((name) => partnersOf(this.#store).add(name, by));
    this.#partners = (await Promise.all(added)) as Partner[];
  }

  /** Everything that is bought in the month, every day's first and last millisecond included. */
  async trade(topUps: number): Promise<void> {
    const [first, last] = [this.#bounds[0] as number, this.#bounds.at(-1) as number];
    const edges = this.#bounds.slice(1).flatMap((bound, index) => [this.#bounds[index] as number, bound - 1]);
    const others = Array.from({ length: topUps / 50 }, () => first + (this.#choices.below(2 ** 32) % (last - first)));
    const times = [...edges, ...others].sort((a, b) => a - b);
    for (const [index, at] of times.entries()) {
      this.#time.now = at;
      // Decided together, at one time.
      const together = Math.floor(((index + 1) * topUps) / times.length) - this.topUps;
      const made = await Promise.all(Array.from({ length: together }, () => this.#topUp()));
      this.topUps += together;
      for (const [partner, transaction] of made) {
        this.told.note(transaction);
        if (this.#choices.below(REVERSED_EVERY) === 0) this.#waiting.push([partner, transaction]);
        else this.#books[partner]?.enter(transaction, false);
      }
      while (this.#waiting.length > MOST_WAITING) await this.#reverse();
    }
    // A reversal in another month does not change this settlement, but it changes whether the top-up is owed.
    this.#time.now = last;
    while (this.#waiting.length > 0) await this.#reverse();
  }

  async #topUp(): Promise<readonly [partner: number, Transaction]> {
    const partner = this.#choices.below(PARTNERS.length);
    const bouquet = this.#choices.below(PRICES.length);
    const txnDigits = randomDigits(this.#random(10));
    // Listed before: not all of the five minutes are left, and the day may have been another.
    const listed = await this.#list(partner, this.#time.now - this.#choices.below(300_000));
    const bought = { bouquetCode: `B-${bouquet}`, amount: PRICES[bouquet] as bigint };
    const told = { udf1: `order ${txnDigits}`, udf2: undefined };
    const command = { ...listed, ...told, ...bought, txnDigits, tokenId: undefined };
    const outcome = await insist(() => this.#store.settleTopUp(command));
    if (outcome.kind === "refused") throw new Error(`a top-up was refused: ${outcome.refusal}`);
    return [partner, outcome.transaction];
  }

  /** The checkout of a partner for any connection. */
  async #list(partner: number, issuedAt: number) {
    const [customer, service] = [this.#choices.below(CUSTOMERS), this.#choices.of(SERVICES)];
    const holder = { partnerId: this.#partners[partner]?.id as number, environment: "production" } as const;
    const reqId = `${CONNECTIONS[service]}${customer}`;
    const connection = { environment: "production", cuid: `c${customer}`, service, reqId } as const;
    const secrets = await this.#store.checkoutSecrets();
    const revision = (await this.#store.currentCatalogue("production", this.#time.now))?.revision as number;
    const quoted = { revision, issuedAt, nonce: this.#random(16) };
    const checkoutId = issueCheckout(secrets[0] as (typeof secrets)[0], holder, connection, quoted);
    const checkout = openCheckout(secrets, holder, checkoutId);
    if (checkout === undefined) throw new Error("the checkoutId does not open");
    return { ...connection, ...holder, checkoutId, checkout };
  }

  /** Some list and do not buy, and are told that nothing will follow. */
  async leave(): Promise<void> {
    for (let left = 0; left < LEFT; left += 1) {
      const { checkoutId } = await this.#list(0, this.#time.now - EXPIRED_MS);
      const concluded = await insist(() => this.#store.concludeCheckout(checkoutId));
      if (concluded !== undefined) throw new Error(`${checkoutId} was not used: ${JSON.stringify(concluded)}`);
      this.told.never.add(checkoutId);
    }
  }

  /** Takes back any of those that wait for it: now, which may be days after it was recorded. */
  async #reverse(): Promise<void> {
    const [chosen] = this.#waiting.splice(this.#choices.below(this.#waiting.length), 1);
    if (chosen === undefined) return;
    const [partner, transaction] = chosen;
    const desk = deskOf({ store: this.#store, clock: () => this.#time.now }, ACTOR);
    const input = { id: transaction.checkoutId, reason: "the customer chose another" };
    await insist(() => perform(reverseTransaction, desk, input)).catch((error: unknown) => {
      // An attempt before may have reversed it, though its answer was lost.
      if (!(error instanceof Refused && error.code === "conflict")) throw error;
    });
    this.reversals += 1;
    this.#books[partner]?.enterReversed(transaction, this.#time.now);
    this.told.reversed.add(transaction.txnId);
  }

  /** Reconciles the book of each partner, each with another match column. */
  async verifyReconciliation(): Promise<void> {
    for (const [index, book] of this.#books.entries()) {
      const { key, expected } = book;
      const partnerId = this.#partners[index]?.id as number;
      const request = { environment: "production", partnerId, ...this.#period, key } as const;
      const { differences, total } = await reconcile({ store: this.#store }, request, book.rows());
      const found = differences.map(({ verdict, theirs, ours }) => `${verdict} ${theirs?.key ?? ours?.key}`);
      agree("the reconciliation", found, expected.answers);
      agree("both books", [Object.entries(total).join()], [Object.entries(expected.total).join()]);
    }
  }
}

/** A second implementation, so that the service's money is not compared with itself. */
function decimal(minor: bigint, exponent: number): string {
  const digits = String(minor).padStart(exponent + 1, "0");
  return exponent === 0 ? digits : `${digits.slice(0, -exponent)}.${digits.slice(-exponent)}`;
}

/** Repeats a call, since a busy machine may let a transaction wait too long. A repeated call is not done twice. */
async function insist<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let left = MOST_ATTEMPTS; ; left -= 1) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof StoreUnavailable) || left === 0) throw error;
    }
  }
}

/** @throws Error unless both lists hold the same lines, in any order. */
export function agree(what: string, real: readonly string[], expected: readonly string[]): void {
  const [a, b] = [real.toSorted(), expected.toSorted()];
  if (a.length === b.length && a.every((line, index) => line === b[index])) return;
  const [surplus, missing] = [a.find((line) => !b.includes(line)), b.find((line) => !a.includes(line))];
  throw new Error(`${what}: topupd says ${surplus}, and not ${missing} (${a.length} lines, and not ${b.length})`);
}
