import { isInDoubt, isToppedUp, type Spent } from "./attempts.ts";
import type { Caller } from "./caller.ts";
import { doubtAfterProbe, doubtAfterRepeat } from "./doubt.ts";
import { bodyOf, type Exchange } from "./exchange.ts";
import type { Fault, FaultCalls, Plan, Practice } from "./facts.ts";
import type { ConformanceOptions } from "./options.ts";
import { describePurchase, findOffer, planTopUp } from "./plan.ts";
import { readCheckoutId, readConnections } from "./read.ts";
import { asText, member } from "./shape.ts";
import { NO_LONGER_OFFERED } from "./spend.ts";

/*
 * Practises the faults of topupd's practice customer. Only a trial token can do it: topupd finds no production customer
 * with it.
 */

export const PRACTICE_CUID = "1000010";
const TRIAL_PREFIX = "topup_trial_";

/** The faults without a long wait. */
export const FAULTS: readonly Fault[] = [
  { name: "lost-before", answer: "nothing", times: 1, status: "not_topped_up" },
  { name: "lost-after", answer: "nothing", times: 1, status: "recorded" },
  { name: "half-answer", answer: "half", times: 1, status: "recorded" },
  { name: "busy-before", answer: "unavailable", times: 2, status: "not_topped_up" },
  { name: "busy-after", answer: "unavailable", times: 1, status: "recorded" },
  { name: "proxy-error", answer: "page", times: 1, status: "recorded" },
  { name: "limited", answer: "rate_limited", times: 1, status: "not_topped_up" },
  { name: "expired", answer: "checkout_expired", times: 1, status: "never_topped_up", isRefused: true },
  { name: "withdrawn", answer: "bouquet_unavailable", times: 1, status: "not_topped_up", isRefused: true },
  { name: "short", answer: "insufficient_balance", times: 1, status: "never_topped_up", isRefused: true },
  { name: "day-limit", answer: "limit_reached", times: 1, status: "never_topped_up", isRefused: true },
];

/** Retry-After of the practice connections. */
export const RETRY_AFTER_SECONDS = 2;

/** The purchase of a version, the same on each connection; or why nothing is practised. */
export interface Rehearsal {
  readonly caller: Caller;
  readonly plan: Plan | string;
}

/**
 * Plans the purchases.
 *
 * @param callers new ones, whose answers no other check judges: they are wrong on purpose.
 */
export async function planPractice(callers: readonly Caller[], token: string): Promise<Rehearsal[]> {
  const rehearsals: Rehearsal[] = [];
  for (const caller of callers) {
    const plan = token.startsWith(TRIAL_PREFIX) ? await planVersion(caller) : "practising needs a trial token";
    rehearsals.push({ caller, plan });
  }
  return rehearsals;
}

/** The cost of practising, in words. @param personal texts that must not be shown. @param receives a webhook. */
export function announcePractice(
  rehearsals: readonly Rehearsal[],
  personal: readonly string[],
  receives: boolean,
): string[] {
  const most = FAULTS.filter(({ isRefused }) => isRefused !== true).length;
  const lines = rehearsals.flatMap(({ caller, plan }) =>
    typeof plan === "string" ? [] : [`  ${caller.version}: ${most} of ${describePurchase(plan, personal)}`],
  );
  if (lines.length === 0) return [];
  const webhook = receives ? ["  and one, which topupd reverses, for the webhook"] : [];
  return [
    `trial top-ups of customer ${PRACTICE_CUID}, to practise faults: ${most * lines.length}`,
    ...lines,
    ...webhook,
  ];
}

