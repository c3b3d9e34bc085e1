import fc from "fast-check";
import { type OpenOptions, openTestService, type TestService } from "../test/support/open-service.ts";
import { plus } from "./book.ts";

export interface ModelOptions {
  readonly seed: number;
  /** Number of random stories. */
  readonly rounds: number;
  /** Gives each story a store of its own, which can be opened again and again. */
  readonly makeStore: () => StoreOpening;
}

/** How the service of a story opens its store. */
type StoreOpening = Pick<OpenOptions, "path" | "openStore">;

const CONNECTIONS = 3;
const BOUQUETS = [
  { code: "A-1M", name: "Plan A (MONTHLY)", months: 1 },
  { code: "A-6M", name: "Plan A (HALF YEARLY)", months: 6 },
  { code: "B-1M", name: "Plan B (MONTHLY)", months: 1 },
] as const;
const VALID_MS = 300_000;
const FINAL_MS = 360_000;
const SETTLED_MS = 60_001;

const index = (below: number) => fc.nat({ max: below - 1 });
const usually = (usual: number, other: fc.Arbitrary<number>) =>
  fc.oneof({ weight: 8, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: other });

const list = fc.record({ kind: fc.constant("list" as const), connection: index(CONNECTIONS) });
const topUp = fc.record({
  kind: fc.constant("topUp" as const),
  /** Which of the checkouts issued so far, counted from the last one. */
  checkout: usually(0, index(4)),
  bouquet: index(BOUQUETS.length),
  amountOff: usually(0, fc.constantFrom(-1, 1)),
  connectionOff: usually(0, fc.constant(1)),
  times: usually(1, fc.constant(4)),
});
const query = fc.record({ kind: fc.constant("query" as const), checkout: index(4) });
const wait = fc.record({
  kind: fc.constant("wait" as const),
  ms: fc.constantFrom(1, 1_000, 60_000, 299_999, 300_000, 300_001, 360_001, 86_400_000, 40 * 86_400_000),
});
const reprice = fc.record({ kind: fc.constant("reprice" as const), price: fc.integer({ min: 100, max: 999 }) });
const block = fc.record({
  kind: fc.constant("block" as const),
  connection: index(CONNECTIONS),
  blocked: fc.boolean(),
});
const restart = fc.record({ kind: fc.constant("restart" as const) });

const step = fc.oneof(
  { weight: 5, arbitrary: list },
  { weight: 9, arbitrary: topUp },
  { weight: 4, arbitrary: query },
  { weight: 4, arbitrary: wait },
  { weight: 1, arbitrary: reprice },
  { weight: 1, arbitrary: block },
  { weight: 1, arbitrary: restart },
);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

/**
 * Tells random stories to the whole service and to a model of it of a hundred lines, which must agree
 * on every code, every result and every subscription.
 * @throws Error with the shortest story for which they differ.
 */
export async function model({ seed, rounds, makeStore }: ModelOptions): Promise<string> {
  const property = fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 60, size: "max" }), async (steps) => {
    const world = await World.make(makeStore());
    try {
      for (const one of steps) await world.take(one);
      await world.verify();
    } finally {
      await world.service.close();
    }
  });
  await fc.assert(property, { seed, numRuns: rounds });
  return `${rounds} stories: the service and its model agree`;
}

interface ModelCheckout {
  readonly id: string;
  readonly connection: number;
  readonly issuedAt: number;
  readonly price: number;
  used?: { readonly bouquet: number; readonly price: number; readonly result: object };
}

interface ModelRun {
  bouquet: number;
  readonly start: string;
  months: number;
}

/** The service, and what the model believes of it. */
class World {
  service: TestService;
  readonly #opening: StoreOpening;
  #price = 500;
  #restarts = 0;
  readonly #checkouts: ModelCheckout[] = [];
  readonly #blocked = Array.from({ length: CONNECTIONS }, () => false);
  /** Subscriptions by connection and plan. */
  readonly #runs = new Map<string, ModelRun>();

  static async make(opening: StoreOpening): Promise<World> {
    const world = new World(opening, await openTestService({ ...opening, bare: true }));
    await world.#publish();
    for (let connection = 0; connection < CONNECTIONS; connection += 1) await world.#import(connection);
    return world;
  }

  private constructor(opening: StoreOpening, service: TestService) {
    this.#opening = opening;
    this.service = service;
  }

  async take(one: Step): Promise<void> {
    switch (one.kind) {
      case "list":
        return this.#list(one.connection);
      case "topUp":
        return this.#topUp(one);
      case "query":
        return this.#query(one.checkout);
      case "wait":
        this.service.now += one.ms;
        return;
      case "reprice":
        this.#price = one.price;
        return this.#publish();
      case "block":
        this.#blocked[one.connection] = one.blocked;
        return this.#import(one.connection);
      case "restart":
        return this.#restart();
    }
  }

  /** Checks the whole database at the end. */
  async verify(): Promise<void> {
    for (let connection = 0; connection < CONNECTIONS; connection += 1) await this.#list(connection);
    for await (const event of this.service.store.check()) agree("check", event.kind, "checked");
  }

