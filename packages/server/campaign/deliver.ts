import { setTimeout as sleep } from "node:timers/promises";
import type { ConnectionMessage } from "../src/domain/event.ts";
import { expectBook, Told } from "./book.ts";
import { connectionOf, makeProvider, PartnerClient } from "./partner.ts";
import { expectTopupd, type Ground, type Served, signalProcess, startServing } from "./processes.ts";
import { Choices } from "./random.ts";
import { connectionName, StateReceiver, seqOf } from "./receiver.ts";

export interface DeliverOptions extends Ground {
  readonly seed: number;
  /** Minimum number of top-ups. */
  readonly events: number;
  /** Minimum number of kills. Each takes half a minute, since another process waits for the lease. */
  readonly kills: number;
  readonly workers?: number;
}

interface Counts {
  made: number;
  kills: number;
  /** Number of kills after which no request of the killed process was open. */
  epoch: number;
  closings: number;
  /** The longest time until another process continued. */
  longestMs: number;
}

const CUSTOMERS = 400;
const PARTNERS = 24;
/** The first gets only the newest event after a failure. Billing gets every one. */
const TARGETS = ["tv", "billing"] as const;
/** Time within which another process must continue after a kill. */
const GOES_ON_WITHIN_MS = 30_000;
/** Time within which an unavailable target is retried. */
const CAUGHT_UP_WITHIN_MS = 90_000;
const SAVED_WITHIN_MS = 2_000;
/** Approximate time of a kill, with the faults before it. */
const KILL_TAKES_MS = 25_000;
/**
 * Time after a kill when a receiver has read everything from the killed process, and no other process has continued yet,
 * since the lease lasts longer.
 */
const KILL_SETTLED_MS = 15_000;

/**
 * Partners top up while receivers fail at random, hang, close and come back, and processes are killed. In the end, each
 * receiver must have every event or a later one of the connection, in order, and the same state of every connection as
 * topupd. Billing must have every event.
 * @throws Error that names the event or connection with a violation.
 */
export async function deliver({ seed, events, kills, workers = 3, ...ground }: DeliverOptions): Promise<string> {
  const choices = new Choices(seed);
  const counts: Counts = { made: 0, kills: 0, epoch: 0, closings: 0, longestMs: 0 };
  const token = await makeProvider(ground, CUSTOMERS);
  const receivers = TARGETS.map(() => new StateReceiver(new Choices(choices.seed()), () => counts.epoch));
  for (const receiver of receivers) await receiver.open();
  for (const [index, { url }] of receivers.entries()) {
    const [name = ""] = TARGETS.slice(index);
    const billing = name === "billing" ? ["--billing"] : [];
    await expectTopupd(["target", "add", name, "--kind", "webhook", ...billing, "--url", url], ground);
  }
  await expectTopupd(["target", "add", "all", "--kind", "feed"], ground);
  const served = await startServing(ground, workers);
  try {
    const told = new Told();
    const client = new PartnerClient(served.url, token, told);
    const isDone = () => counts.made >= events && counts.kills >= kills;
    // Top-ups are spread over the time of the kills.
    const pauseMs = (kills * KILL_TAKES_MS * PARTNERS) / events;
    const working = Array.from({ length: PARTNERS }, () => new Choices(choices.seed())).map(async (own) => {
      while (!isDone()) {
        await sleep(pauseMs);
        if (await topUp(client, own.below(CUSTOMERS))) counts.made += 1;
      }
    });
    await Promise.all([...working, makeMishaps(served, receivers, choices, isDone, kills, counts)]);
    await expectBook(ground, told);
    // Events that wait for their next attempt could wait for up to an hour.
    await tryAllAgain(ground, receivers);
    const all = await readFeed(ground);
    const caughtUpMs = await untilCaughtUp(receivers, all);
    await verify(receivers, all, client);
    const failures = receivers.map((receiver) => receiver.failures);
    return (
      `${all.length} events, ${counts.kills} kills, ${counts.closings} times closed: ${failures[0]} and ${failures[1]} ` +
      `mishaps, all events delivered in order; went on within ${Math.round(counts.longestMs)} ms of a kill, and were ` +
      `caught up within ${Math.round(caughtUpMs)} ms of the last closing`
    );
  } catch (cause) {
    const said = served.stderr().split("\n");
    const telling = said.filter((line) => line.includes('"target"') || line.startsWith('{"level":"error"'));
    throw new Error(`${(cause as Error).message}; the service said:\n${telling.join("\n")}`, { cause });
  } finally {
    await served.end("SIGTERM");
    for (const receiver of receivers) await receiver.close();
  }
}

