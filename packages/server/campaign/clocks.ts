import { join } from "node:path";
import { DatabaseSync } from "@photostructure/sqlite";
import pg from "pg";
import type { Transaction } from "../src/domain/transaction.ts";
import { readDay } from "../src/domain/wall-time.ts";
import { addPartner } from "../src/office/partners/operations.ts";
import { readWithReversals } from "../src/office/transactions/lists.ts";
import { listPackages } from "../src/partner/customers.ts";
import type { Caller, Ports } from "../src/partner/ports.ts";
import { queryTransaction, type TopUpRequest, topUp } from "../src/partner/top-ups.ts";
import { StoreUnavailable } from "../src/store/errors.ts";
import { openPostgresStore } from "../src/store/postgres/open.ts";
import { openSqliteStore } from "../src/store/sqlite/open.ts";
import { serveSettling } from "../src/store/sqlite/settler-server.ts";
import type { Store } from "../src/store/store.ts";
import { importRows, publishRows } from "../test/support/catalogue.ts";
import { deskOf, run } from "../test/support/desk.ts";
import { seededRandom } from "../test/support/random.ts";
import { expectBook, Told } from "./book.ts";
import { agree } from "./month.ts";
import type { Ground } from "./processes.ts";
import { Choices } from "./random.ts";

export interface ClocksOptions extends Ground {
  readonly seed: number;
  /** How often the clock is set. */
  readonly rounds: number;
}

const START = Date.parse("2026-11-20T09:00:00Z");
const DAY_MS = 86_400_000;
const SPAN_DAYS = 40;
/** The clock is set by at most this many milliseconds. */
const STEPS = [20 * 60_000, 2 * DAY_MS, SPAN_DAYS * DAY_MS] as const;
/** A checkout of this age, unused, has no top-up and gets none. */
const NEVER_AFTER_MS = 361_000;
/** Customers who are topped up in a round. */
const CUSTOMERS = 8;
const BOUQUETS = 5;
const ROWS_AT_ONCE = 500;
const ENVIRONMENT = "production";
const ACTOR = { name: "campaign" };
const BASE_PLANS = { tv: "many", internet: "many", iptv: "many" } as const;

/**
 * Sets the clock back and forth while a database holds up what is to be recorded, and looks for every top-up in the
 * settlements and the lists of all days.
 * @throws Error that names a lost top-up, or a settlement in which one is missing or too many.
 */
export async function clocks({ seed, rounds, ...ground }: ClocksOptions): Promise<string> {
  const clock = new SetClock();
  const opened = await (ground.database === undefined
    ? openSqlite(join(ground.cwd, "clocks.db"), clock, seed)
    : openPostgres(ground.database, clock, seed));
  try {
    const campaign = new Clocks(opened, clock, new Choices(seed), seededRandom(seed));
    await campaign.fill();
    for (let round = 0; round < rounds; round += 1) {
      await campaign.playRound();
      await campaign.expectNever();
    }
    const database = ground.database ?? `sqlite:${join(ground.cwd, "clocks.db")}`;
    await expectBook({ ...ground, database }, campaign.told);
    const count = await campaign.verify();
    const { back, forth } = clock;
    return `${rounds} held flushes, the clock set back ${back} times and forth ${forth} times: each of ${count} top-ups is in one settlement, and none came after never_topped_up`;
  } finally {
    await opened.close();
  }
}

/** A clock that stands still until it is set. */
class SetClock {
  now = START;
  back = 0;
  forth = 0;
  #pending: { readonly to: number; looks: number } | undefined;

