import type { Departure } from "./caller.ts";
import { doubtAfterAttempt } from "./doubt.ts";
import { isSuccess } from "./exchange.ts";
import type { Spending } from "./facts.ts";
import type { Spent } from "./late.ts";
import type { ConformanceOptions } from "./options.ts";
import { findOffer } from "./plan.ts";
import { readCheckoutId } from "./read.ts";
import { UNKNOWN_CUSTOMER } from "./repeats.ts";
import { otherAmount } from "./spend.ts";

/** Five minutes (interface, section 3), and a bit for clocks that differ in speed. */
const EXPIRY_MS = 305_000;

interface Attempt {
  readonly name: "wrongAmount" | "wrongCuid" | "missingToken" | "expired";
  /** What is wrong with it. */
  readonly what: string;
  /** The fields that differ from the top-up that was made, beside the checkoutId. */
  readonly change: Spending["sent"];
  readonly departure?: Departure;
  /** In place of one that is listed for it. */
  readonly checkoutId?: string;
}

/**
 * Sends top-ups that cost somebody money if they are taken: after everything else, so that what they do misleads no
 * other check, and with a checkoutId of its own for each, since a refusal may use one up. topupd's profile has sent the
 * like of the first three before.
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

/** With the checkoutId of the listing by which the top-up was planned, before anything was bought. */
function expiredOnes({ facts: { spending, listings } }: Spent): readonly Attempt[] {
  const listed = listings.find(({ connection }) => connection === spending?.plan?.connection);
  const checkoutId = readCheckoutId(listed?.exchange);
  return checkoutId === undefined ? [] : [{ name: "expired", what: "an expired checkoutId", change: {}, checkoutId }];
}

/** One after the other, until something may have been bought by it. */
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

/** Sends one, and looks what it has done. */
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

function isToppedUp({ facts: { spending } }: Spent): boolean {
  return isSuccess(spending?.topUp);
}

function isInDoubt({ facts: { spending } }: Spent): boolean {
  return spending?.isInDoubt === true;
}