/** @returns whether it was acknowledged. */
async function topUp(client: PartnerClient, index: number): Promise<boolean> {
  try {
    const { checkoutId, bouquets } = await client.list(index);
    const [bouquet] = bouquets;
    if (bouquet === undefined) throw new Error(`customer ${index} is offered nothing`);
    const amt = String(bouquet.price);
    const { status } = await client.topUp({ ...connectionOf(index), checkoutId, bouquetId: bouquet.code, amt });
    return status === 200;
  } catch (error) {
    // fetch throws a TypeError if a connection is refused or breaks.
    if (!(error instanceof TypeError || String(error).includes("400ae002"))) throw error;
    await sleep(20);
    return false;
  }
}

async function makeMishaps(
  served: Served,
  receivers: readonly StateReceiver[],
  choices: Choices,
  isDone: () => boolean,
  kills: number,
  counts: Counts,
): Promise<void> {
  while (!isDone()) {
    await sleep(500 + choices.below(4_000));
    if (isDone()) return;
    if (counts.kills < kills && choices.below(3) === 0) await killOne(served, receivers, choices, isDone, counts);
    else {
      const receiver = choices.of(receivers);
      await receiver.close();
      counts.closings += 1;
      await sleep(choices.below(3_000));
      await receiver.open();
    }
  }
}

/** Kills a process, which is restarted automatically. @throws Error if a receiver gets nothing from another process in time. */
async function killOne(
  served: Served,
  receivers: readonly StateReceiver[],
  choices: Choices,
  isDone: () => boolean,
  counts: Counts,
): Promise<void> {
  const children = served.children();
  if (children.length === 0) return;
  const killedAt = performance.now();
  counts.kills += signalProcess(choices.of(children), "SIGKILL");
  await sleep(KILL_SETTLED_MS);
  counts.epoch += 1;
  const before = receivers.map(({ arrivals }) => arrivals);
  while (receivers.some(({ arrivals }, index) => arrivals === before[index])) {
    if (isDone()) return;
    const waited = performance.now() - killedAt;
    if (waited > GOES_ON_WITHIN_MS) throw new Error(`no process continues within ${waited} ms of a kill`);
    await sleep(50);
  }
  counts.longestMs = Math.max(counts.longestMs, performance.now() - killedAt);
}

async function tryAllAgain(ground: Ground, receivers: readonly StateReceiver[]): Promise<void> {
  for (const receiver of receivers) {
    await receiver.close();
    receiver.isWell = true;
    await receiver.open();
  }
  // Failed attempts are recorded by then.
  await sleep(SAVED_WITHIN_MS);
  for (const name of TARGETS) await expectTopupd(["target", "resend", name], ground);
}

async function readFeed(ground: Ground): Promise<ConnectionMessage[]> {
  const lines = (await expectTopupd(["events", "--target", "all"], ground)).trim().split("\n");
  return lines.slice(0, -1).map((line) => JSON.parse(line) as ConnectionMessage);
}

/** @returns the time that it took, in milliseconds. */
async function untilCaughtUp(receivers: readonly StateReceiver[], all: readonly ConnectionMessage[]): Promise<number> {
  const began = performance.now();
  while (receivers.some((receiver, index) => missing(receiver, all, index) !== undefined)) {
    if (performance.now() - began > CAUGHT_UP_WITHIN_MS) return CAUGHT_UP_WITHIN_MS;
    await sleep(250);
  }
  return performance.now() - began;
}

/** @returns an event that the receiver lacks. Only the first target does not need every event. */
function missing(
  receiver: StateReceiver,
  all: readonly ConnectionMessage[],
  index: number,
): ConnectionMessage | undefined {
  return all.find((event) => {
    if (receiver.taken.has(event.id)) return false;
    return index > 0 || (receiver.state.get(connectionName(event))?.seq ?? 0) < seqOf(event);
  });
}

async function verify(
  receivers: readonly StateReceiver[],
  all: readonly ConnectionMessage[],
  client: PartnerClient,
): Promise<void> {
  for (const [index, receiver] of receivers.entries()) {
    const name = TARGETS[index] ?? "";
    const lacked = missing(receiver, all, index);
    if (lacked !== undefined) throw new Error(`${name} never had ${lacked.id} of ${connectionName(lacked)}`);
    const [first] = receiver.outOfOrder;
    if (first !== undefined) throw new Error(`${name}, ${receiver.outOfOrder.length} times: ${first}`);
    const known = new Map([...receiver.state.values()].map(({ data }) => [data.cuid, data]));
    for (let customer = 0; customer < CUSTOMERS; customer += 1) {
      const [subscription] = (await client.list(customer)).subscriptions;
      const [told] = known.get(`c${customer}`)?.subscriptions ?? [];
      const [expected, found] = [subscription?.enddate, told?.end].map((end) => end?.replace("T", " ").slice(0, 19));
      if (expected !== found)
        throw new Error(`${name}: customer ${customer} has ${expected}, but the receiver has ${found}`);
    }
  }
}
