import type { Caller, Departure } from "./caller.ts";
import { doubtAfterAttempt, doubtAfterLateLook } from "./doubt.ts";
import { isSuccess } from "./exchange.ts";
import type { Connection, Spending, VersionFacts } from "./facts.ts";
import type { ConformanceOptions } from "./options.ts";
import { findOffer } from "./plan.ts";
import { UNKNOWN_CUSTOMER } from "./probes.ts";
import { readCheckoutId } from "./read.ts";
import { otherAmount } from "./spend.ts";

/** Five minutes, and a margin for clocks of different speed. */
const EXPIRY_MS = 305_000;

/** A service may record a top-up only after its answer. Listing costs nothing. */
const LATE_MS = 2000;

/** A version that may have made a top-up, and its caller. */
export interface Spent {
  readonly caller: Caller;
  readonly facts: VersionFacts;
}

interface Attempt {
  readonly name: "wrongAmount" | "wrongCuid" | "missingToken" | "expired";
  /** The fault, in words. */
  readonly what: string;
  /** Fields that differ from the original top-up, without the checkoutId. */
  readonly change: Spending["sent"];
  readonly departure?: Departure;
  /** Replaces the checkoutId of a new listing. */
  readonly checkoutId?: string;
}

/**
 * Sends top-ups that cost money if the service accepts them. This comes last, so that their effects mislead no other
 * check. Each has its own checkoutId, because a refusal may use one up. topupd's profile has sent the first three before.
 */
export async function attemptAll(all: readonly Spent[], options: ConformanceOptions): Promise<readonly Spent[]> {
  const seen = options.profile === "topupd" ? all : await sendAll(all, wrongOnes);
  if (options.expiry !== true || seen.some(isInDoubt) || !seen.some(isToppedUp)) return seen;
  options.onProgress?.(`waiting ${EXPIRY_MS / 1000} s for checkoutIds to expire`);
  await seen[0]?.caller.wait(EXPIRY_MS);
  return sendAll(seen, expiredOnes);
}

function wrongOnes({ facts: { spending } }: Spent): readonly Attempt[] {
  if (spending?.plan === undefined) return [];
  return [
    { name: "wrongAmount", what: "a wrong amount", change: { amt: otherAmount(spending.plan.amt) } },
    { name: "wrongCuid", what: "another customer", change: { cuid: UNKNOWN_CUSTOMER } },
    { name: "missingToken", what: "no access token", change: {}, departure: { authorization: null } },
  ];
}

/** Uses the checkoutId of the listing that the top-up was planned with. */
function expiredOnes({ facts: { spending, listings } }: Spent): readonly Attempt[] {
  const listed = listings.find(({ connection }) => connection === spending?.plan?.connection);
  const checkoutId = readCheckoutId(listed?.exchange);
  return checkoutId === undefined ? [] : [{ name: "expired", what: "an expired checkoutId", change: {}, checkoutId }];
}

/** Sends one after the other, until one may have bought something. */
async function sendAll(all: readonly Spent[], attemptsOf: (spent: Spent) => readonly Attempt[]): Promise<Spent[]> {
  const seen = [...all];
  for (const [index, spent] of all.entries()) {
    for (const attempt of isToppedUp(spent) ? attemptsOf(spent) : []) {
      if (seen.some(isInDoubt)) return seen;
      seen[index] = await send(seen[index] ?? spent, attempt);
    }
  }
  return seen;
}

/** Sends one and lists its effect. */
async function send({ caller, facts }: Spent, { name, what, change, departure, ...own }: Attempt): Promise<Spent> {
  const { spending, cuid, version } = facts;
  if (spending?.plan === undefined) return { caller, facts };
  const { service, reqId } = spending.plan.connection;
  const list = () => caller.call("get-subscription-package", { cuid, service, reqId });
  const before = await list();
  const { checkoutId = readCheckoutId(before) } = own;
  if (checkoutId === undefined || findOffer(spending.plan, before, version) === undefined) return { caller, facts };
  const body = { ...spending.sent, checkoutId, ...change };
  const answer = await caller.call("subscription-package-topup", body, departure);
  const status = await caller.call("txn-status", { checkoutId });
  const after = await list();
  const seen = { ...spending, [name]: answer, listings: [...(spending.listings ?? []), before, after] };
  const doubt = doubtAfterAttempt({ ...seen, plan: spending.plan, listings: [before, after] }, what, answer, status);
  const found = doubt === undefined ? seen : { ...seen, stopped: doubt, isInDoubt: true };
  return { caller, facts: { ...facts, spending: found } };
}

export function isToppedUp({ facts: { spending } }: Spent): boolean {
  return isSuccess(spending?.topUp);
}

export function isInDoubt({ facts: { spending } }: Spent): boolean {
  return spending?.isInDoubt === true;
}

/**
 * Lists the topped-up connections again: at the end, or before another version tops up the same connection, whose
 * extension would hide a late second one.
 *
 * @param next the next connection to top up; undefined at the end of the run.
 */
export async function lookLate(all: readonly Spent[], next?: Connection): Promise<Spent[]> {
  const isDue = ({ facts: { spending } }: Spent) => {
    if (spending?.repeat === undefined || spending.late !== undefined) return false;
    return next === undefined || spending.plan?.connection.reqId === next.reqId;
  };
  if (all.some(isDue)) await all[0]?.caller.wait(LATE_MS);
  const looked: Spent[] = [];
  for (const each of all) looked.push(isDue(each) ? await listLate(each) : each);
  return looked;
}

async function listLate({ caller, facts }: Spent): Promise<Spent> {
  const { spending, cuid } = facts;
  if (spending?.plan === undefined) return { caller, facts };
  const { service, reqId } = spending.plan.connection;
  const late = await caller.call("get-subscription-package", { cuid, service, reqId });
  const seen = { ...spending, plan: spending.plan, late, listings: [...(spending.listings ?? []), late] };
  const doubt = spending.isInDoubt === true ? undefined : doubtAfterLateLook(seen);
  const found = doubt === undefined ? seen : { ...seen, stopped: doubt, isInDoubt: true };
  return { caller, facts: { ...facts, spending: found } };
}