  readonly read = (): number => {
    if (this.#pending !== undefined && this.#pending.looks-- === 0) this.settle();
    return this.now;
  };

  /** @param looks how often it is still read before. */
  setAfter(looks: number, to: number): void {
    this.#pending = { to, looks };
  }

  /** Sets it now at the latest. */
  settle(): void {
    if (this.#pending === undefined) return;
    if (this.#pending.to < this.now) this.back += 1;
    else this.forth += 1;
    this.now = this.#pending.to;
    this.#pending = undefined;
  }
}

interface Opened {
  readonly store: Store;
  /** Holds up all that is to be recorded. @returns what waits until something is held up, and what ends it. */
  readonly hold: () => Promise<{ readonly held: () => Promise<unknown>; readonly release: () => Promise<void> }>;
  readonly close: () => Promise<void>;
}

/** A settler records what workers ask for, as in a service. */
async function openSqlite(path: string, clock: SetClock, seed: number): Promise<Opened> {
  const options = { path, ...wishes(clock, seed) };
  const made = await openSqliteStore(options);
  await made.close();
  let onBatch = () => {};
  const socketPath = `${path}.settler`;
  const { zone, currencyExponent, defaultCountry } = made.provider;
  const settler = await serveSettling({
    data: { path, socketPath, timeZone: zone.name, currencyExponent, defaultCountry, basePlans: BASE_PLANS },
    clock: clock.read,
    observeBatch: () => {
      onBatch();
      return () => {};
    },
    observeCheckpoints: () => {},
  });
  const store = await openSqliteStore({ ...options, settlerSocket: socketPath });
  const other = new DatabaseSync(path);
  return {
    store,
    async hold() {
      const begun = new Promise<void>((resolve) => {
        onBatch = resolve;
      });
      other.exec("BEGIN IMMEDIATE");
      return { held: () => begun, release: async () => other.exec("ROLLBACK") };
    },
    async close() {
      other.close();
      await store.close();
      await settler.close();
    },
  };
}

/** Held up either before the decision or after it. */
const HELD_TABLES = ["customer", "top_up"] as const;
const WAITING = "SELECT FROM pg_locks JOIN pg_database AS d ON d.oid = database WHERE NOT granted AND datname = $1";

async function openPostgres(url: string, clock: SetClock, seed: number): Promise<Opened> {
  const store = await openPostgresStore({ url, connections: 4, ...wishes(clock, seed) });
  const other = new pg.Client({ connectionString: url });
  await other.connect();
  const choices = new Choices(seed);
  const name = new URL(url).pathname.slice(1);
  return {
    store,
    async hold() {
      await other.query(`BEGIN; LOCK TABLE ${choices.of(HELD_TABLES)} IN EXCLUSIVE MODE`);
      const held = async () => {
        while ((await other.query(WAITING, [name])).rowCount === 0)
          await new Promise((resolve) => setTimeout(resolve, 1));
      };
      return { held, release: async () => void (await other.query("ROLLBACK")) };
    },
    async close() {
      await other.end();
      await store.close();
    },
  };
}

function wishes(clock: SetClock, seed: number) {
  const random = seededRandom(seed + 1);
  return { clock: clock.read, random, timeZone: "Asia/Kathmandu", currencyExponent: 2, basePlans: BASE_PLANS };
}

class Clocks {
  readonly #opened: Opened;
  readonly #clock: SetClock;
  readonly #choices: Choices;
  readonly #ports: Ports;
  #caller: Caller | undefined;
  readonly told = new Told();
  /** The checkoutIds of all top-ups that were asked for. */
  readonly #asked: string[] = [];

  constructor(opened: Opened, clock: SetClock, choices: Choices, random: (bytes: number) => Uint8Array) {
    [this.#opened, this.#clock, this.#choices] = [opened, clock, choices];
    this.#ports = { store: opened.store, clock: clock.read, random };
  }

  async fill(): Promise<void> {
    const bouquets = Array.from({ length: BOUQUETS }, (_, index) => {
      return { service: "internet", code: `B-${index}`, name: `Plan ${index} (MONTHLY)`, price: 100 + index };
    });
    const customers = Array.from({ length: CUSTOMERS }, (_, index) => ({
      ...{ cuid: `c${index}`, first_name: "First", last_name: "Last", status: "active" },
      connections: { internet: [{ username: `u${index}`, status: "active" }] },
    }));
    const [ports, environment] = [this.#ports, ENVIRONMENT] as const;
    await publishRows(ports.store, bouquets, ports.clock(), environment);
    await importRows(ports, customers, { environment });
    const { id } = await run(deskOf(ports, ACTOR), addPartner, { name: "wallet" });
    this.#caller = { partnerId: id, partnerName: "wallet", environment, tokenId: undefined };
  }

  /** Holds up one top-up, so that others wait behind it, and sets the clock meanwhile. */
  async playRound(): Promise<void> {
    const requests = await Promise.all(Array.from({ length: CUSTOMERS }, (_, index) => this.#quote(index)));
    const { held, release } = await this.#opened.hold();
    const first = this.#topUp(requests[0] as TopUpRequest);
    await held();
    const others = requests.slice(1).map((request) => this.#topUp(request));
    // All have been asked for.
    await new Promise((resolve) => setImmediate(resolve));
    this.#clock.setAfter(this.#choices.below(4), this.#anotherTime());
    if (this.#choices.below(2) === 0) this.#clock.settle();
    await release();
    await Promise.all([first, ...others]);
    this.#clock.settle();
  }

  /** Nothing is recorded after never_topped_up, even if the clock is set back to a time at which the checkoutId was good. */
  async expectNever(): Promise<void> {
    const [request, before] = [await this.#quote(this.#choices.below(CUSTOMERS)), this.#clock.now];
    const caller = this.#caller as Caller;
    this.#clock.now += NEVER_AFTER_MS;
    const asked = await queryTransaction(this.#ports, caller, request);
    if (asked.ok || asked.refusal !== "never_topped_up") throw new Error(`asked too late: ${JSON.stringify(asked)}`);
    this.#clock.now = before;
    const answer = await topUp(this.#ports, caller, request);
    if (answer.ok) throw new Error(`${request.checkoutId} was topped up after never_topped_up`);
  }

  #anotherTime(): number {
    const by = this.#choices.below(this.#choices.of(STEPS)) + 1;
    const to = this.#clock.now + (this.#choices.below(2) === 0 ? by : -by);
    return Math.min(Math.max(to, START), START + SPAN_DAYS * DAY_MS);
  }

  async #quote(index: number): Promise<TopUpRequest> {
    const connection = { cuid: `c${index}`, service: "internet", reqId: `u${index}` } as const;
    const listed = await listPackages(this.#ports, this.#caller as Caller, connection, 0);
    if (!listed.ok) throw new Error(listed.refusal);
    const { checkoutId, bouquets } = listed.value;
    const { code: bouquetCode, price: amount } = this.#choices.of(bouquets);
    return { ...connection, checkoutId, bouquetCode, amount };
  }

  async #topUp(request: TopUpRequest): Promise<void> {
    const answer = await topUp(this.#ports, this.#caller as Caller, request).catch((error: unknown) => {
      // The end of the round shows whether it was recorded.
      if (error instanceof StoreUnavailable) return undefined;
      throw error;
    });
    if (answer?.ok === false && answer.refusal !== "checkout_expired") throw new Error(answer.refusal);
    this.#asked.push(request.checkoutId);
    if (answer?.ok === true) this.told.note(answer.value.transaction);
  }

  /** @returns how many were recorded. */
  async verify(): Promise<number> {
    const { store } = this.#ports;
    const recorded: Transaction[] = [];
    for (const checkoutId of this.#asked) {
      const found = await store.findTransaction(checkoutId);
      if (found !== undefined) recorded.push(found);
    }
    const days = Array.from({ length: SPAN_DAYS + 2 }, (_, index) => dayOf(START + index * DAY_MS));
    for (const day of days)
      await this.#verifyDay(
        day,
        recorded.filter(({ txnDate }) => txnDate.startsWith(day)),
      );
    return recorded.length;
  }

  async #verifyDay(day: string, recorded: readonly Transaction[]): Promise<void> {
    const { store } = this.#ports;
    const bounds = readDay(day, store.provider.zone);
    const filter = { environment: ENVIRONMENT, from: bounds?.start, until: bounds?.end } as const;
    const listed: string[] = [];
    for await (const page of readWithReversals(store.engine, filter, ROWS_AT_ONCE))
      listed.push(...page.map(({ transaction }) => transaction.txnId));
    agree(
      `the list of ${day}`,
      listed,
      recorded.map(({ txnId }) => txnId),
    );
  }
}

/** The day of an instant in the provider's zone. */
function dayOf(at: number): string {
  return new Intl.DateTimeFormat("en-CA", { timeZone: "Asia/Kathmandu" }).format(at);
}
