import type { Bouquet } from "./bouquet.ts";
import { type Calendar, DAY_MS, type Instant } from "./calendar.ts";
import { type Connection, hasRunningBase } from "./customer.ts";
import { endWith } from "./subscription.ts";

/** One immutable revision of what a provider sells. A checkout quotes from the revision it was issued with. */
export interface Catalogue {
  readonly revision: number;
  /** In the order of the provider's file, which is the order partners see. */
  readonly bouquets: readonly Bouquet[];
}

/** What was found before of one revision, which never changes, by all that it depends on. */
interface Offers {
  /** Those that any bouquet names: a connection in another one is offered what one in none is. */
  readonly segments: ReadonlySet<string>;
  readonly byKind: Map<string, readonly Bouquet[]>;
}

/** More than a provider has kinds of connections. */
const MOST_OFFERS = 1_000;

/** Longer than any period of a bouquet. */
const MORE_THAN_A_PERIOD_MS = 4_000 * DAY_MS;

const offersOf = new WeakMap<Catalogue, Offers>();

/**
 * The bouquets that can be bought on a connection now: the same list, as long as it is the same answer.
 * Source: decisions, "Bouquets, subscriptions and the renewal rule".
 */
export function purchasableBouquets(
  catalogue: Catalogue,
  connection: Connection,
  now: Instant,
  calendar: Calendar,
): readonly Bouquet[] {
  const addOnsToo = hasRunningBase(connection, now);
  const { segments, byKind } = knownOffers(catalogue);
  const { service, segment } = connection;
  const kind = `${service} ${addOnsToo} ${segment === undefined || !segments.has(segment) ? "" : `in ${segment}`}`;
  const offer = byKind.get(kind) ?? findOffer(catalogue, connection, addOnsToo);
  if (byKind.size < MOST_OFFERS) byKind.set(kind, offer);
  const near = calendar.last - MORE_THAN_A_PERIOD_MS;
  const isNearTheLast = now > near || connection.subscriptions.some(({ end }) => end > near);
  return isNearTheLast ? offer.filter((bouquet) => hasRoomFor(bouquet, connection, now, calendar)) : offer;
}

/** There is nothing to sell to one who has it for ever, as `9999-12-31` in a provider's records says. */
function hasRoomFor(
  { plan, period }: Bouquet,
  { subscriptions }: Connection,
  now: Instant,
  calendar: Calendar,
): boolean {
  const current = subscriptions.find((subscription) => subscription.plan === plan);
  return endWith(current, now, period, calendar) <= calendar.last;
}

function knownOffers(catalogue: Catalogue): Offers {
  const known = offersOf.get(catalogue);
  if (known !== undefined) return known;
  const segments = new Set(catalogue.bouquets.flatMap((bouquet) => bouquet.segments));
  const offers = { segments, byKind: new Map<string, readonly Bouquet[]>() };
  offersOf.set(catalogue, offers);
  return offers;
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
  calendar: Calendar,
): Bouquet | undefined {
  return purchasableBouquets(catalogue, connection, now, calendar).find((bouquet) => bouquet.code === code);
}

function fitsSegment(bouquet: Bouquet, connection: Connection): boolean {
  if (bouquet.segments.length === 0) return true;
  return connection.segment !== undefined && bouquet.segments.includes(connection.segment);
}