  async #list(connection: number): Promise<void> {
    const { status, json } = await this.#call("get-subscription-package", at(connection));
    if (this.#blocked[connection] === true) return agree("list", [status, json.code], [422, "400aa105"]);
    const running = [...this.#runs]
      .filter(([key, run]) => key.startsWith(`${connection} `) && this.#isRunning(run))
      .map(([, run]) => run)
      .map((run) => ({ ...label(run.bouquet), startdate: run.start, enddate: plus(run.start, run.months, 0) }));
    const byName = (a: { name: string }, b: { name: string }) => a.name.localeCompare(b.name);
    agree("subscriptions", json.body.internet.subscriptions.toSorted(byName), running.toSorted(byName));
    const offered = BOUQUETS.flatMap((_, bouquet) =>
      this.#isSold(connection, bouquet) ? [{ ...label(bouquet), price: this.#price }] : [],
    );
    agree("bouquets", json.body.internet.bouquets, offered);
    this.#checkouts.unshift({ id: json.body.checkoutId, connection, issuedAt: this.service.now, price: this.#price });
  }

  async #topUp(asked: Extract<Step, { kind: "topUp" }>): Promise<void> {
    const { checkout: which, bouquet, amountOff, connectionOff, times } = asked;
    const checkout = this.#checkouts[which];
    if (checkout === undefined) return;
    const connection = (checkout.connection + connectionOff) % CONNECTIONS;
    const price = checkout.price + amountOff;
    const request = { ...at(connection), checkoutId: checkout.id, bouquetId: label(bouquet).code, amt: price };
    const expected = this.#expectTopUp(checkout, connection, bouquet, price);
    const calls = Array.from({ length: times }, () => this.#call("subscription-package-topup", request));
    for (const { json } of await Promise.all(calls)) {
      agree("top-up", json.code, expected);
      if (json.code !== "400ab001") continue;
      checkout.used ??= { bouquet, price, result: json.body.result };
      agree("result", json.body.result, checkout.used.result);
      agree("result", [json.body.result.reqId, json.body.result.amt], [`u${connection}`, price]);
    }
  }

  /** The expected code. If it is a new top-up, the model records it too. */
  #expectTopUp(checkout: ModelCheckout, connection: number, bouquet: number, price: number): string {
    const { used } = checkout;
    if (used !== undefined) {
      const same = connection === checkout.connection && bouquet === used.bouquet && price === used.price;
      return same ? "400ab001" : "400ab103";
    }
    if (this.service.now - checkout.issuedAt > VALID_MS) return "400ab102";
    if (connection !== checkout.connection) return "400ab104";
    if (this.#blocked[connection] === true) return "400aa105";
    if (!this.#isSold(connection, bouquet)) return "400ab105";
    if (price !== checkout.price) return "400ab106";
    const { months } = BOUQUETS[bouquet] as (typeof BOUQUETS)[number];
    const key = `${connection} ${planOf(bouquet)}`;
    const run = this.#runs.get(key);
    if (run !== undefined && this.#isRunning(run)) Object.assign(run, { bouquet, months: run.months + months });
    else this.#runs.set(key, { bouquet, start: stamp(this.service.now), months });
    return "400ab001";
  }

  /** An internet connection has one base plan at a time. */
  #isSold(connection: number, bouquet: number): boolean {
    const running = [...this.#runs].filter(([key, run]) => key.startsWith(`${connection} `) && this.#isRunning(run));
    return running.length === 0 || running.some(([key]) => key === `${connection} ${planOf(bouquet)}`);
  }

  #isRunning({ start, months }: ModelRun): boolean {
    return plus(start, months, 0) > stamp(this.service.now);
  }

  async #query(which: number): Promise<void> {
    const checkout = this.#checkouts[which];
    if (checkout === undefined) return;
    const { json } = await this.#call("txn-status", { checkoutId: checkout.id });
    if (checkout.used !== undefined) return agree("query", json.body.result, checkout.used.result);
    agree("query", json.code, this.service.now - checkout.issuedAt > FINAL_MS ? "400ab108" : "400ab107");
  }

  async #publish(): Promise<void> {
    const rows = BOUQUETS.map(({ code, name }) => ({ service: "internet", code, name, price: this.#price }));
    await this.service.importCatalogue(rows);
  }

  /** Records say up to when they hold what was topped up: a minute ago at the latest. */
  async #import(connection: number): Promise<void> {
    this.service.now += SETTLED_MS;
    const status = this.#blocked[connection] === true ? "blocked" : "active";
    const connections = { internet: [{ username: `u${connection}`, status }] };
    const name = { first_name: "First", last_name: "Last" };
    await this.service.importCustomers([{ cuid: `c${connection}`, ...name, status: "active", connections }], {
      asOf: new Date(this.service.now - SETTLED_MS + 1).toISOString(),
    });
  }

  async #restart(): Promise<void> {
    const { now } = this.service;
    this.#restarts += 1;
    await this.service.close();
    this.service = await openTestService({ ...this.#opening, now, bare: true, seed: this.#restarts + 1 });
  }

  #call(operation: Parameters<TestService["call"]>[0], body: object) {
    return this.service.call(operation, body, { token: this.service.liveToken });
  }
}

function at(connection: number) {
  return { cuid: `c${connection}`, service: "internet", reqId: `u${connection}` };
}

function label(bouquet: number): { code: string; name: string } {
  const { code, name } = BOUQUETS[bouquet] as (typeof BOUQUETS)[number];
  return { code, name };
}

function planOf(bouquet: number): string {
  return label(bouquet).name.slice(0, 6);
}

function stamp(now: number): string {
  return new Date(now).toISOString().slice(0, 19).replace("T", " ");
}

function agree(what: string, real: unknown, modelled: unknown): void {
  const [a, b] = [JSON.stringify(real), JSON.stringify(modelled)];
  if (a !== b) throw new Error(`${what}: the service says ${a}, the model ${b}`);
}
