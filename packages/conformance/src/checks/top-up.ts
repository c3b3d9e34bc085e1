import { bodyOf, type Exchange, isSuccess, unjudgeable } from "../exchange.ts";
import type { Spending, VersionFacts } from "../facts.ts";
import { hasGrown } from "../reach.ts";
import { claimsTopUp, readResult, txnIdOf } from "../read.ts";
import { asObject, asText, describe, isTimestamp, type JsonObject, member } from "../shape.ts";
import { every, fails, HOLDS, must, skipped, type Verdict, type VersionCheck } from "./check.ts";
import { stringsIn } from "./customer.ts";
import { envelopeChecks } from "./envelope.ts";

const RESULT = "§2 Transaction result";
const TRAITS = { needsTopUp: true };
const ESSENTIAL = { needsTopUp: true, isEssential: true };
const NONE = "no top-up was made";

/** Fields that identify a transaction. The status may change: the interface does not show its transitions. */
const LASTING = ["orderId", "txnId", "cuid", "reqId", "bouquetId", "amt", "txnDate", "service"];

export const TOP_UP_CHECKS: readonly VersionCheck[] = [
  ...envelopeChecks("topup", {
    call: "A top-up",
    code: "400ab001",
    answers: ({ spending }) => [...present(spending?.topUp), ...claimOf(spending)],
    none: NONE,
    needsTopUp: true,
  }),
  ...envelopeChecks("txn-status", {
    call: "A query",
    code: "400ab001",
    // The interface does not say what txn-status shows for a failed top-up.
    answers: ({ spending }) => (isSuccess(spending?.topUp) ? queries(spending) : []),
    none: "no top-up has succeeded",
    needsTopUp: true,
  }),
  must("result-object", RESULT, "The body of both holds result, an object.", judgeResult, ESSENTIAL),
  must("result-order-id", RESULT, "orderId is the checkoutId that was used.", ofResult(judgeOrderId), ESSENTIAL),
  must("result-txn-id", RESULT, "txnId is a string.", ofResult(judgeTxnId), ESSENTIAL),
  must("result-values", RESULT, "cuid, reqId, bouquetId and service are as sent.", ofResult(judgeValues), TRAITS),
  must("result-amt", RESULT, "amt is a JSON number, the price that was paid.", ofResult(judgeAmount), TRAITS),
  must("result-txn-date", RESULT, "txnDate is YYYY-MM-DD HH:MM:SS.", ofResult(judgeDate), TRAITS),
  must(
    "result-status",
    RESULT,
    "status is a string.",
    ofResult((result) => stringsIn(result, ["status"])),
    TRAITS,
  ),
  must("txn-status-same", "§4.4 txn-status", "txn-status tells of the same top-up.", judgeSame, ESSENTIAL),
  must(
    "checkout-one-time",
    "§1 What the service does",
    "A checkoutId sent twice keeps its one transaction.",
    judgeOneTime,
    ESSENTIAL,
  ),
  must(
    "checkout-extends-once",
    "§3 States and transitions",
    "Sent twice, a checkoutId extends only once.",
    judgeExtendedOnce,
    TRAITS,
  ),
];

function present(exchange: Exchange | undefined): readonly Exchange[] {
  return exchange === undefined ? [] : [exchange];
}

/** The query after the top-up, and the successful one after its repeat. */
function queries(spending: Spending | undefined): readonly Exchange[] {
  return [...present(spending?.status), ...present(spending?.statusAfterRepeat).filter(isSuccess)];
}

/** The answer to the repeat, if it claims a top-up; then it must name it. */
function claimOf(spending: Spending | undefined): readonly Exchange[] {
  return claimsTopUp(spending?.repeat, spending?.topUp) ? present(spending?.repeat) : [];
}

/** The successes of the top-up, its repeat and the query after it, with their names. */
function successes(spending: Spending | undefined): readonly (readonly [where: string, exchange: Exchange])[] {
  if (spending?.topUp === undefined || !isSuccess(spending.topUp)) return [];
  const status = isSuccess(spending.status) ? present(spending.status) : [];
  return [
    ["top-up: ", spending.topUp],
    ...claimOf(spending).map((exchange) => ["repeat: ", exchange] as const),
    ...status.map((exchange) => ["txn-status: ", exchange] as const),
  ];
}

function judgeResult({ spending }: VersionFacts): Verdict {
  return every(successes(spending), NONE, ([where, exchange]) => {
    const body = bodyOf(exchange);
    if (body === undefined) return skipped("there is no body to look at");
    const result = member(body, "result");
    return asObject(result) === undefined ? fails(`${where}result, an object`, describe(result)) : HOLDS;
  });
}

