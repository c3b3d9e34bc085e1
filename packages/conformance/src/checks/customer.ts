import { bodyOf, describeAnswer, type Exchange, isSuccess, unjudgeable } from "../exchange.ts";
import type { CodeKind, LookUp, Service, Version, VersionFacts } from "../facts.ts";
import { findConnections } from "../read.ts";
import { asArray, asObject, asText, describe, type JsonObject, member } from "../shape.ts";
import { every, fails, HOLDS, must, skipped, type Verdict, type VersionCheck } from "./check.ts";
import { envelopeChecks } from "./envelope.ts";

const CUSTOMER = "§2 Customer";
const CONNECTIONS = "§2 Connections";
const ESSENTIAL = { isEssential: true };
const NO_BODY = "there is no body to look at";

/** The place of the connections in each version. */
const PLACES: Readonly<Record<Version, string>> = {
  "v1.0.1": "body.customer.connections",
  "v1.0.0": "body.connection",
};

export const CUSTOMER_CHECKS: readonly VersionCheck[] = [
  ...envelopeChecks("lookup", {
    call: "A look-up",
    code: "400aa010",
    answers: lookUpsOf,
    none: "nothing was looked up",
    needsTopUp: false,
  }),
  must(
    "customer-object",
    "§4.1 get-customer-information",
    "The body holds customer, an object.",
    ofLookUps(judgeCustomer),
    ESSENTIAL,
  ),
  must("customer-cuid", CUSTOMER, "cuid is a string.", ofCustomer("cuid"), ESSENTIAL),
  must("customer-names", CUSTOMER, "first_name and last_name are strings.", ofCustomer("first_name", "last_name")),
  must("customer-status", CUSTOMER, "status is a string.", ofCustomer("status")),
  must(
    "connections-place",
    CONNECTIONS,
    "connections is inside customer; in v1.0.0, connection is beside it.",
    ofLookUps(judgePlace),
    ESSENTIAL,
  ),
  must(
    "connections-arrays",
    CONNECTIONS,
    "tv, internet and iptv are arrays; v1.0.0 may lack tv.",
    ofLookUps(judgeArrays),
    ESSENTIAL,
  ),
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

/** The look-up, and the successful ones by another code. */
function lookUpsOf({ lookUp, otherLookUps }: VersionFacts): readonly Exchange[] {
  return [lookUp, ...otherLookUps.map(({ exchange }) => exchange).filter(isSuccess)];
}

function ofLookUps(judge: (body: JsonObject, version: Version) => Verdict): VersionCheck["judge"] {
  return (facts) =>
    every(lookUpsOf(facts), NO_BODY, (exchange) => {
      const body = bodyOf(exchange);
      return body === undefined ? skipped(NO_BODY) : judge(body, facts.version);
    });
}

function judgeCustomer(body: JsonObject): Verdict {
  const customer = member(body, "customer");
  return asObject(customer) === undefined ? fails("body.customer, an object", describe(customer)) : HOLDS;
}

function ofCustomer(...names: readonly string[]): VersionCheck["judge"] {
  return ofLookUps((body) => {
    const customer = asObject(member(body, "customer"));
    return customer === undefined ? skipped("no customer came") : stringsIn(customer, names);
  });
}

/** Whether all these fields are strings. @param where prefix of the field's name in the message. */
export function stringsIn(object: JsonObject | undefined, names: readonly string[], where = ""): Verdict {
  const wrong = names.find((name) => typeof member(object, name) !== "string");
  if (wrong === undefined) return HOLDS;
  return fails(`${where}${wrong}, a string`, describe(member(object, wrong)));
}

function judgePlace(body: JsonObject, version: Version): Verdict {
  const isNew = version === "v1.0.1";
  const connections = isNew ? member(member(body, "customer"), "connections") : member(body, "connection");
  if (asObject(connections) !== undefined) return HOLDS;
  const isElsewhere = findConnections(body, version) !== undefined;
  return fails(
    `${PLACES[version]}, an object`,
    isElsewhere ? "connections by another name or place" : describe(connections),
  );
}

/** v1.0.0 may lack tv: digital TV came with v1.0.1. */
function judgeArrays(body: JsonObject, version: Version): Verdict {
  const connections = findConnections(body, version);
  if (connections === undefined) return skipped("no connections came");
  const isFree = (key: string) => key === "tv" && version === "v1.0.0" && member(connections, key) === undefined;
  const wrong = ["tv", "internet", "iptv"].find(
    (key) => !isFree(key) && asArray(member(connections, key)) === undefined,
  );
  return wrong === undefined ? HOLDS : fails(`${wrong}, an array`, describe(member(connections, wrong)));
}

/** Judges the items of one of the arrays. */
export function ofItems(service: Service, name: string): VersionCheck["judge"] {
  return (facts) => {
    const items = lookUpsOf(facts).flatMap(
      (exchange) => asArray(member(findConnections(bodyOf(exchange), facts.version), service)) ?? [],
    );
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
    return every(lookUps, `the look-up showed no ${kind}`, (lookUp) => judgeOtherLookUp(lookUp, cuid, isDecided));
  };
}

function judgeOtherLookUp({ exchange, isCertain }: LookUp, cuid: string | undefined, isDecided: boolean): Verdict {
  const found = asText(member(member(bodyOf(exchange), "customer"), "cuid"));
  const open = unjudgeable(exchange);
  if (open !== undefined) return skipped(open);
  if (found === cuid) return HOLDS;
  if (isAmbiguous(exchange)) return skipped("the service finds more than one customer by it");
  if (isSuccess(exchange)) return fails("the customer with the same cuid", "another one, or none");
  if (!isCertain && !isDecided) return skipped("Digital TV came with v1.0.1 (§9)");
  return fails("the customer with the same cuid", describeAnswer(exchange));
}

/** A code of several customers may be refused: the interface promises no unique codes. */
function isAmbiguous(exchange: Exchange): boolean {
  if (!exchange.answered || isSuccess(exchange)) return false;
  const body = member(exchange.json, "body");
  const words = [
    member(exchange.json, "code"),
    member(exchange.json, "message"),
    member(body, "reason"),
    member(body, "message"),
  ];
  return exchange.status === 409 || words.some((word) => typeof word === "string" && /ambiguous/i.test(word));
}
