import type { Bouquet } from "./bouquet.ts";
import type { Instant } from "./calendar.ts";
import { type Connection, hasRunningBase } from "./customer.ts";

/** One immutable revision of what a provider sells. A checkout quotes from the revision it was issued with. */
export interface Catalogue {
  readonly revision: number;
  /** In the order of the provider's file, which is the order partners see. */
  readonly bouquets: readonly Bouquet[];
}

/** More than a provider has kinds of connections. */
const MOST_OFFERS = 1_000;

/** What was found before, by all that it depends on: a revision never changes, so neither does its offer. */
const offers = new WeakMap<Catalogue, Map<string, readonly Bouquet[]>>();

/**
 * The bouquets that can be bought on a connection now: the same list, as long as it is the same answer.
 * Source: decisions, "Bouquets, subscriptions and the renewal rule".
 */
export function purchasableBouquets(catalogue: Catalogue, connection: Connection, now: Instant): readonly Bouquet[] {
  const addOnsToo = hasRunningBase(connection, now);
  const key = `${connection.service} ${addOnsToo} ${connection.segment === undefined ? "" : `in ${connection.segment}`}`;
  const known = offers.get(catalogue) ?? new Map<string, readonly Bouquet[]>();
  if (known.size === 0) offers.set(catalogue, known);
  const offer = known.get(key) ?? findOffer(catalogue, connection, addOnsToo);
  if (known.size < MOST_OFFERS) known.set(key, offer);
  return offer;
}

function findOffer(catalogue: Catalogue, connection: Connection, addOnsToo: boolean): Bouquet[] {
  return catalogue.bouquets.filter(
    (bouquet) =>
      bouquet.service === connection.service && fitsSegment(bouquet, connection) && (addOnsToo || !bouquet.addOn),
  );
}

export function findPurchasable(
  catalogue: Catalogue,
  connection: Connection,
  code: string,
  now: Instant,
): Bouquet | undefined {
  return purchasableBouquets(catalogue, connection, now).find((bouquet) => bouquet.code === code);
}

function fitsSegment(bouquet: Bouquet, connection: Connection): boolean {
  if (bouquet.segments.length === 0) return true;
  return connection.segment !== undefined && bouquet.segments.includes(connection.segment);
}
