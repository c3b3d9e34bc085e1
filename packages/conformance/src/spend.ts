import type { Caller, Departure } from "./caller.ts";
import { doubtAfterProbe, doubtAfterRepeat, doubtAfterTopUp } from "./doubt.ts";
import { type Exchange, isSuccess } from "./exchange.ts";
import type { Connection, Plan, RefusedRepeat, Spending } from "./facts.ts";
import { findOffer } from "./plan.ts";
import { refusedRepeats, UNKNOWN_BOUQUET, UNKNOWN_CONNECTION, UNKNOWN_CUSTOMER } from "./probes.ts";
import { readCheckoutId } from "./read.ts";

/** The longest allowed udf1, 30 characters. */
const REFERENCE = "conformance-check-reference-01";
/** Why a planned top-up was not made. */
export const NO_LONGER_OFFERED = "the bouquet or its price has changed meanwhile";

interface Situation {
  readonly caller: Caller;
  /** The other version, if it is checked too. */
  readonly other: Caller | undefined;
  readonly cuid: string;
  readonly plan: Plan;
  /** The customer's connections in the look-up. */
  readonly connections: readonly Connection[];
  readonly isTopupd: boolean;
  /** Whether the top-up uses a checkoutId of the other version. One of two versions does. */
  readonly isListedElsewhere: boolean;
}

/** The three calls around one checkoutId. */
interface Counter {
  readonly list: () => Promise<Exchange>;
  readonly topUp: (body: object, departure?: Departure) => Promise<Exchange>;
  readonly query: () => Promise<Exchange>;
}

type Sent = NonNullable<Spending["sent"]>;
type Draft = { -readonly [Key in keyof Spending]: Spending[Key] } & { plan: Plan; sent: Sent; listings: Exchange[] };

/** A version without a top-up, with the reason. */
export function notSpent(reason: string, plan?: Plan): Spending {
  return plan === undefined ? { stopped: reason } : { stopped: reason, plan };
}

/**
 * Makes the one top-up of a version with one checkoutId. A second checkoutId is used only if the other version's was
 * certainly refused. If something else than announced may have been bought, nothing more is sent.
 */
export async function spend(situation: Situation): Promise<Spending> {
  const { caller, cuid, plan, isTopupd } = situation;
  const { service, reqId } = plan.connection;
  const listings: Exchange[] = [];
  const list = async () => {
    const listing = await caller.call("get-subscription-package", { cuid, service, reqId });
    listings.push(listing);
    return listing;
  };
  const before = await list();
  const checkoutId = readCheckoutId(before);
  if (checkoutId === undefined) return { ...notSpent("the listing before it gave no checkoutId", plan), listings };
  if (findOffer(plan, before, caller.version) === undefined) {
    return { ...notSpent(NO_LONGER_OFFERED, plan), listings };
  }

  const bought = { cuid, service, reqId, checkoutId, bouquetId: plan.bouquetId, amt: plan.amt };
  // Only one of the two optional fields, to detect a service that requires both.
  const sent = caller.version === "v1.0.0" ? bought : { ...bought, udf1: REFERENCE };
  const topUp: Counter["topUp"] = (body, departure) => caller.call("subscription-package-topup", body, departure);
  const draft: Draft = { plan, sent, listings, before };
  const counter: Counter = {
    list,
    topUp,
    query: () => caller.call("txn-status", { checkoutId: draft.sent["checkoutId"] }),
  };
  return (
    (isTopupd ? await probe(draft, counter, situation) : undefined) ??
    (isTopupd ? await topUpListedElsewhere(draft, counter, situation) : undefined) ??
    (await topUpTwice(draft, counter, caller)) ??
    (isTopupd ? await repeatOtherwise(draft, counter, situation) : undefined) ??
    (isTopupd ? await repeatRefused(draft, counter) : undefined) ??
    draft
  );
}

/** Sends top-ups that must be refused. @returns the result, if nothing more may be sent. */
async function probe(
  draft: Draft,
  { topUp, query, list }: Counter,
  situation: Situation,
): Promise<Spending | undefined> {
  const { sent } = draft;
  const probes = [
    ["wrongAmount", "a wrong amount", { ...sent, amt: otherAmount(draft.plan.amt) }],
    ["wrongBouquet", "an unknown bouquet", { ...sent, bouquetId: UNKNOWN_BOUQUET }],
    ["wrongReqId", "another connection", { ...sent, reqId: otherReqId(situation) }],
    ["wrongCuid", "another customer", { ...sent, cuid: UNKNOWN_CUSTOMER }],
  ] as const;
  for (const [name, what, body] of probes) {
    const answer = await topUp(body);
    draft[name] = answer;
    const status = await query();
    draft.statusAfterRefusals = status;
    await list();
    const doubt = doubtAfterProbe(draft, what, answer, status);
    if (doubt !== undefined) return inDoubt(draft, doubt);
  }
  return undefined;
}

/**
 * Makes the top-up with a checkoutId of the other version. If it is certainly refused, the version's own checkoutId is used
 * afterwards. @returns the result, if nothing more may be sent.
 */
