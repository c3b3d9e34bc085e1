import { type Caller, createCaller } from "./caller.ts";
import { explore } from "./explore.ts";
import { type Plan, VERSIONS, type VersionFacts } from "./facts.ts";
import { type ConformanceOptions, checkOptions, DEFAULT_PREFIX, readBaseUrl } from "./options.ts";
import { announce, planTopUp } from "./plan.ts";
import { judge, type Report } from "./report.ts";
import { notSpent, spend } from "./spend.ts";

/** Nobody answers at the base URL: there is nothing to judge. */
export class ServiceUnreachable extends Error {}

interface Explored {
  readonly caller: Caller;
  readonly facts: VersionFacts;
}

/**
 * Checks a service against the Subscription Top-up Service Interface, from outside. Spends nothing unless
 * `options.topUp` is set; then it makes at most one top-up per version.
 *
 * @throws WrongOption if the options cannot be used
 * @throws ServiceUnreachable if no connection can be made
 */
export async function runConformance(options: ConformanceOptions): Promise<Report> {
  checkOptions(options);
  const { versions = VERSIONS, prefix = DEFAULT_PREFIX, profile = "interface", topUp = false } = options;
  const callers = versions.map((version) => createCaller(options, version));
  const explored: Explored[] = [];
  for (const caller of callers) explored.push({ caller, facts: await exploreOrGiveUp(caller, options) });
  const facts = topUp ? await spendAll(explored, options) : explored.map((each) => each.facts);
  const baseUrl = readBaseUrl(options.baseUrl).href;
  return judge({ versions: facts }, { baseUrl, prefix, profile, topUp });
}

async function exploreOrGiveUp(caller: Caller, options: ConformanceOptions): Promise<VersionFacts> {
  const facts = await explore(caller, options);
  const { lookUp } = facts;
  if (lookUp.answered || lookUp.connected) return facts;
  throw new ServiceUnreachable(`${readBaseUrl(options.baseUrl).origin} cannot be reached: ${lookUp.problem}`);
}

/** One top-up per version, after saying of all of them what they will cost. */
async function spendAll(explored: readonly Explored[], options: ConformanceOptions): Promise<VersionFacts[]> {
  const plans = explored.map(({ facts }) => planTopUp(facts, options.purchase));
  const planned = explored.flatMap(({ facts }, index): (readonly [string, Plan])[] => {
    const plan = plans[index];
    return typeof plan === "object" ? [[facts.version, plan]] : [];
  });
  for (const line of announce(planned)) options.onProgress?.(line);
  const all: VersionFacts[] = [];
  for (const [index, { caller, facts }] of explored.entries()) {
    const plan = plans[index];
    if (typeof plan !== "object" || facts.cuid === undefined) {
      all.push({ ...facts, spending: notSpent(typeof plan === "string" ? plan : "the customer was not found") });
      continue;
    }
    options.onProgress?.(`${facts.version}: topping up`);
    const other = explored.find((each) => each.caller !== caller)?.caller;
    const isTopupd = options.profile === "topupd";
    all.push({ ...facts, spending: await spend({ caller, other, cuid: facts.cuid, plan, isTopupd }) });
  }
  return all;
}