type ResultJudge = (result: JsonObject, sent: Readonly<Record<string, string>>, where: string) => Verdict;

function ofResult(judge: ResultJudge): VersionCheck["judge"] {
  return ({ spending }) =>
    every(successes(spending), NONE, ([where, exchange]) => {
      const result = readResult(exchange);
      return result === undefined ? skipped("no result came") : judge(result, spending?.sent ?? {}, where);
    });
}

function judgeOrderId(result: JsonObject, sent: Readonly<Record<string, string>>, where: string): Verdict {
  const orderId = member(result, "orderId");
  if (orderId === sent["checkoutId"]) return HOLDS;
  return fails(`${where}orderId, the checkoutId`, typeof orderId === "string" ? "another string" : describe(orderId));
}

function judgeTxnId(result: JsonObject, _sent: unknown, where: string): Verdict {
  const txnId = member(result, "txnId");
  return typeof txnId === "string" && txnId !== "" ? HOLDS : fails(`${where}txnId, a string`, describe(txnId));
}

function judgeValues(result: JsonObject, sent: Readonly<Record<string, string>>, where: string): Verdict {
  const wrong = ["cuid", "reqId", "bouquetId", "service"].find((name) => member(result, name) !== sent[name]);
  if (wrong === undefined) return HOLDS;
  const came = member(result, wrong);
  return fails(`${where}${wrong} as it was sent`, typeof came === "string" ? "another string" : describe(came));
}

function judgeAmount(result: JsonObject, sent: Readonly<Record<string, string>>, where: string): Verdict {
  const amt = member(result, "amt");
  if (typeof amt !== "number") return fails(`${where}amt, a number`, describe(amt));
  return amt === Number(sent["amt"]) ? HOLDS : fails(`${where}amt, the price of the bouquet`, "another number");
}

function judgeDate(result: JsonObject, _sent: unknown, where: string): Verdict {
  const date = member(result, "txnDate");
  return isTimestamp(date) ? HOLDS : fails(`${where}txnDate, YYYY-MM-DD HH:MM:SS`, describe(date));
}

function judgeSame({ spending }: VersionFacts): Verdict {
  const [toppedUp, queried] = [readResult(spending?.topUp), readResult(spending?.status)];
  if (toppedUp === undefined || queried === undefined) return skipped("there are no two results to compare");
  const other = firstDifference(toppedUp, queried);
  return other === undefined ? HOLDS : fails(`${other} as the top-up said it`, describe(member(queried, other)));
}

/** Values are compared as text. Other checks judge their types. */
function firstDifference(one: JsonObject, other: JsonObject): string | undefined {
  return LASTING.find((name) => asText(member(one, name)) !== asText(member(other, name)));
}

/** The interface does not show the answer to a repeat. But a checkoutId is one-time, so no other transaction may follow. */
function judgeOneTime({ spending }: VersionFacts): Verdict {
  const { repeat, topUp, status, statusAfterRepeat } = spending ?? {};
  const first = readResult(status);
  if (repeat === undefined || first === undefined || txnIdOf(status) === undefined) {
    return skipped("there is no transaction to send again");
  }
  const repeated = txnIdOf(repeat);
  if (claimsTopUp(repeat, topUp) && repeated !== undefined && repeated !== txnIdOf(topUp)) {
    return fails("the txnId of the first, or a failure", "a success with another txnId");
  }
  const open = unjudgeable(statusAfterRepeat);
  if (open !== undefined) return skipped(open);
  if (statusAfterRepeat?.answered !== true) return skipped("txn-status was not answered after it");
  const again = readResult(statusAfterRepeat);
  if (again === undefined) return fails("txn-status with the result as before", "no result");
  const other = firstDifference(first, again);
  return other === undefined ? HOLDS : fails(`txn-status with ${other} as before`, describe(member(again, other)));
}

/**
 * Only a second growth counts: a service may show the first extension late. The last listing comes at the end, because a
 * second extension may be late too.
 */
function judgeExtendedOnce({ spending }: VersionFacts): Verdict {
  if (spending?.plan === undefined || spending.repeat === undefined) return skipped("nothing was sent twice");
  const { before, after, afterRepeat, atEnd = afterRepeat, late, plan } = spending;
  const grown = (from: Exchange | undefined, to: Exchange | undefined) => hasGrown(from, to, plan.connection.service);
  const growths = [grown(before, after), grown(after, afterRepeat), grown(atEnd, late)];
  if (growths.filter((isGrown) => isGrown === true).length > 1) {
    return fails("one extension", "a subscription that grew more than once");
  }
  if (growths.includes(undefined)) return skipped("a listing cannot be read");
  return growths[0] === true ? HOLDS : skipped("the listing did not show what the first request did");
}
