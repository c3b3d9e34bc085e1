import { type Answer, bodyOf, envelopeOf, isSuccess, saysJson, unjudgeable } from "../exchange.ts";
import type { VersionFacts } from "../facts.ts";
import { asArray, asText, describe, member } from "../shape.ts";
import { both, decided, every, fails, HOLDS, skipped, type Verdict, type VersionCheck } from "./check.ts";
import { judgeFailure, type Reason } from "./failure.ts";

const FAILURES = "Failures and requests";
const IDENTIFIERS = "Identifiers and text";
const ENVIRONMENTS = "Environments, partners and access tokens";
const NOT_TRIED = "nothing could be tried: the customer was not found";
const RETRIES = ["fix_request", "same_request", "new_checkout", "query_status", "no"];
const WRONG_FIELDS = ["cuid", "service", "reqId"];

/** topupd's answers to wrong or unusual requests. */
export const TOPUPD_REQUEST_CHECKS: readonly VersionCheck[] = [
  decided("request-id", FAILURES, "X-Request-Id is always there; failures repeat it.", judgeRequestIds),
  decided("request-id-unique", FAILURES, "Each answer has an X-Request-Id of its own.", judgeUniqueRequestIds),
  decided("content-type-json", FAILURES, "JSON is sent as application/json.", (facts) =>
    every(
      answersOf(facts).filter(({ json }) => json !== undefined),
      "no JSON came",
      (answer) => (saysJson(answer) ? HOLDS : fails("Content-Type: application/json", "another type, or none")),
    ),
  ),
  decided(
    "failure-envelope",
    FAILURES,
    "A failure has success false, code, reason, message, retry, requestId.",
    (facts) => every(answersOf(facts).filter(isFailure), "nothing failed", judgeFailureEnvelope),
  ),
  probed("missing-token", "missing_token", "missing_token", "Without an access token, nothing is answered."),
  probed("unknown-token", "unknown_token", "unknown_token", "An access token never issued is refused."),
  probedElsewhere("missing-token-elsewhere", "missing_token", "Without an access token, nothing is listed or told."),
  probedElsewhere("unknown-token-elsewhere", "unknown_token", "With one never issued, nothing is listed or told."),
  decided(
    "bearer-challenge",
    FAILURES,
    "401 carries WWW-Authenticate: Bearer.",
    ofHeader(401, "www-authenticate", "Bearer"),
  ),
  probed("malformed-json", "malformed_json", "malformed_json", "A body that is not whole is malformed."),
  probed("duplicate-key", "duplicate_key", "malformed_json", "A body with a key twice is malformed."),
  probed(
    "duplicate-key-escaped",
    "duplicate_key_escaped",
    "malformed_json",
    "A key written in two ways, with an escape, is there twice.",
  ),
  probed("invalid-field", "invalid_field", "invalid_field", "Missing fields and wrong types are refused."),
  decided("invalid-field-all", FAILURES, "All wrong fields of a request are named at once.", judgeFields),
  probed("unknown-operation", "unknown_operation", "unknown_operation", "An operation that does not exist is refused."),
  probed("method-not-allowed", "method_not_allowed", "method_not_allowed", "Another method than POST is refused."),
  decided("allow-post", FAILURES, "405 carries Allow: POST.", ofHeader(405, "allow", "POST")),
  probed("body-too-large", "body_too_large", "body_too_large", "A body of more than 4096 bytes is refused."),
  probed(
    "unsupported-media-type",
    "unsupported_media_type",
    "unsupported_media_type",
    "A Content-Type of text/plain is refused.",
  ),
  probedElsewhere(
    "media-type-elsewhere",
    "unsupported_media_type",
    "Listings and queries in text/plain are refused too.",
  ),
  probed("customer-not-found", "customer_not_found", "customer_not_found", "A code that nobody has finds no customer."),
  probed(
    "connection-not-found",
    "connection_not_found",
    "connection_not_found",
    "A reqId that nobody has is not listed.",
  ),
  probed(
    "checkout-unknown",
    "checkout_unknown",
    "checkout_unknown",
    "A checkoutId never issued is unknown.",
    "txn-status",
  ),
  probed(
    "checkout-altered",
    "checkout_altered",
    "checkout_unknown",
    "A checkoutId that was altered is unknown.",
    "txn-status",
  ),
  decided("not-topped-up", "txn-status", "A checkoutId not used yet is not topped up.", ({ unusedStatus }) =>
    judgeFailure(unusedStatus, "not_topped_up"),
  ),
  decided("code-trimmed", IDENTIFIERS, "Blanks around the code do not matter.", ofFound("code_trimmed")),
  decided("leading-zero", IDENTIFIERS, "A leading zero makes another identifier.", judgeLeadingZero),
  decided("own-reports", ENVIRONMENTS, "A partner reads its account and its top-ups.", judgeReports),
  decided("extra-fields", FAILURES, "Fields that an operation does not know are ignored.", ofFound("extra_fields")),
];

function probed(id: string, probe: string, reason: Reason, sentence: string, heading = FAILURES): VersionCheck {
  return decided(id, heading, sentence, ({ probes, lookUp }) =>
    lookUp.answered ? judgeFailure(probes.get(probe), reason) : skipped("the service does not answer"),
  );
}