async function topUpListedElsewhere(
  draft: Draft,
  { topUp, query, list }: Counter,
  { other, isListedElsewhere, cuid, plan }: Situation,
): Promise<Spending | undefined> {
  if (other === undefined || !isListedElsewhere) return undefined;
  const { service, reqId } = plan.connection;
  const listing = await other.call("get-subscription-package", { cuid, service, reqId });
  const checkoutId = readCheckoutId(listing);
  if (checkoutId === undefined || findOffer(plan, listing, other.version) === undefined) return undefined;
  const own = draft.sent;
  draft.sent = { ...own, checkoutId };
  const answer = await topUp(draft.sent);
  draft.listedElsewhere = answer;
  if (isSuccess(answer)) return undefined;
  const status = await query();
  await list();
  const doubt = doubtAfterProbe(draft, "a checkoutId of the other version", answer, status);
  if (doubt !== undefined) return inDoubt({ ...draft, topUp: answer, status }, doubt);
  draft.sent = own;
  return undefined;
}

/** Sends the top-up, and the same request again. @returns the result, if nothing more may be sent. */
async function topUpTwice(
  draft: Draft,
  { topUp, query, list }: Counter,
  { wait }: Caller,
): Promise<Spending | undefined> {
  const { listedElsewhere } = draft;
  const isMade = listedElsewhere !== undefined && isSuccess(listedElsewhere);
  const toppedUp = isMade ? listedElsewhere : await topUp(draft.sent);
  draft.topUp = toppedUp;
  draft.status = await query();
  if (!isSuccess(toppedUp)) {
    const doubt = doubtAfterTopUp(draft);
    return doubt === undefined ? draft : inDoubt(draft, doubt);
  }
  draft.isLate = await settle(draft, "status", query, wait);
  draft.after = await list();
  const repeat = await topUp(draft.sent);
  draft.repeat = repeat;
  draft.statusAfterRepeat = await query();
  await settle(draft, "statusAfterRepeat", query, wait);
  draft.afterRepeat = await list();
  const doubt = doubtAfterRepeat(draft, repeat, draft.statusAfterRepeat);
  return doubt === undefined ? undefined : inDoubt(draft, doubt);
}

/** Sends the same checkoutId in other forms, and lists after each. @returns the result, if nothing more may be sent. */
async function repeatOtherwise(
  draft: Draft,
  { topUp, query, list }: Counter,
  { other }: Situation,
): Promise<Spending | undefined> {
  const { sent, plan } = draft;
  const { udf1: _, ...bought } = sent;
  if (other !== undefined) draft.statusElsewhere = await other.call("txn-status", { checkoutId: sent["checkoutId"] });
  const repeats = [
    ["otherForm", () => topUp({ ...sent, amt: Number(plan.amt) })],
    ["otherValues", () => topUp({ ...sent, amt: otherAmount(plan.amt) })],
    ["longReference", () => topUp({ ...sent, udf1: `${REFERENCE}x` })],
    ["repeatElsewhere", () => other?.call("subscription-package-topup", bought)],
  ] as const;
  for (const [name, send] of repeats) {
    const answer = await send();
    if (answer === undefined) continue;
    draft[name] = answer;
    draft.statusAtEnd = await query();
    draft.atEnd = await list();
    const doubt = doubtAfterRepeat(draft, answer, draft.statusAtEnd);
    if (doubt !== undefined) return inDoubt(draft, doubt);
  }
  return undefined;
}

/** Sends repeats that must be refused, and lists after each. @returns the result, if nothing more may be sent. */
async function repeatRefused(draft: Draft, { topUp, query, list }: Counter): Promise<Spending | undefined> {
  const answers = new Map<RefusedRepeat, Exchange>();
  draft.refusedRepeats = answers;
  for (const [name, body, departure] of refusedRepeats(draft.sent, draft.plan)) {
    const answer = await topUp(body, departure);
    answers.set(name, answer);
    draft.statusAtEnd = await query();
    draft.atEnd = await list();
    const doubt = doubtAfterRepeat(draft, answer, draft.statusAtEnd);
    if (doubt !== undefined) return inDoubt(draft, doubt);
  }
  return undefined;
}

function inDoubt(draft: Draft, stopped: string): Spending {
  return { ...draft, stopped, isInDoubt: true };
}

/** Pauses between queries while txn-status does not show the top-up. Queries cost nothing. */
const PAUSES_MS = [250, 500, 1000, 2000];

/** Queries again until the top-up is shown. @returns whether a later query showed it. */
async function settle(
  draft: Draft,
  name: "status" | "statusAfterRepeat",
  query: Counter["query"],
  wait: Caller["wait"],
): Promise<boolean> {
  if (isSuccess(draft[name])) return false;
  for (const pauseMs of PAUSES_MS) {
    if (draft[name]?.answered !== true) return false;
    await wait(pauseMs);
    draft[name] = await query();
    if (isSuccess(draft[name])) return true;
  }
  return false;
}

/**
 * Another connection of the same customer, if there is one: a service may check that a connection exists, but not that it
 * was listed. Such a service makes the announced top-up there.
 */
function otherReqId({ plan: { connection }, connections }: Situation): string {
  const others = connections.filter(
    ({ service, reqId }) => service === connection.service && reqId !== connection.reqId,
  );
  return (others.find(({ isActive }) => isActive) ?? others[0])?.reqId ?? UNKNOWN_CONNECTION;
}

/** A small amount, so that a service that wrongly accepts it spends little. */
export function otherAmount(amt: string): string {
  return Number(amt) === 1 ? "2" : "1";
}
