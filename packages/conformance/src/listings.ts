import type { Listing, VersionFacts } from "./facts.ts";
import { readCheckoutId } from "./read.ts";

/** All listings of a version: those that were only looked at, and those around the top-up. */
export function listingsOf({ listings, spending }: VersionFacts): readonly Listing[] {
  const connection = spending?.plan?.connection;
  if (connection === undefined) return listings;
  const isCertain = listings.some((listing) => listing.connection === connection && listing.isCertain);
  return [...listings, ...(spending?.listings ?? []).map((exchange) => ({ connection, isCertain, exchange }))];
}

export function checkoutIdsOf(facts: VersionFacts): string[] {
  return listingsOf(facts).flatMap(({ exchange }) => readCheckoutId(exchange) ?? []);
}