/** The same check for a listing and a query. */
function probedElsewhere(id: string, reason: Reason, sentence: string): VersionCheck {
  return decided(id, FAILURES, sentence, ({ probes }) =>
    every(["listing", "query"], "nothing could be tried", (name) =>
      judgeFailure(probes.get(`${reason} ${name}`), reason),
    ),
  );
}

function answersOf({ exchanges }: VersionFacts): readonly Answer[] {
  return exchanges.filter((exchange): exchange is Answer => exchange.answered);
}

function isFailure(answer: Answer): boolean {
  return answer.status >= 400 || member(answer.json, "success") === false;
}

function judgeRequestIds(facts: VersionFacts): Verdict {
  return every(answersOf(facts), "nothing was answered", (answer) => {
    const id = answer.headers["x-request-id"];
    const repeated = member(member(answer.json, "body"), "requestId");
    if (typeof id !== "string" || id === "")
      return fails("the header X-Request-Id", `HTTP ${answer.status} without it`);
    if (!isFailure(answer) || repeated === id) return HOLDS;
    return fails(
      "body.requestId as in X-Request-Id",
      typeof repeated === "string" ? "another string" : describe(repeated),
    );
  });
}

function judgeUniqueRequestIds(facts: VersionFacts): Verdict {
  const ids = answersOf(facts).flatMap(({ headers }) => asText(headers["x-request-id"]) ?? []);
  if (ids.length < 2) return skipped("there are no two ids to compare");
  return new Set(ids).size === ids.length ? HOLDS : fails("another X-Request-Id each time", "one that came before");
}

function judgeFailureEnvelope(answer: Answer): Verdict {
  const envelope = envelopeOf(answer);
  const body = member(envelope, "body");
  if (member(envelope, "success") !== false) return fails("success false", describe(member(envelope, "success")));
  if (typeof member(envelope, "code") !== "string") return fails("code, a string", describe(member(envelope, "code")));
  const wrong = ["reason", "message", "retry", "requestId"].find((name) => typeof member(body, name) !== "string");
  if (wrong !== undefined) return fails(`body.${wrong}, a string`, describe(member(body, wrong)));
  const retry = member(body, "retry") as string;
  return RETRIES.includes(retry) ? HOLDS : fails(`retry, one of ${RETRIES.join(", ")}`, describe(retry));
}

function ofHeader(status: number, name: string, value: string): VersionCheck["judge"] {
  return (facts) =>
    every(
      answersOf(facts).filter((answer) => answer.status === status),
      `nothing was answered with HTTP ${status}`,
      ({ headers }) => {
        const came = headers[name];
        const isRight = typeof came === "string" && came.split(/[ ,]/, 1)[0] === value;
        return isRight ? HOLDS : fails(`${name}: ${value}`, came === undefined ? "no such header" : "another value");
      },
    );
}

function judgeFields({ probes }: VersionFacts): Verdict {
  const answer = probes.get("invalid_field");
  if (answer?.answered !== true || isSuccess(answer)) return skipped("nothing was refused for its fields");
  const fields = asArray(member(member(answer.json, "body"), "fields"));
  if (fields === undefined) return fails("body.fields, an array", "none");
  const named = fields.map((entry) => member(entry, "field"));
  const missing = WRONG_FIELDS.filter((name) => !named.includes(name));
  return both(
    () => (missing.length === 0 ? HOLDS : fails(`fields with ${WRONG_FIELDS.join(", ")}`, `no ${missing.join(", ")}`)),
    () =>
      fields.every((entry) => typeof member(entry, "problem") === "string")
        ? HOLDS
        : fails("problem, a string, in each of fields", "an entry without it"),
  );
}

function ofFound(probe: string): VersionCheck["judge"] {
  return ({ probes, cuid }) => {
    const answer = probes.get(probe);
    if (answer === undefined || cuid === undefined) return skipped(NOT_TRIED);
    const found = asText(member(member(bodyOf(answer), "customer"), "cuid"));
    return found === cuid
      ? HOLDS
      : fails("the same customer", isSuccess(answer) ? "another one, or none" : "a failure");
  };
}

function judgeReports({ probes }: VersionFacts): Verdict {
  const body = (name: string) => bodyOf(probes.get(name));
  const open = unjudgeable(probes.get("account")) ?? unjudgeable(probes.get("own_top_ups"));
  if (open !== undefined || probes.size === 0) return skipped(open ?? "the service does not answer");
  const balance = member(body("account"), "balance");
  if (typeof balance !== "number") return fails("balance, a number", describe(balance));
  const items = member(body("own_top_ups"), "items");
  return asArray(items) === undefined ? fails("items, an array", describe(items)) : HOLDS;
}

function judgeLeadingZero({ probes, cuid }: VersionFacts): Verdict {
  const answer = probes.get("leading_zero");
  if (answer === undefined || cuid === undefined) return skipped(NOT_TRIED);
  if (!answer.answered) return fails("an answer", answer.problem);
  const found = asText(member(member(bodyOf(answer), "customer"), "cuid"));
  return found === cuid ? fails("not the customer of the cuid without the zero", "that customer") : HOLDS;
}
