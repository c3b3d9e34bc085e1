import { bodyOf, isSuccess } from "../exchange.ts";
import type { Listing, VersionFacts } from "../facts.ts";
import { findConnections, findPackages, listingsOf, nameOf, readCheckoutId } from "../read.ts";
import { asArray, asText, describe, member } from "../shape.ts";
import { both, decided, every, fails, HOLDS, skipped, type Verdict, type VersionCheck } from "./check.ts";
import { judgeLookUp, ofItems } from "./customer.ts";
import { PERIODS } from "./extent.ts";
import { entriesOf, LISTING_DEMANDS, onBody } from "./listing.ts";

const CUSTOMERS = "Customers and connections";
const BOUQUETS = "Bouquets and the catalogue";
const PROFILE = ["first_name", "last_name", "status"];
const NO_LISTING = "nothing was listed";

/** topupd's decisions on customers, connections and bouquets. */
export const TOPUPD_LISTING_CHECKS: readonly VersionCheck[] = [
  decided("status-words", CUSTOMERS, "Each status is active or inactive.", judgeStatuses),
  decided(
    "listing-as-looked-up",
    CUSTOMERS,
    "A listing tells of customer and connection what the look-up does.",
    judgeAsLookedUp,
  ),
  decided("iptv-items", CUSTOMERS, "iptv items have username and status, strings.", ofItems("iptv", "username")),
  decided(
    "lookup-by-iptv-username",
    CUSTOMERS,
    "The customer is found by an IPTV username.",
    judgeLookUp("iptv username", true),
  ),
  decided("iptv-listing", CUSTOMERS, "An IPTV listing looks like one of internet, under its own key.", judgeIptv),
  decided("services-in-both", "Versions", "All services can be listed in both versions.", judgeServices),
  decided("own-names-only", "Versions", "Neither version shows the other's names as well.", judgeOwnNames),
  decided("checkout-id-form", "Checkouts", "A checkoutId has 1 to 64 URL-safe characters.", (facts) =>
    every(listingsOf(facts), NO_LISTING, judgeCheckoutId),
  ),
  decided("bouquet-one-period", BOUQUETS, "A bouquet's name holds exactly one known period.", ofBouquets(judgePeriod)),
  decided("bouquet-price-positive", BOUQUETS, "A bouquet's price is more than zero.", ofBouquets(judgePrice)),
  decided("bouquet-codes-unique", BOUQUETS, "A bouquet's code is unique within its service.", ofListings(judgeCodes)),
  decided(
    "add-on-needs-base",
    BOUQUETS,
    "Add-ons are offered beside a base subscription only.",
    ofListings(judgeAddOns),
  ),
];

function judgeStatuses({ version, lookUp, customer }: VersionFacts): Verdict {
  if (customer === undefined) return skipped("no customer came");
  const connections = findConnections(bodyOf(lookUp), version);
  const items = ["tv", "internet", "iptv"].flatMap((key) => asArray(member(connections, key)) ?? []);
  return every([customer, ...items], "no customer came", (item) => {
    const status = member(item, "status");
    return status === "active" || status === "inactive" ? HOLDS : fails("active or inactive", describe(status));
  });
}

/** A listing of the wrong customer tops up the wrong customer. Only earlier listings count: a top-up may activate a connection. */
function judgeAsLookedUp({ version, lookUp, customer, listings }: VersionFacts): Verdict {
  const connections = findConnections(bodyOf(lookUp), version);
  return every(listings, NO_LISTING, ({ exchange, connection: { service, reqId } }) => {
    const shown = member(bodyOf(exchange), "customer");
    const item = asArray(member(connections, service))?.find((each) => asText(member(each, nameOf(service))) === reqId);
    const status = asText(member(member(findPackages(exchange, service), "connection"), "status"));
    const other = PROFILE.find((name) => differ(member(shown, name), member(customer, name)));
    return both(
      () => (other === undefined ? HOLDS : fails(`customer.${other} as in the look-up`, "another string")),
      () =>
        differ(status, member(item, "status"))
          ? fails(`${service}.connection.status as in the look-up`, "another string")
          : HOLDS,
    );
  });
}

/** Other checks report missing values and wrong types. */
function differ(one: unknown, other: unknown): boolean {
  return typeof one === "string" && typeof other === "string" && one !== other;
}

