import type { Connection, Listing, Plan, Version, VersionFacts } from "./facts.ts";
import type { ConformanceOptions, Purchase } from "./options.ts";
import { findPackages, priceOf } from "./read.ts";
import { asArray, asText, member } from "./shape.ts";

/** Chooses the caller's bouquet, or the cheapest one of the first active connection. */
export function planTopUp(
  { version, listings }: Pick<VersionFacts, "version" | "listings">,
  purchase: Purchase = {},
): Plan | string {
  const { service, reqId, bouquetId } = purchase;
  const isChosen = ({ connection }: Listing) =>
    (service === undefined ? connection.service !== "iptv" : connection.service === service) &&
    (reqId === undefined ? connection.isActive || service !== undefined : connection.reqId === reqId);
  const candidates = listings.filter(isChosen);
  for (const { connection, exchange } of candidates) {
    const offers = offersOf({ connection, exchange }, version).filter(
      (offer) => bouquetId === undefined || offer.bouquetId === bouquetId,
    );
    const cheapest = offers.toSorted((a, b) => Number(a.amt) - Number(b.amt))[0];
    if (cheapest !== undefined) return cheapest;
  }
  if (candidates.length === 0) return "no active connection was listed: choose one with --service and --req-id";
  return bouquetId === undefined ? "no bouquet with a price is listed" : "the chosen bouquet is not listed";
}

/** The same purchase in a newer listing of its connection; undefined if it is no longer offered at that price. */
export function findOffer(plan: Plan, exchange: Listing["exchange"], version: Version): Plan | undefined {
  const offers = offersOf({ connection: plan.connection, exchange }, version);
  return offers.find(({ bouquetId, amt }) => bouquetId === plan.bouquetId && amt === plan.amt);
}

function offersOf({ connection, exchange }: Pick<Listing, "connection" | "exchange">, version: Version): Plan[] {
  const bouquets = asArray(member(findPackages(exchange, connection.service), "bouquets")) ?? [];
  return bouquets.flatMap((bouquet) => {
    const [bouquetId, amt] = [asText(member(bouquet, "code")), priceOf(bouquet, version)];
    if (bouquetId === undefined || amt === undefined) return [];
    return [{ connection, bouquetId, bouquetName: asText(member(bouquet, "name")) ?? "", amt }];
  });
}

/** Most top-up requests of a version with the profile, including the one that buys. */
const PROFILE_REQUESTS = 20;

/**
 * The cost of the run, in words. A username may be a phone number, so only its end is shown.
 *
 * @param personal texts that must not be shown: the service may have put them into codes or prices.
 */
export function announce(
  plans: readonly (readonly [version: string, plan: Plan])[],
  personal: readonly string[],
  { profile, expiry }: Pick<ConformanceOptions, "profile" | "expiry">,
): string[] {
  if (plans.length === 0) return ["no top-up will be made"];
  const lines = plans.map(
    ([version, plan]) => `  ${version}: ${describePurchase(plan, personal)}, for ${endOf(plan.connection)}`,
  );
  const repeats =
    profile === "topupd"
      ? [
          `  with the profile, up to ${PROFILE_REQUESTS} top-up requests are sent in each version:`,
          "  one of them may buy, and the others must not",
        ]
      : [
          "  each is then sent again, which must not top up again; at the end, three that",
          "  had better buy nothing: a wrong amount, another customer, no access token",
        ];
  const late = expiry === true ? ["  after five minutes, an expired checkoutId is sent, which must not buy"] : [];
  return [`top-ups that will be made, and paid for: ${plans.length}`, ...lines, ...repeats, ...late];
}

/** Code and price. */
export function describePurchase({ bouquetId, amt }: Plan, personal: readonly string[]): string {
  const [code, price] = [bouquetId, amt].map((text) => (isPersonal(text, personal) ? "(withheld)" : plain(text)));
  return `${code} at ${price}`;
}

/** Shorter texts may occur in a longer one by chance. */
const TELLING_LENGTH = 4;

function isPersonal(text: string, personal: readonly string[]): boolean {
  const shown = text.toLowerCase();
  return personal
    .map((secret) => secret.toLowerCase())
    .some((secret) => (secret.length < TELLING_LENGTH ? shown === secret : shown.includes(secret)));
}

function endOf({ service, reqId }: Connection): string {
  const shown = Math.min(3, Math.floor(reqId.length / 2));
  return `${service} ...${plain(reqId.slice(reqId.length - shown))}`;
}

/** A service's text for the terminal: short and without control characters. */
function plain(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, "?").slice(0, 40);
}
