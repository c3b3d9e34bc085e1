import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { topUpOrder } from "../../client/examples/top-up.mjs";
import type { Clock } from "../../client/src/clock.ts";
import {
  type Client,
  createClient,
  type Purchase,
  type TopUpOptions,
  type TopUpOutcome,
} from "../../client/src/index.ts";
import { by } from "../test/support/by.ts";
import { openTestService, PREFIX, type TestService } from "../test/support/open-service.ts";
import { partnersOf, UNLIMITED } from "../test/support/partners.ts";
import { expectBook, Told } from "./book.ts";
import { startLossyProxy } from "./lossy-proxy.ts";
import { BOUQUETS, CUSTOMERS, connectionOf, customerRow } from "./partner.ts";
import { Choices } from "./random.ts";

export interface LossyOptions {
  readonly seed: number;
  readonly rounds: number;
  readonly cwd: string;
}

/** Milliseconds of the campaign's clock in each millisecond of a machine that is not busy. */
const SPEED = 200;
const TIMEOUT_MS = 60_000;
const PARTNERS = 40;
/** Three in ten of these is not as it should be. */
const KINDS = [...Array<"good">(7).fill("good"), "wrong amount", "unknown bouquet", "expired"] as const;
const VALID_MS = 300_000;
/** Consecutive answers of `undecided` after which something is stuck. */
const MOST_LIVES = 30;
/** Lost look-ups and listings after which something is stuck. */
const MOST_TRIES = 1_000;

interface Settled {
  readonly purchase: Purchase;
  readonly outcome: TopUpOutcome;
}

/**
 * Tops up through a network that loses, delays, doubles and cuts requests, with partners that stop and resume at any
 * moment. Every top-up must get an outcome that matches the database, also after all delayed requests have arrived.
 * @throws Error that names the round with a violation.
 */
export async function lossy({ seed, rounds, cwd }: LossyOptions): Promise<string> {
  const choices = new Choices(seed);
  const service = await openTestService({ path: join(cwd, "lossy.db"), bare: true });
  const clock = fastClock(service);
  const counts = new Map<string, number>();
  const count = (what: string) => counts.set(what, (counts.get(what) ?? 0) + 1);
  try {
    await partnersOf(service.store).setLimits("wallet", UNLIMITED, by(service.now));
    await service.importCatalogue(BOUQUETS);
    await service.importCustomers(Array.from({ length: CUSTOMERS }, (_, index) => customerRow(index)));
    await service.app.listen({ port: 0, host: "127.0.0.1" });
    const { port } = service.app.server.address() as { port: number };
    const proxy = await startLossyProxy(port, new Choices(choices.seed()), (ms) => clock.sleep(ms));
    try {
      const settled: Settled[] = [];
      let begun = 0;
      const partner = async () => {
        while (begun < rounds) {
          const round = begun++;
          const story = new Choices(choices.seed());
          const file = join(cwd, `order-${round}.json`);
          const one = await playRound(`round ${round}`, file, story, service, clock, proxy.url, count);
          await verify(service, one, `round ${round}`);
          settled.push(one);
        }
      };
      await Promise.all(Array.from({ length: PARTNERS }, partner));
      await proxy.idle();
      for (const one of settled) await verify(service, one, "at the end");
      const database = `sqlite:${service.path}`;
      await expectBook({ cwd, database }, toldBy(settled));
      return report(rounds, counts, proxy.mishaps);
    } finally {
      await proxy.close();
    }
  } finally {
    clock.stop();
    await service.close();
  }
}

/**
 * The clock of the service and of its partners. It is fast, so that five minutes do not take five minutes, and slower while
 * the machine is busy: it moves on once in each turn of this process, whose work are the answers that partners wait for.
 */
function fastClock(service: TestService): Clock & { readonly stop: () => void } {
  const sleeping = new Set<{ readonly until: number; readonly wake: () => void }>();
  const ticking = setInterval(() => {
    service.now += SPEED;
    for (const sleeper of sleeping) if (sleeper.until <= service.now) sleeper.wake();
  }, 1);
  return {
    now: () => service.now,
    stop: () => clearInterval(ticking),
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted === true) {
          reject(signal.reason);
          return;
        }
        const end = (then: () => void) => {
          sleeping.delete(sleeper);
          signal?.removeEventListener("abort", stop);
          then();
        };
        const sleeper = { until: service.now + ms, wake: () => end(resolve) };
        const stop = () => end(() => reject(signal?.reason));
        sleeping.add(sleeper);
        signal?.addEventListener("abort", stop, { once: true });
      }),
  };
}

/**
 * Brings one top-up to its end through the proxy. One that is as it should be is carried out by the program that
 * partners are shown, from the look-up on; of one that is not, the checkout is taken on the good side of the proxy.
 */
