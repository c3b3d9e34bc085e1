import { bodyOf, describeAnswer, type Exchange, isSuccess, unjudgeable } from "../exchange.ts";
import type { Listing, Service, VersionFacts } from "../facts.ts";
import { checkoutIdsOf, findPackages, listingsOf, nameOf, readResult, txnIdOf } from "../read.ts";
import { asArray, asObject, describe, isTimestamp, type JsonObject, member } from "../shape.ts";
import { both, every, fails, HOLDS, must, skipped, type Verdict, type VersionCheck } from "./check.ts";
import { stringsIn } from "./customer.ts";
import { envelopeChecks } from "./envelope.ts";

const PACKAGES = "§2 Package listing";
const ESSENTIAL = { isEssential: true };
const NO_LISTING = "nothing was listed: the customer has no tv or internet connection";
/** Upper-case text in parentheses. The interface names no periods and no script, and some scripts have one case. */
const PERIOD = /\([^()\p{Ll}]*[\p{Lu}\p{Lo}][^()\p{Ll}]*\)/u;

export type ListingJudge = (listing: Listing, facts: VersionFacts) => Verdict;

/** The rules for every listing. For iptv the interface shows no form; topupd uses the same one. */
export const LISTING_DEMANDS: readonly (readonly [id: string, sentence: string, judge: ListingJudge])[] = [
  ["listing-checkout-id", "checkoutId is a string.", judgeCheckoutId],
  ["listing-customer", "customer has the cuid asked for, first_name, last_name, status, strings.", judgeCustomer],
  ["listing-key", "The packages stand under the service's name.", judgeKey],
  ["listing-connection", "connection has the stb or username asked for, and status, strings.", judgeConnection],
  ["listing-subscriptions", "subscriptions is an array.", ofArray("subscriptions")],
  ["subscription-fields", "A subscription has code and name, strings.", ofEntries("subscriptions", judgeNames)],
  ["subscription-dates", "startdate and enddate are YYYY-MM-DD HH:MM:SS.", ofEntries("subscriptions", judgeDates)],
  ["listing-bouquets", "bouquets is an array.", ofArray("bouquets")],
  ["bouquet-fields", "A bouquet has code and name, strings.", ofEntries("bouquets", judgeNames)],
  ["bouquet-price", "A bouquet's price (v1.0.0: amt) is a JSON number.", ofEntries("bouquets", judgePrice)],
  ["bouquet-period", "A name has its period in upper-case parentheses.", ofEntries("bouquets", judgePeriod)],
];
const ESSENTIAL_DEMANDS = ["listing-checkout-id", "listing-key", "listing-subscriptions", "listing-bouquets"];

export const LISTING_CHECKS: readonly VersionCheck[] = [
  ...envelopeChecks("listing", {
    call: "A listing",
    code: "400aa010",
    answers: (facts) => judged(facts).map(({ exchange }) => exchange),
    none: NO_LISTING,
    needsTopUp: false,
  }),
  ...LISTING_DEMANDS.map(([id, sentence, judge]) =>
    must(
      id,
      PACKAGES,
      sentence,
      (facts) => every(judged(facts), NO_LISTING, (listing) => onBody(listing, facts, judge)),
      { isEssential: ESSENTIAL_DEMANDS.includes(id) },
    ),
  ),
  must("checkout-unique", PACKAGES, "Each listing gives another checkoutId.", judgeUnique, ESSENTIAL),
  must("txn-status-unused", "§3 States and transitions", "For an unused checkoutId, no top-up is told.", judgeUnused),
];

/** The listings that the interface promises, and any other successful one. */
function judged(facts: VersionFacts): readonly Listing[] {
  return listingsOf(facts).filter(
    ({ connection, isCertain, exchange }) => connection.service !== "iptv" && (isCertain || isSuccess(exchange)),
  );
}

export function onBody(listing: Listing, facts: VersionFacts, judge: ListingJudge): Verdict {
  return bodyOf(listing.exchange) === undefined ? skipped("no listing came to look at") : judge(listing, facts);
}

function judgeCheckoutId({ exchange }: Listing): Verdict {
  const checkoutId = member(bodyOf(exchange), "checkoutId");
  return typeof checkoutId === "string" && checkoutId !== ""
    ? HOLDS
    : fails("checkoutId, a string", describe(checkoutId));
}

