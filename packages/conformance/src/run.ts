import { attemptAll, lookLate, type Spent } from "./attempts.ts";
import { type Caller, createAllowance, createCaller } from "./caller.ts";
import type { Answer } from "./exchange.ts";
import { explore } from "./explore.ts";
import { type Plan, type RunFacts, VERSIONS, type Version, type VersionFacts } from "./facts.ts";
import { type ConformanceOptions, checkOptions, readBase } from "./options.ts";
import { announce, planTopUp } from "./plan.ts";
import { announcePractice, planPractice, practiseAll } from "./practice.ts";
import { checkoutIdsOf } from "./read.ts";
import { judge, type Report } from "./report.ts";
import { asObject, asText, member } from "./shape.ts";
import { notSpent, spend } from "./spend.ts";
import { openReceiver, type Receiver, receiveReversal } from "./webhook.ts";

const UNAUTHORIZED = 401;

/** Nothing answers at the base. */
export class ServiceUnreachable extends Error {}

/** The service refuses the access token, so no check is possible. */
export class TokenRefused extends Error {}

/**
 * Checks a service against the Subscription Top-up Service Interface, from outside. Spends nothing unless
 * `options.topUp` is set; then it makes at most one top-up per version, and those of topupd's practice customer.
 *
 * @throws WrongOption if the options cannot be used, or the webhook's port cannot be taken
 * @throws ServiceUnreachable if no connection can be made
 * @throws TokenRefused if the look-up is answered with HTTP 401
 */
export async function runConformance(options: ConformanceOptions): Promise<Report> {
  checkOptions(options);
  const { versions = VERSIONS, profile = "interface" } = options;
  // Only `true` buys: an untyped program may pass another value.
  const topUp = options.topUp === true;
  const allowance = createAllowance();
  const open = (version: Version) => createCaller(options, version, allowance);
  const receiver = options.webhook && (await openReceiver(options.webhook, options.onProgress));
  try {
    const explored: Spent[] = [];
    for (const caller of versions.map(open)) explored.push({ caller, facts: await exploreOrGiveUp(caller, options) });
    const unspent = { versions: explored.map((each) => each.facts), webhook: undefined };
    const facts = topUp ? await spendAll(explored, options, open, receiver) : unspent;
    const base = readBase(options.base).href;
    return judge({ ...facts, versions: withEarlier(facts.versions) }, { base, profile, topUp });
  } finally {
    await receiver?.close();
  }
}

/** Gives each version the checkoutIds of the versions before it: a checkoutId is unique across versions. */
function withEarlier(all: readonly VersionFacts[]): VersionFacts[] {
  return all.map((facts, index) => ({ ...facts, earlierCheckoutIds: all.slice(0, index).flatMap(checkoutIdsOf) }));
}

async function exploreOrGiveUp(caller: Caller, options: ConformanceOptions): Promise<VersionFacts> {
  const facts = await explore(caller, options);
  const { lookUp } = facts;
  if (lookUp.answered && lookUp.status === UNAUTHORIZED) throw new TokenRefused(describeRefusal(lookUp));
  if (lookUp.answered || lookUp.connected) return facts;
  throw new ServiceUnreachable(`${readBase(options.base).origin} cannot be reached: ${lookUp.problem}`);
}

/** The message with topupd's reason, such as `unknown_token`; no other text is shown. */
function describeRefusal(lookUp: Answer): string {
  const reason = member(asObject(member(lookUp.json, "body")), "reason");
  const named = typeof reason === "string" && /^[a-z]+_token$/.test(reason) ? `, ${reason}` : "";
  return `the service refuses the access token (HTTP ${lookUp.status}${named}). Check the token and --base.`;
}

/** Makes one top-up per version, after the cost of all is announced. */
async function spendAll(
  explored: readonly Spent[],
  options: ConformanceOptions,
  open: (version: Version) => Caller,
  receiver: Receiver | undefined,
): Promise<RunFacts> {
  const isTopupd = options.profile === "topupd";
  const plans = explored.map(({ facts }) => planTopUp(facts, options.purchase));
  const planned = explored.flatMap(({ facts }, index): (readonly [Version, Plan])[] => {
    const plan = plans[index];
    return typeof plan === "object" ? [[facts.version, plan]] : [];
  });
  const callers = planned.map(([version]) => open(version));
  const rehearsals = options.profile === "topupd" ? await planPractice(callers, options.token) : [];
  const personal = personalOf(explored, options);
  for (const line of [
    ...announce(planned, personal, options),
    ...announcePractice(rehearsals, personal, receiver !== undefined),
  ])
    options.onProgress?.(line);
  let all: Spent[] = [];
  for (const [index, { caller, facts }] of explored.entries()) {
    const [plan, { cuid, connections }] = [plans[index], facts];
    if (typeof plan === "object") all = await lookLate(all, plan.connection);
    const doubtful = all.map((each) => each.facts).find(({ spending }) => spending?.isInDoubt === true);
    if (doubtful !== undefined || typeof plan !== "object" || cuid === undefined) {
      all.push({ caller, facts: { ...facts, spending: notSpent(reasonNotTo(doubtful, plan)) } });
      continue;
    }
    options.onProgress?.(`${facts.version}: topping up`);
    const other = explored.find((each) => each.caller !== caller)?.caller;
    // The last top-up uses a checkoutId of the other version.
    const isListedElsewhere = index > 0 && index === explored.length - 1;
    const spending = await spend({ caller, other, cuid, plan, connections, isTopupd, isListedElsewhere });
    all.push({ caller, facts: { ...facts, spending } });
  }
  const attempted = await attemptAll(await lookLate(all), options);
  const practised = await practiseAll(attempted, rehearsals, options);
  const { secret = "" } = options.webhook ?? {};
  const webhook = receiver && { ...(await receiveReversal(practised, rehearsals, receiver, options)), secret };
  return { versions: practised.map((each) => each.facts), webhook };
}

function reasonNotTo(doubtful: VersionFacts | undefined, plan: Plan | string | undefined): string {
  if (doubtful !== undefined) return `nothing is bought after the doubtful top-up in ${doubtful.version}`;
  return typeof plan === "string" ? plan : "the customer was not found";
}

/** Personal texts from the look-ups and from the caller. */
function personalOf(explored: readonly Spent[], { token, code }: ConformanceOptions): string[] {
  const told = explored.flatMap(({ facts: { cuid, customer, connections } }) => [
    cuid,
    asText(member(customer, "first_name")),
    asText(member(customer, "last_name")),
    ...connections.map(({ reqId }) => reqId),
  ]);
  return [token, code.trim(), ...told].filter((text) => text !== undefined && text !== "") as string[];
}
