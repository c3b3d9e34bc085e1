import { bodyOf, describeAnswer, isSuccess } from "../exchange.ts";
import type { CodeKind, Service, Version, VersionFacts } from "../facts.ts";
import { findConnections } from "../read.ts";
import { asArray, asObject, asText, describe, type JsonObject, member } from "../shape.ts";
import { every, fails, HOLDS, skipped, type Verdict } from "../verdict.ts";
import { must, type VersionCheck } from "./check.ts";
import { envelopeChecks } from "./envelope.ts";

const CUSTOMER = "§2 Customer";
const CONNECTIONS = "§2 Connections";
const ESSENTIAL = { isEssential: true };

/** Where the connections stand in each version. */
const PLACES: Readonly<Record<Version, string>> = {
  "v1.0.1": "body.customer.connections",
  "v1.0.0": "body.connection",
};

export const CUSTOMER_CHECKS: readonly VersionCheck[] = [
  ...envelopeChecks("lookup", {
    call: "A look-up",
    code: "400aa010",
    answers: ({ lookUp }) => [lookUp],
    none: "nothing was looked up",
    needsTopUp: false,
  }),
  must(
    "customer-object",
    "§4.1 get-customer-information",
    "The body holds customer, an object.",
    judgeCustomer,
    ESSENTIAL,
  ),
  must("customer-cuid", CUSTOMER, "cuid is a string.", ofCustomer("cuid"), ESSENTIAL),
  must("customer-names", CUSTOMER, "first_name and last_name are strings.", ofCustomer("first_name", "last_name")),
  must("customer-status", CUSTOMER, "status is a string.", ofCustomer("status")),
  must(
    "connections-place",
    CONNECTIONS,
    "connections is inside customer; in v1.0.0, connection is beside it.",
    judgePlace,
    ESSENTIAL,
  ),
  must("connections-arrays", CONNECTIONS, "tv, internet and iptv are arrays.", judgeArrays, ESSENTIAL),
  must("tv-items", CONNECTIONS, "tv items have stb and status, strings.", ofItems("tv", "stb")),
  must(
    "internet-items",
    CONNECTIONS,
    "internet items have username and status, strings.",
    ofItems("internet", "username"),
  ),
  lookUpCheck("lookup-by-cuid", "cuid", "The customer is found by the customer id."),
  lookUpCheck("lookup-by-stb", "stb", "The customer is found by a set-top box number."),
  lookUpCheck("lookup-by-username", "username", "The customer is found by an internet username."),
];

function judgeCustomer({ lookUp }: VersionFacts): Verdict {
  const body = bodyOf(lookUp);
  if (body === undefined) return skipped("there is no body to look at");
  const customer = member(body, "customer");
  return asObject(customer) === undefined ? fails("body.customer, an object", describe(customer)) : HOLDS;
}

function ofCustomer(...names: readonly string[]): VersionCheck["judge"] {
  return ({ customer }) => (customer === undefined ? skipped("no customer came") : stringsIn(customer, names));
}

/** Whether all of these fields are strings. @param where put before the field's name where it is said. */
export function stringsIn(object: JsonObject | undefined, names: readonly string[], where = ""): Verdict {
  const wrong = names.find((name) => typeof member(object, name) !== "string");
  if (wrong === undefined) return HOLDS;
  return fails(`${where}${wrong}, a string`, describe(member(object, wrong)));
}

function judgePlace({ version, lookUp, customer }: VersionFacts): Verdict {
  const body = bodyOf(lookUp);
  if (body === undefined) return skipped("there is no body to look at");
  const connections = version === "v1.0.1" ? member(customer, "connections") : member(body, "connection");
  if (asObject(connections) !== undefined) return HOLDS;
  const came = findConnections(body) === undefined ? describe(connections) : "connections by another name or place";
  return fails(`${PLACES[version]}, an object`, came);
}

function judgeArrays({ lookUp }: VersionFacts): Verdict {
  const connections = findConnections(bodyOf(lookUp));
  if (connections === undefined) return skipped("no connections came");
  const wrong = ["tv", "internet", "iptv"].find((key) => asArray(member(connections, key)) === undefined);
  return wrong === undefined ? HOLDS : fails(`${wrong}, an array`, describe(member(connections, wrong)));
}

/** Judges the items of one of the arrays, as far as there are any. */
export function ofItems(service: Service, name: string): VersionCheck["judge"] {
  return ({ lookUp }) => {
    const items = asArray(member(findConnections(bodyOf(lookUp)), service)) ?? [];
    return every(items, `the customer has no ${service} connection`, (item) =>
      stringsIn(asObject(item), [name, "status"], `${service}: `),
    );
  };
}

function lookUpCheck(id: string, kind: CodeKind, sentence: string): VersionCheck {
  return must(id, "§4.1 get-customer-information", sentence, judgeLookUp(kind));
}

/** Whether a look-up by another code finds the same customer. */
export function judgeLookUp(kind: CodeKind, isDecided = false): VersionCheck["judge"] {
  return ({ otherLookUps, cuid }) => {
    const lookUps = otherLookUps.filter((lookUp) => lookUp.kind === kind);
    return every(lookUps, `the look-up showed no ${kind}`, ({ exchange, isCertain }) => {
      const found = asText(member(member(bodyOf(exchange), "customer"), "cuid"));
      if (found === cuid) return HOLDS;
      if (!isCertain && !isDecided && !isSuccess(exchange)) return skipped("Digital TV came with v1.0.1 (§9)");
      return fails(
        "the customer with the same cuid",
        isSuccess(exchange) ? "another one, or none" : describeAnswer(exchange),
      );
    });
  };
}
