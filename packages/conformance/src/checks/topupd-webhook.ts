import type { Delivery, RunFacts, WebhookFacts } from "../facts.ts";
import { readResult } from "../read.ts";
import { asObject, asText, describe, isTimestamp, member } from "../shape.ts";
import { headerOf, isSigned } from "../webhook.ts";
import { both, decidedForAll, every, fails, HOLDS, type RunCheck, skipped, type Verdict } from "./check.ts";

const KINDS = ["recorded", "reversed"] as const;
const FACT = ["data", "id", "timestamp", "type"];
const RESULT = ["orderId", "txnId", "cuid", "service", "reqId", "bouquetId", "amt", "txnDate"];
const DATA = [...RESULT, "commission", "status", "reversedAt", "udf1", "udf2"].toSorted();

/** topupd's webhook for a partner, about a top-up that is reversed. */
export const TOPUPD_WEBHOOK_CHECKS: readonly RunCheck[] = [
  received("webhook-arrives", "The webhook tells of a top-up within a minute, then of its reversal.", judgeOrder),
  received(
    "webhook-signed",
    "Each fact is signed as Standard Webhooks says, over its body.",
    ({ secret, deliveries }) =>
      every(deliveries, "nothing arrived", (delivery) =>
        isSigned(delivery, secret) ? HOLDS : fails("webhook-signature of this secret", "another one, or none"),
      ),
  ),
  received("webhook-fact", "Each fact has its id, and shows the top-up as the reports do.", (facts) =>
    every(facts.deliveries, "nothing arrived", (delivery) => judgeFact(delivery, facts)),
  ),
];

function received(id: string, sentence: string, judge: (facts: WebhookFacts) => Verdict): RunCheck {
  const judgeAll = ({ webhook }: RunFacts) => {
    if (webhook === undefined) return skipped("needs --webhook-port");
    return webhook.stopped === undefined ? judge(webhook) : skipped(webhook.stopped);
  };
  return decidedForAll(id, "Environments, partners and access tokens", sentence, judgeAll, { needsTopUp: true });
}

/** A fact can come again, so only the first of each type counts. */
function judgeOrder({ deliveries }: WebhookFacts): Verdict {
  const types = [...new Set(deliveries.map(({ fact }) => kindOf(fact)))];
  if (types.length === KINDS.length && KINDS.every((kind, index) => types[index] === kind)) return HOLDS;
  return fails("recorded, then reversed", types.map((kind) => kind ?? "another type").join(", then ") || "nothing");
}

function kindOf(fact: unknown): (typeof KINDS)[number] | undefined {
  return KINDS.find((kind) => member(fact, "type") === `topup.${kind}`);
}

function judgeFact({ headers, fact }: Delivery, { topUp }: WebhookFacts): Verdict {
  const [kind, data, result] = [kindOf(fact), member(fact, "data"), readResult(topUp)];
  const isReversed = kind === "reversed";
  const equal = (name: string, came: unknown, wanted: unknown) => () =>
    came === wanted ? HOLDS : fails(`${kind}: ${name} of the top-up`, describe(came));
  return both(
    hasOnly(fact, FACT),
    hasOnly(data, DATA),
    equal("id", member(fact, "id"), `${kind}_${asText(member(result, "txnId"))}`),
    equal("webhook-id", headerOf(headers, "id"), member(fact, "id")),
    ...RESULT.map((name) => equal(name, member(data, name), member(result, name))),
    equal("status", member(data, "status"), isReversed ? "reversed" : "success"),
    () => {
      const reversedAt = member(data, "reversedAt");
      if (isReversed ? isTimestamp(reversedAt) : reversedAt === null) return HOLDS;
      return fails(`${kind}: reversedAt ${isReversed ? "with a time" : "null"}`, describe(reversedAt));
    },
    () => {
      const at = member(fact, "timestamp");
      const isTime = typeof at === "string" && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(at) && !Number.isNaN(Date.parse(at));
      return isTime ? HOLDS : fails("timestamp: a time in UTC", describe(at));
    },
  );
}

function hasOnly(value: unknown, names: readonly string[]): () => Verdict {
  const came = Object.keys(asObject(value) ?? {}).toSorted();
  return () => (came.join() === names.join() ? HOLDS : fails(`an object of ${names.join(", ")}`, describe(value)));
}
