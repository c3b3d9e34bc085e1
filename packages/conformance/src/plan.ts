import type { Connection, Listing, Plan, VersionFacts } from "./facts.ts";
import type { Purchase } from "./options.ts";
import { findPackages, priceOf } from "./read.ts";
import { asArray, asText, member } from "./shape.ts";

/** Chooses what to buy: the cheapest bouquet of the first active connection, unless the caller names another. */
export function planTopUp({ listings }: VersionFacts, purchase: Purchase = {}): Plan | string {
  const { service, reqId, bouquetId } = purchase;
  const isChosen = ({ connection }: Listing) =>
    (service === undefined ? connection.service !== "iptv" : connection.service === service) &&
    (reqId === undefined ? connection.isActive || service !== undefined : connection.reqId === reqId);
  const candidates = listings.filter(isChosen);
  for (const { connection, exchange } of candidates) {
    const offers = offersOf({ connection, exchange }).filter(
      (offer) => bouquetId === undefined || offer.bouquetId === bouquetId,
    );
    const cheapest = offers.toSorted((a, b) => Number(a.amt) - Number(b.amt))[0];
    if (cheapest !== undefined) return cheapest;
  }
  if (candidates.length === 0) return "no active connection was listed: choose one with --service and --req-id";
  return bouquetId === undefined ? "no bouquet with a price is listed" : "the chosen bouquet is not listed";
}

/** The same purchase in a newer listing of its connection; undefined if it is no longer offered at that price. */
export function findOffer(plan: Plan, exchange: Listing["exchange"]): Plan | undefined {
  const offers = offersOf({ connection: plan.connection, exchange });
  return offers.find(({ bouquetId, amt }) => bouquetId === plan.bouquetId && amt === plan.amt);
}

function offersOf({ connection, exchange }: Pick<Listing, "connection" | "exchange">): Plan[] {
  const bouquets = asArray(member(findPackages(exchange, connection.service), "bouquets")) ?? [];
  return bouquets.flatMap((bouquet) => {
    const [bouquetId, amt] = [asText(member(bouquet, "code")), priceOf(bouquet)];
    if (bouquetId === undefined || amt === undefined || !(Number(amt) >= 0)) return [];
    return [{ connection, bouquetId, bouquetName: asText(member(bouquet, "name")) ?? "", amt }];
  });
}

/** What will be spent, in words. Usernames may be somebody's number, so only the end of one is shown. */
export function announce(plans: readonly (readonly [version: string, plan: Plan])[]): string[] {
  if (plans.length === 0) return ["no top-up will be made"];
  const lines = plans.map(
    ([version, { connection, bouquetId, amt }]) =>
      `  ${version}: ${plain(bouquetId)} at ${plain(amt)}, for ${endOf(connection)}`,
  );
  return [
    `top-ups that will be made, and paid for: ${plans.length}`,
    ...lines,
    "  each is then sent again, which must not top up again",
  ];
}

function endOf({ service, reqId }: Connection): string {
  const shown = Math.min(3, Math.floor(reqId.length / 2));
  return `${service} ...${plain(reqId.slice(reqId.length - shown))}`;
}

/** A service's text on somebody's terminal: no control characters, and not without end. */
function plain(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, "?").slice(0, 40);
}
