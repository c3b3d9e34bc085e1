import { isDeepStrictEqual } from "node:util";
import { bodyOf, describeAnswer, isSuccess, unjudgeable } from "../exchange.ts";
import type { RunFacts, Version, VersionFacts } from "../facts.ts";
import { findConnections, findPackages, readResult } from "../read.ts";
import { asArray, asObject, type JsonObject, member } from "../shape.ts";
import { decidedForAll, every, fails, HOLDS, mustForAll, type RunCheck, skipped, type Verdict } from "./check.ts";

const ONE_VERSION = "only one version is checked";

/** Checks that compare the versions. */
export const VERSIONS_CHECKS: readonly RunCheck[] = [
  mustForAll(
    "txn-id-unique",
    "§2 Transaction result",
    "Two top-ups, with a checkoutId each, have two txnIds.",
    (facts) => judgePair(facts, judgeTxnIds),
    { needsTopUp: true },
  ),
  decidedForAll(
    "checkout-elsewhere",
    "Versions",
    "A checkoutId listed in one version can be used in the other.",
    judgeListedElsewhere,
    { needsTopUp: true },
  ),
  decidedForAll("versions-same-customer", "Versions", "Look-ups differ in the connections' place only.", (facts) =>
    judgePair(facts, (one, other) => compare(customerOf(one), customerOf(other), "customer and connections")),
  ),
  decidedForAll("versions-same-packages", "Versions", "Listings differ in the name of the price only.", (facts) =>
    judgePair(facts, (one, other) =>
      every(one.listings, "nothing was listed", ({ connection: { service, reqId } }) =>
        compare(packagesOf(one, service, reqId), packagesOf(other, service, reqId), `listing of ${service}`),
      ),
    ),
  ),
];

function judgePair({ versions }: RunFacts, judge: (one: VersionFacts, other: VersionFacts) => Verdict): Verdict {
  const [one, other] = versions;
  return one === undefined || other === undefined ? skipped(ONE_VERSION) : judge(one, other);
}

function compare(one: unknown, other: unknown, what: string): Verdict {
  if (one === undefined || other === undefined) return skipped("there are no two answers to compare");
  return isDeepStrictEqual(one, other) ? HOLDS : fails(`the same ${what}`, "a difference");
}

function judgeListedElsewhere({ versions }: RunFacts): Verdict {
  const answer = versions.map(({ spending }) => spending?.listedElsewhere).find((each) => each !== undefined);
  if (answer === undefined) return skipped(versions.length < 2 ? ONE_VERSION : "no top-up was made in the second one");
  const open = unjudgeable(answer);
  if (open !== undefined) return skipped(open);
  return isSuccess(answer) ? HOLDS : fails("a top-up", describeAnswer(answer));
}

/** A txnId identifies a transaction: with one txnId for two, a partner books only one. */
function judgeTxnIds(one: VersionFacts, other: VersionFacts): Verdict {
  const [first, second] = [one, other].map(({ spending }) => member(readResult(spending?.topUp), "txnId"));
  const areTwo = typeof first === "string" && typeof second === "string";
  if (!areTwo) return skipped("there are no two txnIds to compare");
  return first === second ? fails("another txnId for each top-up", "the same for two") : HOLDS;
}

/** The customer with the connections, from either place. */
function customerOf({ version, lookUp, customer }: VersionFacts): unknown {
  if (customer === undefined) return undefined;
  const { connections: _one, connection: _other, ...rest } = customer;
  return { ...rest, connections: findConnections(bodyOf(lookUp), version) };
}

/** The packages of a connection, with the price under one name. */
function packagesOf({ version, listings }: VersionFacts, service: string, reqId: string): unknown {
  const listing = listings.find(({ connection }) => connection.service === service && connection.reqId === reqId);
  const packages = findPackages(listing?.exchange, listing?.connection.service ?? "tv");
  if (packages === undefined) return undefined;
  return {
    ...packages,
    bouquets: asArray(member(packages, "bouquets"))?.map((bouquet) => renamePrice(bouquet, version)),
  };
}

function renamePrice(bouquet: unknown, version: Version): unknown {
  const object: JsonObject | undefined = asObject(bouquet);
  if (object === undefined) return bouquet;
  const { price, amt, ...rest } = object;
  return { ...rest, price: version === "v1.0.0" ? (amt ?? price) : (price ?? amt) };
}