function judgeIptv(facts: VersionFacts): Verdict {
  const listings = listingsOf(facts).filter(({ connection }) => connection.service === "iptv");
  return every(listings, "the customer has no iptv connection", (listing) => {
    const judges = LISTING_DEMANDS.map(([, , judge]) => () => {
      const verdict = onBody(listing, facts, judge);
      return verdict.outcome === "skipped" ? HOLDS : verdict;
    });
    const isRefused = !isSuccess(listing.exchange);
    if (isRefused && !listing.connection.isActive) return skipped("the iptv connection is not active");
    return isRefused ? fails("a listing", "a failure") : both(...judges);
  });
}

function judgeServices({ listings, customer }: VersionFacts): Verdict {
  const promised = listings.filter(({ connection }) => connection.isActive && member(customer, "status") === "active");
  return every(promised, "the customer has no active connection", ({ exchange, connection }) =>
    isSuccess(exchange) ? HOLDS : fails(`a listing of ${connection.service}`, "a failure"),
  );
}

/** A program for the other version would not notice that it reads the wrong one. */
function judgeOwnNames(facts: VersionFacts): Verdict {
  const isNew = facts.version === "v1.0.1";
  const body = bodyOf(facts.lookUp);
  const [place, name] = isNew ? ["connection", "amt"] : ["customer.connections", "price"];
  const other = isNew ? member(body, "connection") : member(member(body, "customer"), "connections");
  const bouquets = listingsOf(facts).flatMap(({ exchange, connection }) =>
    entriesOf(exchange, connection.service, "bouquets"),
  );
  if (body === undefined) return skipped("no customer came");
  return both(
    () => (other === undefined ? HOLDS : fails(`no body.${place}`, "it is there")),
    () => (bouquets.every((each) => member(each, name) === undefined) ? HOLDS : fails(`no ${name}`, "it is there")),
  );
}

function judgeCheckoutId({ exchange }: Listing): Verdict {
  const checkoutId = readCheckoutId(exchange);
  if (checkoutId === undefined) return skipped("no checkoutId came");
  return /^[A-Za-z0-9_-]{1,64}$/.test(checkoutId) ? HOLDS : fails("1 to 64 of A-Z a-z 0-9 - _", describe(checkoutId));
}

function ofListings(
  judge: (bouquets: readonly unknown[], subscriptions: readonly unknown[]) => Verdict,
): VersionCheck["judge"] {
  return (facts) =>
    every(listingsOf(facts), NO_LISTING, ({ exchange, connection: { service } }) =>
      judge(entriesOf(exchange, service, "bouquets"), entriesOf(exchange, service, "subscriptions")),
    );
}

function ofBouquets(judge: (bouquet: unknown) => Verdict): VersionCheck["judge"] {
  return ofListings((bouquets) => every(bouquets, "no bouquets were listed", judge));
}

function judgePeriod(bouquet: unknown): Verdict {
  const periods = asText(member(bouquet, "name"))?.match(PERIODS) ?? [];
  return periods.length === 1 ? HOLDS : fails("one period, such as (MONTHLY)", `a name with ${periods.length} periods`);
}

function judgePrice(bouquet: unknown): Verdict {
  const price = member(bouquet, "price") ?? member(bouquet, "amt");
  if (price === undefined) return skipped("no price came");
  return Number(price) > 0 ? HOLDS : fails("more than zero", "zero or less");
}

function judgeCodes(bouquets: readonly unknown[]): Verdict {
  const codes = bouquets.flatMap((bouquet) => asText(member(bouquet, "code")) ?? []);
  return new Set(codes).size === codes.length ? HOLDS : fails("each code once", "a code twice");
}

/** Listed subscriptions may have ended, so only a listing without any is a proof. */
function judgeAddOns(bouquets: readonly unknown[], subscriptions: readonly unknown[]): Verdict {
  const isAddOn = (entry: unknown) => asText(member(entry, "name"))?.includes("[AddOn]") === true;
  if (!bouquets.some(isAddOn)) return skipped("no add-on was offered");
  return subscriptions.some((subscription) => !isAddOn(subscription))
    ? HOLDS
    : fails("a base subscription beside it", "an add-on without one");
}
