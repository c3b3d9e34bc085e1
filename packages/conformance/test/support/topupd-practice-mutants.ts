import type { PracticeChange } from "./fake-practice.ts";
import type { FakeOptions } from "./fake-provider.ts";
import type { Answer } from "./fake-rules.ts";
import { fail, LISTING, type Mutant, QUERY, TOP_UP } from "./mutant.ts";

type Fault = NonNullable<PracticeChange[string]>;

/** Mutants that break the faults of topupd's practice customer. */
export const TOPUPD_PRACTICE_MUTANTS: readonly Mutant[] = [
  faulty("a fault that does not happen", "lost-after", { times: 0 }, ["practice-fault"]),
  faulty("half an answer that is none", "half-answer", { answer: "nothing" }, ["practice-fault"]),
  faulty("no answer that is half of one", "lost-after", { answer: "half" }, ["practice-fault"]),
  faulty("a page that is a failure", "proxy-error", { answer: "unavailable" }, ["practice-fault"]),
  faulty("a limit that is a failure", "limited", { answer: "unavailable" }, ["practice-fault"]),
  onCall("a busy answer without Retry-After", "busy-after", TOP_UP, 1, ["practice-fault"], ({ headers }) => {
    delete headers["retry-after"];
  }),
  onCall("a query that tells late", "proxy-error", QUERY, 1, ["practice-status"], notToppedUp),
  onCall("a query that promises late", "expired", QUERY, 1, ["practice-status"], notToppedUp),
  onCall("a query that promises, and takes it back", "expired", QUERY, 2, ["practice-records"], notToppedUp),
  faulty("a fault that happens twice", "busy-after", { times: 2 }, ["practice-repeat"]),
  faulty("a fault that never ends", "busy-before", { times: 9 }, ["practice-repeat", "practice-records"]),
  faulty("a lost answer that records nothing", "lost-after", { records: false }, [
    "practice-status",
    "practice-repeat",
    "practice-records",
  ]),
  faulty("a limited top-up that is recorded", "limited", { records: true }, [
    "practice-status",
    "practice-repeat",
    "practice-records",
  ]),
  onCall("a repetition without its mark", "half-answer", TOP_UP, 2, ["practice-repeat"], ({ headers }) => {
    delete headers["idempotent-replayed"];
  }),
  onCall("a first record with the mark of a repetition", "lost-before", TOP_UP, 2, ["practice-repeat"], (answer) => {
    answer.headers["idempotent-replayed"] = "true";
  }),
  onCall("a repetition with another transaction", "lost-after", TOP_UP, 2, ["practice-repeat"], ({ json }) => {
    json.body.result.txnId = "TXN99999999999999999999999";
  }),
  onCall("another transaction in the end", "proxy-error", QUERY, 2, ["practice-records"], ({ json }) => {
    json.body.result.txnId = "TXN99999999999999999999999";
  }),
  onCall("a repetition that extends", "half-answer", LISTING, 3, ["practice-records"], extend),
  onCall("a refusal that extends", "withdrawn", LISTING, 2, ["practice-records"], extend),
  faulty("a withdrawn bouquet that is sold", "withdrawn", { times: 0 }, [
    "practice-fault",
    "practice-status",
    "practice-repeat",
    "practice-records",
  ]),
  faulty("a refusal for money that is not final", "short", { isFinal: false }, ["practice-status", "practice-records"]),
  faulty("a refused checkoutId that is sold later", "day-limit", { times: 1 }, ["practice-repeat", "practice-records"]),
  faulty("a withdrawn bouquet that is sold later", "withdrawn", { times: 1 }, ["practice-repeat", "practice-records"]),
];

function faulty(name: string, reqId: string, fault: Fault, caught: readonly string[]): Mutant {
  return { name, caught, change: { practice: { [reqId]: fault } } };
}

/** Changes the answer to one call of a connection. */
function onCall(
  name: string,
  reqId: string,
  operation: string,
  nth: number,
  caught: readonly string[],
  change: (answer: Answer) => void,
): Mutant {
  const remember = (): FakeOptions => {
    const reqIds = new Map<unknown, unknown>();
    let calls = 0;
    return {
      practice: {},
      rewrite: (answer, { operation: called, fields }) => {
        if (called === TOP_UP) reqIds.set(fields["checkoutId"], fields["reqId"]);
        if (called !== operation || (fields["reqId"] ?? reqIds.get(fields["checkoutId"])) !== reqId) return;
        calls += 1;
        if (calls === nth) change(answer);
      },
    };
  };
  return { name, caught, change: remember };
}

function notToppedUp(answer: Answer): void {
  fail(answer, "not_topped_up", "400ab107", 404, "query_status");
}

function extend({ json }: Answer): void {
  json.body.internet.subscriptions[0].enddate = "2031-01-01 00:00:00";
}
