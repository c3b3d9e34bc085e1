import type { Bouquet } from "./bouquet.ts";
import type { Instant } from "./calendar.ts";
import { type Connection, hasRunningBase } from "./customer.ts";

/** One immutable revision of what a provider sells. A checkout quotes from the revision it was issued with. */
export interface Catalogue {
  readonly revision: number;
  /** In the order of the provider's file, which is the order partners see. */
  readonly bouquets: readonly Bouquet[];
}

/**
 * The bouquets that can be bought on a connection now.
 * Source: decisions, "Bouquets, subscriptions and the renewal rule".
 */
export function purchasableBouquets(catalogue: Catalogue, connection: Connection, now: Instant): Bouquet[] {
  const addOnsToo = hasRunningBase(connection, now);
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
