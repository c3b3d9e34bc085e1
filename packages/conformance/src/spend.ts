import type { Caller } from "./caller.ts";
import { type Exchange, isSuccess } from "./exchange.ts";
import type { Plan, Spending } from "./facts.ts";
import { findOffer } from "./plan.ts";
import { readCheckoutId, txnIdOf } from "./read.ts";

/** As long as udf1 and udf2 may be (interface, section 8). */
const REFERENCE = "conformance-check-reference-01";
const UNKNOWN_BOUQUET = "no-such-bouquet";

interface Situation {
  readonly caller: Caller;
  /** The other version, if it is checked too. */
  readonly other: Caller | undefined;
  readonly cuid: string;
  readonly plan: Plan;
  readonly isTopupd: boolean;
}

type Draft = { -readonly [Key in keyof Spending]: Spending[Key] };

/** A version without a top-up, and why. */
export function notSpent(reason: string, plan?: Plan): Spending {
  return plan === undefined ? { stopped: reason } : { stopped: reason, plan };
}

/**
 * Makes the one top-up of a version, with one checkoutId. Whatever goes wrong, no second checkoutId is used, and once
 * something else than expected may have been bought nothing more is sent.
 */
export async function spend(situation: Situation): Promise<Spending> {
  const { caller, cuid, plan, isTopupd } = situation;
  const { service, reqId } = plan.connection;
  const list = () => caller.call("get-subscription-package", { cuid, service, reqId });
  const before = await list();
  const checkoutId = readCheckoutId(before);
  if (checkoutId === undefined) return notSpent("the listing before it gave no checkoutId", plan);
  if (findOffer(plan, before) === undefined) return notSpent("the bouquet or its price has changed meanwhile", plan);

  const bought = { cuid, service, reqId, checkoutId, bouquetId: plan.bouquetId, amt: plan.amt };
  const sent = caller.version === "v1.0.0" ? bought : { ...bought, udf1: REFERENCE, udf2: REFERENCE };
  const topUp = (body: object) => caller.call("subscription-package-topup", body);
  const query = (from = caller) => from.call("txn-status", { checkoutId });
  const draft: Draft = { plan, sent, before };
  if (isTopupd && (await wasTaken(draft, "wrongAmount", topUp({ ...sent, amt: otherAmount(plan.amt) })))) {
    return { ...draft, stopped: "a top-up with a wrong amount was not refused" };
  }
  if (isTopupd && (await wasTaken(draft, "wrongBouquet", topUp({ ...sent, bouquetId: UNKNOWN_BOUQUET })))) {
    return { ...draft, stopped: "a top-up of an unknown bouquet was not refused" };
  }
  if (isTopupd) draft.statusAfterRefusals = await query();

  draft.topUp = await topUp(sent);
  draft.status = await query();
  if (!isSuccess(draft.topUp)) return draft;
  draft.after = await list();
  draft.repeat = await topUp(sent);
  draft.statusAfterRepeat = await query();
  draft.afterRepeat = await list();
  if (!isTopupd) return draft;
  if (wasBoughtTwice(draft)) return { ...draft, stopped: "the checkoutId bought twice: nothing more was sent" };
  draft.otherForm = await topUp({ ...sent, amt: Number(plan.amt) });
  draft.otherValues = await topUp({ ...sent, amt: otherAmount(plan.amt) });
  draft.longReference = await topUp({ ...sent, udf1: `${REFERENCE}x` });
  if (situation.other !== undefined) {
    draft.statusElsewhere = await query(situation.other);
    draft.repeatElsewhere = await situation.other.call("subscription-package-topup", bought);
  }
  draft.statusAtEnd = await query();
  draft.atEnd = await list();
  return draft;
}

/** Keeps an answer to what should be refused. No answer, too, may mean that it was taken. */
async function wasTaken(draft: Draft, name: "wrongAmount" | "wrongBouquet", call: Promise<Exchange>): Promise<boolean> {
  const answer = await call;
  draft[name] = answer;
  return !answer.answered || isSuccess(answer);
}

function wasBoughtTwice({ topUp, repeat, status, statusAfterRepeat }: Spending): boolean {
  const repeated = txnIdOf(repeat);
  const isAnother = repeated !== undefined && repeated !== txnIdOf(topUp);
  return isAnother || txnIdOf(statusAfterRepeat) !== txnIdOf(status);
}

/** Small, so that a service that wrongly takes it spends little. */
function otherAmount(amt: string): string {
  return Number(amt) === 1 ? "2" : "1";
}
