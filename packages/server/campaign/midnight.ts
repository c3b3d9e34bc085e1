import type { Partner } from "../src/domain/access-token.ts";
import { DEFAULT_BASE_PLANS } from "../src/domain/catalogue.ts";
import { issueCheckout, openCheckout } from "../src/domain/checkout.ts";
import { randomDigits } from "../src/domain/transaction.ts";
import { DAY_MS } from "../src/domain/wall-time.ts";
import { changeAccount, enterIntoAccount } from "../src/office/accounts/operations.ts";
import { exportStatement, showStatement } from "../src/office/accounts/statement.ts";
import { reverseTransaction } from "../src/office/corrections/reversal.ts";
import { perform } from "../src/office/operation.ts";
import { limitPartner } from "../src/office/partners/operations.ts";
import { reportSettlement } from "../src/office/settlement/operations.ts";
import type { Store } from "../src/store/store.ts";
import { importRows, publishRows } from "../test/support/catalogue.ts";
import { partnersOf } from "../test/support/partners.ts";
import { deskOf } from "../test/support/plain-desk.ts";
import { seededRandom } from "../test/support/random.ts";
import { expectBook, Told } from "./book.ts";
import { agree, type MonthOptions } from "./month.ts";
import { Choices } from "./random.ts";

export interface MidnightOptions extends MonthOptions {
  /** Called after the first story: damages the database as a wrong rule would. */
  readonly plant?: (() => Promise<unknown>) | undefined;
}

const HOUR = 3_600_000;
/** A minute before midnight in Kathmandu. */
const START = Date.parse("2026-11-20T18:14:00Z");
/** The clock goes on, back or ahead. */
const STEPS = [1_000, 1_000, 60_000, -60_000, -49 * HOUR, DAY_MS, 2 * DAY_MS, 3 * DAY_MS, 5 * DAY_MS, -5 * DAY_MS];
const STEPS_A_STORY = 15;
const CUSTOMERS = 6;
const DAY_LIMIT = 9;
const AMOUNT = 113_000n;
const ACTOR = { name: "campaign" };
/** What each account has: nothing that is stored, a stored balance, and a limit a day. */
const PARTNERS = ["free", "prepaid", "limited"] as const;
const ENVIRONMENT = "production";

/**
 * Sets the clock back and ahead across midnight while partners top up, staff reverse and deposit, and the service restarts.
 * After each story, balance, entries, statement and settlement must agree, no day may have more top-ups than its limit, and
 * the check must find nothing wrong.
 * @throws Error that says what differs.
 */
export async function midnight({ seed, rounds, openStore, plant, ...ground }: MidnightOptions): Promise<string> {
  const time = { now: START };
  const random = seededRandom(seed);
  const options = { timeZone: "Asia/Kathmandu", currencyExponent: 2, basePlans: DEFAULT_BASE_PLANS };
  const open = () => openStore({ ...options, clock: () => time.now, random });
  const campaign = new Midnight(await open(), time, new Choices(seed), random);
  try {
    await campaign.fill();
    for (let round = 0; round < rounds; round += 1) {
      await campaign.play();
      await expectBook(ground, campaign.told);
      await campaign.verify();
      if (round === 0) await plant?.();
      await campaign.store.close();
      campaign.store = await open();
    }
    const { topUps, refused, reversals } = campaign;
    return `${rounds} stories, ${topUps} top-ups, ${reversals} reversals, ${refused} refused by the limit: all books agree`;
  } finally {
    await campaign.store.close();
  }
}

class Midnight {
  store: Store;
  topUps = 0;
  refused = 0;
  reversals = 0;
  readonly told = new Told();
  readonly #time: { now: number };
  readonly #choices: Choices;
  readonly #random: (bytes: number) => Uint8Array;
  readonly #partners: Partner[] = [];
  readonly #reversible: string[] = [];
  readonly #days = new Set<string>();
  #entries = 0;

