import type { Caller } from "./caller.ts";
import { doubtAfterLateLook } from "./doubt.ts";
import type { Connection, VersionFacts } from "./facts.ts";

/** A service may book what it has answered only a moment later, and a look costs nothing. */
const LATE_MS = 2000;

/** A version in which something may have been topped up, and how it is called. */
export interface Spent {
  readonly caller: Caller;
  readonly facts: VersionFacts;
}

/**
 * Looks once more at what was topped up and sent again: after everything, or before another version tops up the same
 * connection, whose growth would hide a second extension that shows late.
 *
 * @param next what is topped up next; without it, the run is at its end.
 */
export async function lookLate(all: readonly Spent[], next?: Connection): Promise<Spent[]> {
  const isDue = ({ facts: { spending } }: Spent) => {
    if (spending?.repeat === undefined || spending.late !== undefined) return false;
    return next === undefined || spending.plan?.connection.reqId === next.reqId;
  };
  if (all.some(isDue)) await all[0]?.caller.wait(LATE_MS);
  const looked: Spent[] = [];
  for (const each of all) looked.push(isDue(each) ? await look(each) : each);
  return looked;
}

async function look({ caller, facts }: Spent): Promise<Spent> {
  const { spending, cuid } = facts;
  if (spending?.plan === undefined) return { caller, facts };
  const { service, reqId } = spending.plan.connection;
  const late = await caller.call("get-subscription-package", { cuid, service, reqId });
  const seen = { ...spending, plan: spending.plan, late, listings: [...(spending.listings ?? []), late] };
  const doubt = spending.isInDoubt === true ? undefined : doubtAfterLateLook(seen);
  const found = doubt === undefined ? seen : { ...seen, stopped: doubt, isInDoubt: true };
  return { caller, facts: { ...facts, spending: found } };
}
