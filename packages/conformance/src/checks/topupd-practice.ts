import { isDeepStrictEqual } from "node:util";
import {
  CUT_OFF,
  describeAnswer,
  type Exchange,
  envelopeOf,
  isHtmlPage,
  isSuccess,
  TIME_LIMIT,
  unjudgeable,
} from "../exchange.ts";
import type { Fault, FaultCalls } from "../facts.ts";
import { RETRY_AFTER_SECONDS } from "../practice.ts";
import { hasGrown } from "../reach.ts";
import { readResult } from "../read.ts";
import { both, decided, every, fails, HOLDS, skipped, type Verdict, type VersionCheck } from "./check.ts";
import { judgeFailure } from "./failure.ts";

/** topupd's practice customer: faults that partners can rely on. */
export const TOPUPD_PRACTICE_CHECKS: readonly VersionCheck[] = [
  practised("practice-fault", "A top-up of a practice connection gets the answer of its fault.", ({ fault, answers }) =>
    every(answers, "nothing was sent", (answer) => judgeAnswer(fault, answer)),
  ),
  practised("practice-status", "txn-status then says whether the top-up is recorded.", ({ fault, status }) =>
    judgeStatus(fault.status, status),
  ),
  practised("practice-repeat", "The same request again gets the real answer, of the same top-up.", judgeRepeat),
  practised("practice-records", "After that, one top-up is on record; if refused, none.", judgeRecords),
];

function practised(id: string, sentence: string, judge: (calls: FaultCalls) => Verdict): VersionCheck {
  return decided(
    id,
    "Environments, partners and access tokens",
    sentence,
    ({ practice }) =>
      every(practice?.calls ?? [], practice?.stopped ?? "nothing was practised", (calls) =>
        named(calls, openOf(calls) ?? judge(calls)),
      ),
    { needsTopUp: true },
  );
}

/** Skips a connection that a limit of the service has reached. */
function openOf({ fault, answers, repeat }: FaultCalls): Verdict | undefined {
  if (fault.answer === "rate_limited") return undefined;
  const open = [...answers, repeat].map(unjudgeable).find((reason) => reason !== undefined);
  return open === undefined ? undefined : skipped(open);
}

/** The verdict with the name of the fault. */
function named({ fault: { name } }: FaultCalls, verdict: Verdict): Verdict {
  return "expected" in verdict ? { ...verdict, expected: `${name}: ${verdict.expected}` } : verdict;
}

function judgeAnswer({ answer }: Fault, exchange: Exchange): Verdict {
  if (answer === "page") {
    const isPage = exchange.answered && exchange.status === BAD_GATEWAY && isHtmlPage(exchange);
    return isPage ? HOLDS : fails("HTTP 502 with an HTML page", describeAnswer(exchange));
  }
  if (answer === "nothing" || answer === "half") {
    const expected = answer === "half" ? CUT_OFF : "the connection ends without an answer";
    return isLost(exchange, answer) ? HOLDS : fails(expected, describeAnswer(exchange));
  }
  const isBusy = answer === "unavailable" || answer === "rate_limited";
  return both(
    () => judgeFailure(exchange, answer),
    () => (isBusy ? judgeRetryAfter(exchange) : HOLDS),
  );
}

const BAD_GATEWAY = 502;

/** A proxy between kit and service may answer in place of the closed connection. */
function isLost(exchange: Exchange, how: "nothing" | "half"): boolean {
  if (exchange.answered) return exchange.status === BAD_GATEWAY && envelopeOf(exchange) === undefined;
  const { connected, problem } = exchange;
  return connected && !problem.startsWith(TIME_LIMIT) && (problem === CUT_OFF) === (how === "half");
}

function judgeRetryAfter(exchange: Exchange): Verdict {
  const came = exchange.answered ? exchange.headers["retry-after"] : undefined;
  if (came === String(RETRY_AFTER_SECONDS)) return HOLDS;
  return fails(`Retry-After: ${RETRY_AFTER_SECONDS}`, came === undefined ? "no such header" : "another value");
}

function judgeStatus(status: Fault["status"], exchange: Exchange): Verdict {
  if (status !== "recorded") return judgeFailure(exchange, status);
  return isSuccess(exchange) ? HOLDS : fails("the recorded result", describeAnswer(exchange));
}

function judgeRepeat({ fault, status, repeat, statusAtEnd }: FaultCalls): Verdict {
  if (fault.isRefused) return judgeAnswer(fault, repeat);
  if (!repeat.answered || repeat.status !== 200 || !isSuccess(repeat))
    return fails("HTTP 200 with the result", describeAnswer(repeat));
  const isRecorded = fault.status === "recorded";
  const isMarked = repeat.headers["idempotent-replayed"] === "true";
  return both(
    () =>
      isMarked === isRecorded
        ? HOLDS
        : fails(isRecorded ? "Idempotent-Replayed: true" : "no Idempotent-Replayed", "the opposite"),
    () =>
      isDeepStrictEqual(readResult(repeat), readResult(status) ?? readResult(statusAtEnd))
        ? HOLDS
        : fails("the result of txn-status", "another one"),
  );
}

function judgeRecords({ fault, status, statusAtEnd, listings: [before, between, after] }: FaultCalls): Verdict {
  const isRecorded = fault.status === "recorded";
  const grown = [hasGrown(before, between, "internet"), hasGrown(between, after, "internet")];
  if (grown.includes(undefined)) return skipped("a listing cannot be read");
  const due = [isRecorded, !isRecorded && !fault.isRefused];
  return both(
    () => judgeStatus(fault.isRefused ? fault.status : "recorded", statusAtEnd),
    () =>
      readResult(status) === undefined || isDeepStrictEqual(readResult(statusAtEnd), readResult(status))
        ? HOLDS
        : fails("the first result of txn-status", "another one"),
    () =>
      isDeepStrictEqual(grown, due)
        ? HOLDS
        : fails("a subscription that grows with its record only", "one that grows otherwise, or not"),
  );
}