  constructor(store: Store, time: { now: number }, choices: Choices, random: (bytes: number) => Uint8Array) {
    [this.store, this.#time, this.#choices, this.#random] = [store, time, choices, random];
  }

  get #desk() {
    return deskOf({ store: this.store, clock: () => this.#time.now, random: this.#random }, ACTOR);
  }

  async fill(): Promise<void> {
    const ports = { store: this.store, clock: () => this.#time.now, random: this.#random };
    const bouquet = { service: "internet", code: "B", name: "Plan (DAILY)", price: 1_130 };
    await publishRows(this.store, [bouquet], this.#time.now, ENVIRONMENT);
    const customers = Array.from({ length: CUSTOMERS }, (_, index) => ({
      ...{ cuid: `c${index}`, first_name: "First", last_name: "Last", status: "active" },
      connections: { internet: [{ username: `u${index}`, status: "active" }] },
    }));
    await importRows(ports, customers, { environment: ENVIRONMENT });
    const by = { author: ACTOR.name, authority: undefined, at: this.#time.now };
    for (const name of PARTNERS) {
      const partner = (await partnersOf(this.store).add(name, by)) as Partner;
      this.#partners.push(partner);
      const token = { id: name, partner, environment: ENVIRONMENT, createdAt: 0 } as const;
      const ends = { expiresAt: undefined, revokedAt: undefined, replacedBy: undefined };
      await partnersOf(this.store).addToken({ ...token, ...ends }, Buffer.from(name.padEnd(32)), by);
    }
    await perform(changeAccount, this.#desk, { name: "prepaid", creditLimit: "900000" });
    await perform(limitPartner, this.#desk, { name: "limited", dayTopUps: String(DAY_LIMIT) });
  }

  async play(): Promise<void> {
    for (let step = 0; step < STEPS_A_STORY; step += 1) {
      this.#time.now = Math.max(START - 60 * DAY_MS, this.#time.now + this.#choices.of(STEPS));
      this.#days.add(this.store.provider.zone.wallTime(this.#time.now).slice(0, 10));
      for (const partner of this.#partners) {
        const count = this.#choices.below(CUSTOMERS + 1);
        await Promise.all(Array.from({ length: count }, (_, nth) => this.#topUp(partner, nth)));
      }
      if (this.#choices.below(2) === 0) await this.#reverse();
      if (this.#choices.below(3) === 0) await this.#deposit();
    }
  }

  async #topUp({ id: partnerId, name: tokenId }: Partner, nth: number): Promise<void> {
    const connection = { environment: ENVIRONMENT, cuid: `c${nth}`, service: "internet", reqId: `u${nth}` } as const;
    const holder = { partnerId, environment: ENVIRONMENT } as const;
    const secrets = await this.store.checkoutSecrets();
    const quoted = { revision: 1, issuedAt: this.#time.now, nonce: this.#random(16) };
    const checkoutId = issueCheckout(secrets[0] as (typeof secrets)[0], holder, connection, quoted);
    const checkout = openCheckout(secrets, holder, checkoutId);
    if (checkout === undefined) throw new Error("the checkoutId does not open");
    const txnDigits = randomDigits(this.#random(10));
    const free = { udf1: undefined, udf2: undefined, bouquetCode: "B", amount: AMOUNT };
    const command = { ...connection, ...holder, ...free, checkoutId, checkout, txnDigits, tokenId };
    const outcome = await this.store.settleTopUp(command);
    if (outcome.kind === "recorded") this.#reversible.push(outcome.transaction.txnId);
    else if (outcome.kind === "replayed" || outcome.refusal !== "limit_reached")
      throw new Error(`a top-up of ${tokenId}: ${"refusal" in outcome ? outcome.refusal : outcome.kind}`);
    if (outcome.kind === "recorded") {
      this.topUps += 1;
      this.told.note(outcome.transaction);
    } else {
      this.refused += 1;
      this.told.refused.add(checkoutId);
    }
  }

  async #reverse(): Promise<void> {
    const [id] = this.#reversible.splice(this.#choices.below(this.#reversible.length), 1);
    if (id === undefined) return;
    await perform(reverseTransaction, this.#desk, { id, reason: "the customer chose another" });
    this.told.reversed.add(id);
    this.reversals += 1;
  }

  async #deposit(): Promise<void> {
    this.#entries += 1;
    const reference = `D${this.#entries}`;
    await perform(enterIntoAccount, this.#desk, {
      name: this.#choices.of(PARTNERS),
      ...{ kind: "deposit", amount: "50000", reference, reason: "cash" },
    });
  }

  async verify(): Promise<void> {
    const months = [...new Set([...this.#days].map((day) => day.slice(0, 7)))].sort();
    for (const { name } of this.#partners) {
      let closing = "0.00";
      for (const month of months) {
        const statement = await perform(showStatement, this.#desk, { name, month });
        agree(`the opening of ${month} of ${name}`, [statement.opening], [closing]);
        closing = statement.closing;
        let last = statement.opening;
        for await (const rows of await perform(exportStatement, this.#desk, { name, month }))
          last = rows.at(-1)?.balance ?? last;
        agree(`the entries of ${month} of ${name}`, [last], [closing]);
        const days = { from: `${month}-01`, to: lastOf(month) };
        const settlement = await perform(reportSettlement, this.#desk, {
          ...days,
          partner: name,
          environment: ENVIRONMENT,
        });
        const { topUps, gross, reversals, reversed } = settlement.total;
        const [sold, , returned] = statement.lines;
        const stated = [sold?.count, sold?.amount.replace("-", ""), returned?.count, returned?.amount];
        agree(`the settlement of ${month} of ${name}`, [[topUps, gross, reversals, reversed].join()], [stated.join()]);
        if (name === "limited")
          for (const line of settlement.lines)
            if (line.topUps > DAY_LIMIT)
              throw new Error(`${line.topUps} top-ups on ${line.day}, and the limit is ${DAY_LIMIT}`);
      }
    }
  }
}

function lastOf(month: string): string {
  const [year = 0, number = 0] = month.split("-").map(Number);
  return new Date(Date.UTC(year, number, 0)).toISOString().slice(0, 10);
}