async function planVersion(caller: Caller): Promise<Plan | string> {
  const { version } = caller;
  const body = bodyOf(await caller.call("get-customer-information", { code: PRACTICE_CUID }));
  // The code may be the number or username of another customer.
  if (asText(member(member(body, "customer"), "cuid")) !== PRACTICE_CUID) return "there is no practice customer";
  const connections = readConnections(body, "internet", version);
  const found = FAULTS.map(({ name }) => connections.find(({ reqId }) => reqId === name));
  const [connection] = found;
  if (connection === undefined || found.includes(undefined)) return "the practice customer lacks a connection";
  const exchange = await caller.call("get-subscription-package", requestOf(connection.reqId));
  const { service, reqId } = connection;
  return planTopUp({ version, listings: [{ connection, isCertain: true, exchange }] }, { service, reqId });
}

/** Practises in each version that was topped up, until something may have been bought that was not announced. */
export async function practiseAll(
  all: readonly Spent[],
  rehearsals: readonly Rehearsal[],
  { onProgress }: ConformanceOptions,
): Promise<readonly Spent[]> {
  const practised = [...all];
  for (const { caller, plan } of rehearsals) {
    const index = all.findIndex(({ facts }) => facts.version === caller.version);
    const spent = all[index];
    if (spent === undefined) continue;
    const reason = reasonNotTo(practised, spent);
    if (reason === undefined && typeof plan === "object") onProgress?.(`${caller.version}: practising faults`);
    const practice = reason === undefined ? await practise(caller, plan) : { calls: [], stopped: reason };
    practised[index] = { ...spent, facts: { ...spent.facts, practice } };
  }
  return practised;
}

/** Why nothing is bought for practice; undefined if it may be. */
export function reasonNotTo(all: readonly Spent[], spent: Spent): string | undefined {
  const isDoubtful = all.some((each) => isInDoubt(each) || each.facts.practice?.isInDoubt === true);
  if (isDoubtful) return "nothing is bought after a doubtful top-up";
  return isToppedUp(spent) ? undefined : "no top-up has succeeded";
}

async function practise(caller: Caller, plan: Plan | string): Promise<Practice> {
  if (typeof plan === "string") return { calls: [], stopped: plan };
  const all: FaultCalls[] = [];
  for (const fault of FAULTS) {
    const calls = await meet(caller, plan, fault);
    if (calls === undefined) return { calls: all, stopped: NO_LONGER_OFFERED };
    all.push(calls);
    const doubt = doubtAfter(calls, plan);
    if (doubt !== undefined) return { calls: all, stopped: doubt, isInDoubt: true };
  }
  return { calls: all };
}

/** Makes the calls of one fault; undefined if the purchase is no longer offered. */
async function meet(caller: Caller, plan: Plan, fault: Fault): Promise<FaultCalls | undefined> {
  const request = requestOf(fault.name);
  const list = () => caller.call("get-subscription-package", request);
  const before = await list();
  const checkoutId = readCheckoutId(before);
  if (checkoutId === undefined || findOffer(plan, before, caller.version) === undefined) return undefined;
  const query = () => caller.call("txn-status", { checkoutId });
  const topUp = async () => {
    const { bouquetId, amt } = plan;
    const answer = await caller.call("subscription-package-topup", { ...request, checkoutId, bouquetId, amt });
    if (answer.answered && "retry-after" in answer.headers) await caller.wait(RETRY_AFTER_SECONDS * 1000);
    return answer;
  };
  const answers: Exchange[] = [];
  while (answers.length < fault.times) answers.push(await topUp());
  const [status, between, repeat, statusAtEnd, after] = [
    await query(),
    await list(),
    await topUp(),
    await query(),
    await list(),
  ];
  return { fault, answers, status, repeat, statusAtEnd, listings: [before, between, after] };
}

function doubtAfter(calls: FaultCalls, plan: Plan): string | undefined {
  const { fault, status, repeat, statusAtEnd, listings } = calls;
  if (fault.isRefused) return doubtAfterProbe({ plan, listings }, `the fault ${fault.name}`, repeat, statusAtEnd);
  return doubtAfterRepeat({ plan, listings, topUp: status, status: repeat }, repeat, statusAtEnd);
}

function requestOf(reqId: string) {
  return { cuid: PRACTICE_CUID, service: "internet", reqId } as const;
}
