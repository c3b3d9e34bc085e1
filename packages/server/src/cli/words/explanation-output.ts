import type { Subscription } from "../../domain/subscription.ts";
import type { ExplainedPlan, Explanation } from "../../operations/explain-subscription.ts";
import { isoTime } from "../output.ts";
import type { Runtime } from "../runtime.ts";
import { titleOf, wordsOf } from "./step-words.ts";
import { subscriptionJson } from "./subscription-output.ts";
import { printable, shellWord, wrap } from "./text.ts";
import type { Showing } from "./transaction-output.ts";

/** For a terminal: each plan with its end, and each of its grants in words. */
export function printExplanation(
  runtime: Runtime,
  { connection, customer, plans, hasImported }: Explanation,
  showing: Showing,
): void {
  const { service, reqId, cuid, environment } = connection;
  const name = customer === undefined ? "" : `, ${customer.firstName} ${customer.lastName}`;
  runtime.stdout(printable(`${service} ${reqId} of customer ${cuid}${name} (${environment})`));
  runtime.stdout("\n");
  if (plans.length === 0) runtime.stdout("\nThere never was a subscription.\n");
  for (const { plan, subscription, steps } of plans) {
    runtime.stdout(`\n${printable(plan)}: ${endWords(subscription, showing, runtime)}\n`);
    for (const step of steps)
      runtime.stdout(`\n${wrap(titleOf(step, showing), "  ")}${wrap(wordsOf(step, showing), "    ")}`);
  }
  if (hasImported) runtime.stdout(`\n${wrap(printable(importedWords(connection)), "")}`);
  runtime.stdout(`\nTimes are those of ${showing.calendar.timeZone}.\n`);
}

function importedWords({ cuid, environment }: Explanation["connection"]): string {
  const trial = environment === "trial" ? " --environment trial" : "";
  const look = `topupd transaction list --cuid ${shellWord(cuid)}${trial}`;
  return `Top-ups of this connection were recorded at another topupd too: their time is in the dates that were imported. See ${look}`;
}

function endWords(subscription: Subscription | undefined, { calendar }: Showing, { clock }: Runtime): string {
  if (subscription === undefined) return "no subscription any more";
  return `${subscription.end > clock() ? "ends" : "ended"} ${calendar.format(subscription.end)}`;
}

export function explanationJson({ connection, customer, plans, hasImported }: Explanation, showing: Showing) {
  const { environment, cuid, service, reqId } = connection;
  const profile = customer && { first_name: customer.firstName, last_name: customer.lastName };
  return {
    environment,
    cuid,
    ...profile,
    service,
    reqId,
    hasImported,
    plans: plans.map((plan) => planJson(plan, showing)),
  };
}

function planJson({ plan, subscription, steps }: ExplainedPlan, showing: Showing) {
  return {
    plan,
    subscription: subscriptionJson(subscription, showing),
    steps: steps.map((step) => ({
      kind: step.grant.kind,
      effect: step.effect,
      at: isoTime(step.grant.at),
      txnId: step.transaction?.txnId ?? null,
      before: subscriptionJson(step.before, showing),
      after: subscriptionJson(step.after, showing),
      words: wordsOf(step, showing),
    })),
  };
}