function judgeCustomer({ exchange }: Listing, { cuid }: VersionFacts): Verdict {
  const customer = asObject(member(bodyOf(exchange), "customer"));
  return both(
    () =>
      customer === undefined
        ? fails("body.customer, an object", describe(member(bodyOf(exchange), "customer")))
        : HOLDS,
    () => stringsIn(customer, ["cuid", "first_name", "last_name", "status"], "customer."),
    () => (member(customer, "cuid") === cuid ? HOLDS : fails("customer.cuid as in the request", "another string")),
  );
}

function judgeKey({ exchange, connection: { service } }: Listing): Verdict {
  const packages = member(bodyOf(exchange), service);
  return asObject(packages) === undefined ? fails(`body.${service}, an object`, describe(bodyOf(exchange))) : HOLDS;
}

function judgeConnection({ exchange, connection: { service, reqId } }: Listing): Verdict {
  const packages = findPackages(exchange, service);
  if (packages === undefined) return skipped("no packages came");
  const connection = asObject(member(packages, "connection"));
  const name = nameOf(service);
  return both(
    () => stringsIn(connection, [name, "status"], `${service}.connection.`),
    () =>
      member(connection, name) === reqId
        ? HOLDS
        : fails(`${service}.connection.${name} as in the request`, "another string"),
  );
}

function ofArray(key: string): ListingJudge {
  return ({ exchange, connection: { service } }) => {
    const packages = findPackages(exchange, service);
    if (packages === undefined) return skipped("no packages came");
    const array = member(packages, key);
    return asArray(array) === undefined ? fails(`${service}.${key}, an array`, describe(array)) : HOLDS;
  };
}

type EntryJudge = (entry: JsonObject | undefined, version: VersionFacts["version"], where: string) => Verdict;

function ofEntries(key: "subscriptions" | "bouquets", judge: EntryJudge): ListingJudge {
  return ({ exchange, connection }, { version }) => {
    const where = `${connection.service}.${key}: `;
    return every(entriesOf(exchange, connection.service, key), `no ${key} were listed`, (entry) =>
      judge(asObject(entry), version, where),
    );
  };
}

export function entriesOf(exchange: Exchange, service: Service, key: "subscriptions" | "bouquets"): readonly unknown[] {
  return asArray(member(findPackages(exchange, service), key)) ?? [];
}

function judgeNames(entry: JsonObject | undefined, _version: string, where: string): Verdict {
  return stringsIn(entry, ["code", "name"], where);
}

function judgeDates(entry: JsonObject | undefined, _version: string, where: string): Verdict {
  const wrong = ["startdate", "enddate"].find((name) => !isTimestamp(member(entry, name)));
  return wrong === undefined ? HOLDS : fails(`${where}${wrong}, YYYY-MM-DD HH:MM:SS`, describe(member(entry, wrong)));
}

function judgePrice(entry: JsonObject | undefined, version: VersionFacts["version"], where: string): Verdict {
  const name = version === "v1.0.1" ? "price" : "amt";
  const price = member(entry, name);
  return typeof price === "number" ? HOLDS : fails(`${where}${name}, a number`, describe(price ?? entry));
}

function judgePeriod(entry: JsonObject | undefined, _version: string, where: string): Verdict {
  const name = member(entry, "name");
  if (typeof name !== "string") return skipped("the bouquet has no name");
  return PERIOD.test(name) ? HOLDS : fails(`${where}name with a period such as (MONTHLY)`, describe(name));
}

function judgeUnique(facts: VersionFacts): Verdict {
  const ids = checkoutIdsOf(facts);
  if (ids.length < 2) return skipped("fewer than two checkoutIds came");
  const isUnique =
    new Set([...ids, ...facts.earlierCheckoutIds]).size === ids.length + new Set(facts.earlierCheckoutIds).size;
  return isUnique ? HOLDS : fails("another checkoutId with each listing", "one that came before");
}

/**
 * The interface does not show this failure; it may be empty. But a transaction must not come, with any status: only a used
 * checkoutId has a result.
 */
function judgeUnused({ unusedStatus, unusedCheckoutId }: VersionFacts): Verdict {
  if (unusedStatus === undefined) return skipped("no checkoutId came");
  const open = unjudgeable(unusedStatus);
  if (open !== undefined) return skipped(open);
  const isJson = unusedStatus.answered && (unusedStatus.json !== undefined || unusedStatus.sizeBytes === 0);
  if (!isJson) return fails("an answer in JSON", describeAnswer(unusedStatus));
  const [orderId, txnId] = [member(readResult(unusedStatus), "orderId"), txnIdOf(unusedStatus)];
  const isTold = orderId === unusedCheckoutId || (txnId !== undefined && txnId !== "");
  return isTold ? fails("no transaction", "a result of one") : HOLDS;
}
