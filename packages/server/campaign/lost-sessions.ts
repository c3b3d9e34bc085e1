import { setTimeout as sleep } from "node:timers/promises";
import { type Patience, withinBound } from "./bounded-client.ts";
import { type Ground, runThere } from "./ground.ts";
import type { PartnerClient } from "./partner-client.ts";
import { createOwnDatabase } from "./postgres.ts";
import { expectTopupd } from "./processes.ts";
import { makeProvider } from "./provider.ts";
import { Choices } from "./random.ts";
import { type Sent, verifySent, verifySubscriptions } from "./sent.ts";
import { SessionFleet } from "./session-fleet.ts";
import { SessionLoad } from "./session-load.ts";
import { Troubles } from "./session-plan.ts";
import { type OwnServer, SessionStaff } from "./session-staff.ts";
import { readTopUps } from "./stored.ts";

export interface LostSessionsOptions {
  /** An empty folder. */
  readonly cwd: string;
  readonly seed: number;
  readonly rounds: number;
  /** One that no one else uses. */
  readonly server: OwnServer;
  readonly processes?: number;
  readonly partners?: number;
  /** The trouble of a round. */
  readonly lastsMs?: number;
}

const ROLE = "lost_sessions";
/** As supervision does, only more often. */
const WATCH_EVERY_MS = 50;
/** So many at a time are held against the record. */
const AT_A_TIME = 8;

/**
 * Several processes on one PostgreSQL serve partners while single sessions are cut, half closed, silent, late or ended, at
 * every moment of their lives, and while a superuser ends and limits sessions and restarts the server. Every request
 * must be answered in time; and once the trouble is over, every process must be well again in time, and every
 * top-up on record once, or not at all, as it was answered.
 * @throws Error that names the round in which it was otherwise.
 */
export async function lostSessions(options: LostSessionsOptions): Promise<string> {
  const { seed, rounds, server, cwd, processes = 2, partners = 8, lastsMs = 4_000 } = options;
  const choices = new Choices(seed);
  const troubles = new Troubles(new Choices(choices.seed()), { processes, lastsMs });
  const ground = { cwd, database: await createOwnDatabase(server.url, ROLE) };
  const token = await makeProvider(ground);
  const patience: Patience = { longestMs: 0 };
  const staff = new SessionStaff(server, ROLE);
  const fleet = await SessionFleet.start(ground, { token, processes, staff, patience });
  const all: Sent[] = [];
  const counts = { acknowledged: 0, open: 0, refused: 0, unavailable: 0, longestUntilWellMs: 0 };
  try {
    for (let round = 0; round < rounds; round += 1) {
      const plan = troubles.next();
      try {
        const load = new SessionLoad(fleet.clients);
        const working = work(
          fleet,
          load,
          Array.from({ length: partners }, () => new Choices(choices.seed())),
        );
        // Whoever waits for it is told.
        working.catch(() => {});
        try {
          await Promise.race([withinBound("the first top-ups", load.hasBegun(partners)), working]);
          await fleet.trouble(plan, lastsMs);
        } finally {
          load.end();
        }
        await working;
        counts.longestUntilWellMs = Math.max(counts.longestUntilWellMs, await fleet.untilWell());
        counts.acknowledged += load.sent.filter(({ acknowledged }) => acknowledged !== undefined).length;
        counts.open += load.sent.filter(({ acknowledged }) => acknowledged === undefined).length;
        counts.refused += load.refused.length;
        counts.unavailable += load.unavailable;
        await verifyOneTruth(fleet, load.sent);
        all.push(...load.sent);
        await verifyRecord(ground, all);
        await verifySubscriptions(choices.of(fleet.clients), all);
        await expectTopupd(["check"], runThere(ground));
        fleet.measure();
      } catch (error) {
        throw new Error(`round ${round}: ${(error as Error).message}\nits plan: ${JSON.stringify(plan)}`, {
          cause: error,
        });
      }
    }
  } finally {
    await fleet.end();
  }
  const done = [...fleet.done].map(([what, times]) => `\n  ${what}: ${times}`).sort();
  if (counts.acknowledged === 0 || done.length === 0) throw new Error("the campaign has shown nothing");
  return (
    `${rounds} rounds on ${processes} processes: ${counts.acknowledged} acknowledged top-ups all there once, ` +
    `${counts.open} open ones settled, ${counts.refused} refused ones not there; ${counts.unavailable} times unavailable; ` +
    `the longest answer took ${Math.round(patience.longestMs)} ms, and all was well again after ` +
    `${Math.round(counts.longestUntilWellMs)} ms at most; done to sessions:${done.join("")}`
  );
}

/** Partners, and somebody who watches the processes, until the load ends. */
async function work(fleet: SessionFleet, load: SessionLoad, partners: readonly Choices[]): Promise<void> {
  let isWorking = true;
  const watch = async () => {
    while (isWorking) {
      await fleet.expectAlive();
      await sleep(WATCH_EVERY_MS);
    }
  };
  const working = Promise.all(partners.map((choices) => load.run(choices))).finally(() => {
    isWorking = false;
  });
  await Promise.all([working, watch()]);
}

/** Every process says the same of every top-up, as it was answered; and each is made now, if it was not yet. */
async function verifyOneTruth({ clients }: SessionFleet, sent: readonly Sent[]): Promise<void> {
  const left = [...sent];
  const verify = async () => {
    for (let one = left.pop(); one !== undefined; one = left.pop()) {
      const { checkoutId } = one.purchase;
      await askAll(clients, checkoutId);
      await verifySent(clients[left.length % clients.length] as PartnerClient, one, checkoutId);
      one.acknowledged = await askAll(clients, checkoutId);
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, verify));
}

/** @returns what all of them say. */
async function askAll(clients: readonly PartnerClient[], checkoutId: string): Promise<string> {
  const answers = await Promise.all(clients.map((client) => client.query(checkoutId)));
  // What is not on record names the request in its answer.
  const said = new Set(answers.map(({ status, code, text }) => (status === 200 ? text : code)));
  if (said.size > 1) throw new Error(`the processes disagree: ${[...said].join("\n")}`);
  return [...said].join();
}

/** By now every one of them has been made: they are on record, and no other. */
async function verifyRecord(ground: Required<Ground>, all: readonly Sent[]): Promise<void> {
  const stored = await readTopUps(ground.database);
  for (const { purchase, acknowledged } of all) {
    const txnId = stored.get(purchase.checkoutId);
    if (txnId === undefined || !acknowledged?.includes(`"${txnId}"`))
      throw new Error(`on record as ${txnId}, but acknowledged as ${acknowledged}`);
  }
  if (stored.size !== all.length)
    throw new Error(
      `${stored.size} top-ups are on record, and ${all.length} were made: one was refused, or sent by nobody`,
    );
}
