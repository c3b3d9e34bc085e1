import { type Answer, type Behaviour, createRules, type Rules } from "./fake-rules.ts";

/* topupd's practice customer: the fake's own table of faults, and what they do to top-ups and queries. */

type FakeRefusal = "bouquet_unavailable" | "insufficient_balance" | "limit_reached";

interface FakeFault {
  readonly answer: "nothing" | "half" | "page" | "unavailable" | "rate_limited" | FakeRefusal | "";
  /** How many requests of a checkoutId get the answer. */
  readonly times: number;
  readonly records?: boolean;
  /** Whether its checkoutIds are expired when they are listed. */
  readonly isExpired?: boolean;
  /** Whether txn-status says after it that there will never be a top-up. */
  readonly isFinal?: boolean;
}

/** Faults that differ; undefined takes the connection away. */
export type PracticeChange = Readonly<Record<string, Partial<FakeFault> | undefined>>;

const FAULTS: Readonly<Record<string, FakeFault>> = {
  "lost-before": { answer: "nothing", times: 1 },
  "lost-after": { answer: "nothing", times: 1, records: true },
  "half-answer": { answer: "half", times: 1, records: true },
  "busy-before": { answer: "unavailable", times: 2 },
  "busy-after": { answer: "unavailable", times: 1, records: true },
  "proxy-error": { answer: "page", times: 1, records: true },
  limited: { answer: "rate_limited", times: 1 },
  expired: { answer: "", times: 0, isExpired: true },
  withdrawn: { answer: "bouquet_unavailable", times: Number.POSITIVE_INFINITY },
  short: { answer: "insufficient_balance", times: Number.POSITIVE_INFINITY, isFinal: true },
  "day-limit": { answer: "limit_reached", times: Number.POSITIVE_INFINITY, isFinal: true },
  reversed: { answer: "", times: 0 },
};

/** The rules, with the faults of the practice customer. */
export function withFaults({ practice, ...behaviour }: Behaviour & { readonly practice?: PracticeChange }): Rules {
  if (practice === undefined) return createRules(behaviour);
  const names = Object.keys(FAULTS).filter((name) => !(name in practice) || practice[name] !== undefined);
  const rules = createRules({ ...behaviour, practiceNames: names });
  const connections = new Map<unknown, string>();
  const sent = new Map<unknown, number>();
  const run: Rules["run"] = (version, operation, fields) => {
    const real = () => rules.run(version, operation, fields);
    const reqId = connections.get(fields["checkoutId"]);
    const name = reqId ?? String(fields["reqId"]);
    const found = FAULTS[name];
    if (found === undefined) return real();
    const fault = { ...found, ...practice[name] };
    if (operation === "get-subscription-package") {
      const answer = real();
      connections.set(answer.json.body.checkoutId, name);
      return answer;
    }
    const isTopUp = operation === "subscription-package-topup";
    if (fault.isExpired === true) return rules.refuse(isTopUp ? "checkout_expired" : "never_topped_up");
    if (!isTopUp && fault.isFinal === true) return rules.refuse("never_topped_up");
    const calls = (sent.get(fields["checkoutId"]) ?? 0) + 1;
    if (!isTopUp || calls > fault.times) return real();
    sent.set(fields["checkoutId"], calls);
    return answerOf(fault, fault.records === true ? real() : undefined, rules);
  };
  return { ...rules, run };
}

function answerOf({ answer }: FakeFault, real: Answer | undefined, { refuse }: Rules): Answer {
  if (answer === "nothing") return { ...refuse("unavailable"), cut: "before" };
  if (answer === "half") return { ...(real ?? refuse("unavailable")), cut: "within" };
  if (answer === "page") return { status: 502, headers: { "content-type": "text/html" }, json: undefined };
  const refusal = refuse(answer);
  if (answer === "unavailable" || answer === "rate_limited") refusal.headers["retry-after"] = "2";
  return refusal;
}
