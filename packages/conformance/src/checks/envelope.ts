import { describeAnswer, type Exchange, envelopeOf, isSuccess, unjudgeable } from "../exchange.ts";
import type { VersionFacts } from "../facts.ts";
import { asObject, describe, describeCode, member } from "../shape.ts";
import { every, fails, HOLDS, must, skipped, type VersionCheck } from "./check.ts";

interface Subject {
  /** The call in words, with its article. */
  readonly call: string;
  readonly code: string;
  /** The answers that the interface promises to be successes. */
  readonly answers: (facts: VersionFacts) => readonly Exchange[];
  readonly none: string;
  readonly needsTopUp: boolean;
}

const NO_SUCCESS = "the call did not succeed";

/** The four checks of the envelope for one operation. @param prefix of their ids. */
export function envelopeChecks(prefix: string, { call, code, answers, none, needsTopUp }: Subject): VersionCheck[] {
  const traits = { isEssential: true, needsTopUp };
  return [
    must(
      `${prefix}-json`,
      "§2 Resources and their fields",
      `${call} is answered with a JSON object.`,
      (facts) =>
        every(answers(facts), none, (exchange) => {
          const open = unjudgeable(exchange);
          if (open !== undefined) return skipped(open);
          return envelopeOf(exchange) === undefined ? fails("a JSON object", describeAnswer(exchange)) : HOLDS;
        }),
      traits,
    ),
    must(
      `${prefix}-success`,
      "§2 Response envelope",
      `${call} succeeds: success is true, a boolean.`,
      (facts) =>
        every(answers(facts), none, (exchange) => {
          const open = unjudgeable(exchange);
          if (open !== undefined) return skipped(open);
          const envelope = envelopeOf(exchange);
          if (envelope === undefined) return skipped("no JSON object came");
          if (member(envelope, "success") === true) return HOLDS;
          return fails("success true", describeAnswer(exchange));
        }),
      traits,
    ),
    must(
      `${prefix}-code`,
      "§7 Errors",
      `${call} that succeeds has the code ${code}.`,
      (facts) =>
        every(answers(facts), none, (exchange) => {
          if (!isSuccess(exchange)) return skipped(NO_SUCCESS);
          const came = member(envelopeOf(exchange), "code");
          return came === code ? HOLDS : fails(`the string "${code}"`, describeCode(came));
        }),
      traits,
    ),
    must(
      `${prefix}-body`,
      "§2 Response envelope",
      `${call} that succeeds has a body, an object.`,
      (facts) =>
        every(answers(facts), none, (exchange) => {
          if (!isSuccess(exchange)) return skipped(NO_SUCCESS);
          const body = member(envelopeOf(exchange), "body");
          return asObject(body) === undefined ? fails("an object", describe(body)) : HOLDS;
        }),
      traits,
    ),
  ];
}