async function playRound(
  where: string,
  file: string,
  choices: Choices,
  service: TestService,
  clock: Clock,
  url: string,
  count: (what: string) => void,
): Promise<Settled> {
  const kind = choices.of(KINDS);
  const order = kind === "good" ? wholeOrder(file, choices) : await wrongOrder(service, clock, choices, kind);
  const stops = choices.below(4) === 0 ? 1 + choices.below(3) : 0;
  let tries = 0;
  for (let life = 0; life < MOST_LIVES; life += 1) {
    const client = createClient({
      base: `${url}${PREFIX}/${choices.of(["v1.0.1", "v1.0.0"])}`,
      token: service.liveToken,
      timeoutMs: TIMEOUT_MS,
      clock,
      random: () => choices.below(1_000) / 1_000,
    });
    const controller = new AbortController();
    if (life < stops) void clock.sleep(1 + choices.below(60_000)).then(() => controller.abort());
    const outcome = await order.carryOut(client, { resumed: life > 0, signal: controller.signal });
    count(outcome?.outcome ?? "not begun");
    if (outcome === undefined) {
      // Nothing was sent: another day, another try. It is no life of the order.
      tries += 1;
      if (tries > MOST_TRIES) throw new Error(`${where}: no listing comes through`);
      life -= 1;
      await clock.sleep(1_000);
      continue;
    }
    if (outcome.outcome !== "undecided") {
      if (kind !== "good" && outcome.outcome === "topped_up") throw new Error(`${where}: ${kind}, and topped up`);
      count(`${kind}: ${outcome.outcome}`);
      return { purchase: order.purchase(), outcome };
    }
    if (outcome.next.do !== "query_again") throw new Error(`${where}: stuck at ${JSON.stringify(outcome)}`);
    // A stopped partner may be away until the checkout has expired.
    const awayMs = choices.below(choices.of([1, 60_000, 400_000]));
    await clock.sleep(life < stops ? awayMs : outcome.next.afterMs);
  }
  throw new Error(`${where}: no call gives the outcome of ${order.purchase().checkoutId}`);
}

interface Order {
  /** Undefined if it could not start. Nothing was sent then. */
  readonly carryOut: (client: Client, options: TopUpOptions) => Promise<TopUpOutcome | undefined>;
  readonly purchase: () => Purchase;
}

/** An order of the program that partners are shown: its file is all that outlives a stop. */
function wholeOrder(file: string, choices: Choices): Order {
  const [code, bouquetId] = [`u${choices.below(CUSTOMERS)}`, choices.of(BOUQUETS).code];
  return {
    carryOut: async (client, { signal }) => {
      try {
        return (await topUpOrder(client, file, code, bouquetId, { signal })) as TopUpOutcome;
      } catch (error) {
        // The look-up or the listing was lost, or the stop came before the top-up was sent. After that, nothing is thrown.
        if (existsSync(file) && error !== signal?.reason) throw error;
        return undefined;
      }
    },
    purchase: () => JSON.parse(readFileSync(file, "utf8")).purchase as Purchase,
  };
}

async function wrongOrder(
  service: TestService,
  clock: Clock,
  choices: Choices,
  kind: (typeof KINDS)[number],
): Promise<Order> {
  const connection = connectionOf(choices.below(CUSTOMERS));
  const { checkoutId } = await listPackages(service, connection);
  const { code, price } = choices.of(BOUQUETS);
  const bouquetId = kind === "unknown bouquet" ? "NET-0M" : code;
  const amt = kind === "wrong amount" ? String(price + 1) : choices.of([String(price), price.toFixed(2)]);
  const purchase = { ...connection, checkoutId, bouquetId, amt };
  if (kind === "expired") await clock.sleep(VALID_MS + 1_000);
  return { carryOut: (client, options) => client.topUp(purchase, options), purchase: () => purchase };
}

async function listPackages(service: TestService, connection: object) {
  const { status, json } = await service.call("get-subscription-package", connection, { token: service.liveToken });
  if (status !== 200) throw new Error(`the packages cannot be listed: ${JSON.stringify(json)}`);
  return json.body;
}

/** The outcome that a partner got must match the database. */
async function verify(service: TestService, { purchase, outcome }: Settled, where: string): Promise<void> {
  const recorded = await service.store.findTransaction(purchase.checkoutId);
  const said = JSON.stringify(outcome);
  if (outcome.outcome !== "topped_up") {
    if (recorded !== undefined)
      throw new Error(`${where}: ${recorded.txnId} is on record, and the client said ${said}`);
    return;
  }
  const { txnId, cuid, reqId, bouquetCode, amount, status } = recorded ?? {};
  const onRecord = [txnId, cuid, reqId, bouquetCode, amount, status].join();
  const cents = Math.round(Number(purchase.amt) * 100);
  const told = [outcome.result.txnId, purchase.cuid, purchase.reqId, purchase.bouquetId, cents, "success"].join();
  if (onRecord !== told) throw new Error(`${where}: ${onRecord} on record, told ${said}`);
}

function toldBy(settled: readonly Settled[]): Told {
  const told = new Told();
  for (const { purchase, outcome } of settled) {
    const { bouquetId: bouquetCode, amt } = purchase;
    if (outcome.outcome === "never_topped_up") told.never.add(purchase.checkoutId);
    if (outcome.outcome === "topped_up")
      told.note({ ...purchase, txnId: outcome.result.txnId, bouquetCode, amount: Math.round(Number(amt) * 100) });
  }
  return told;
}

function report(rounds: number, counts: ReadonlyMap<string, number>, mishaps: ReadonlyMap<string, number>): string {
  const list = (of: ReadonlyMap<string, number>) =>
    [...of]
      .sort(([a], [b]) => a.localeCompare(b))
      .map(([what, number]) => `  ${what}: ${number}`)
      .join("\n");
  return `${rounds} top-ups through a lossy network: each came to an end that the database agrees with\n${list(counts)}\nwhat the network did:\n${list(mishaps)}`;
}
