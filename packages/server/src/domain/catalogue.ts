import type { Bouquet, Service } from "./bouquet.ts";
import { type Connection, runningBases } from "./customer.ts";
import { isRunning } from "./subscription.ts";
import { LAST_WALL_TIME, plus, type WallTime } from "./wall-time.ts";

/** One immutable revision of what a provider sells. A checkout quotes from the revision it was issued with. */
export interface Catalogue {
  readonly revision: number;
  /** In the order of the provider's file, which is the order partners see. */
  readonly bouquets: readonly Bouquet[];
}

/** How many base plans a connection of each service may have running (ledger's page, section 4). */
export type BasePlans = Readonly<Record<Service, "one" | "many">>;

export const DEFAULT_BASE_PLANS: BasePlans = { tv: "many", internet: "one", iptv: "many" };

/** The lists that were found before of one revision, which never changes. */
interface Offers {
  /** Those that any bouquet names: a connection in another one is offered what one in none is. */
  readonly segments: ReadonlySet<string>;
  readonly byKind: Map<string, readonly Bouquet[]>;
}

/** More than a provider has kinds of connections. */
const MOST_OFFERS = 1_000;

/** No period of a bouquet leads from before this to beyond the last time of the wire. */
const NEAR_THE_LAST: WallTime = "9980-01-01 00:00:00";

const offersOf = new WeakMap<Catalogue, Offers>();

/**
 * The bouquets that can be bought on a connection now: the same list, as long as it is the same answer.
 * Source: decisions, "Bouquets, subscriptions and the renewal rule"; ledger's page, section 4.
 */
export function purchasableBouquets(
  catalogue: Catalogue,
  connection: Connection,
  now: WallTime,
  basePlans: BasePlans,
): readonly Bouquet[] {
  const bases = runningBases(connection, now);
  const { segments, byKind } = knownOffers(catalogue);
  const { service, segment } = connection;
  const only = basePlans[service] === "one" ? bases : [];
  const kind = [service, bases.length > 0, segment !== undefined && segments.has(segment) ? segment : "", ...only].join(
    "\n",
  );
  const offer = byKind.get(kind) ?? findOffer(catalogue, connection, bases.length > 0, only);
  if (byKind.size < MOST_OFFERS) byKind.set(kind, offer);
  const isNearTheLast = connection.ledgers.some(({ subscription }) => (subscription?.end ?? "") > NEAR_THE_LAST);
  return isNearTheLast ? offer.filter((bouquet) => hasRoomFor(bouquet, connection, now)) : offer;
}

/** There is nothing to sell to one who has it for ever, as `9999-12-31` in a provider's records says. */
function hasRoomFor({ plan, period }: Bouquet, { ledgers }: Connection, now: WallTime): boolean {
  const run = ledgers.find((ledger) => ledger.plan === plan)?.subscription;
  return !isRunning(run, now) || plus(run.end, period) <= LAST_WALL_TIME;
}

function knownOffers(catalogue: Catalogue): Offers {
  const known = offersOf.get(catalogue);
  if (known !== undefined) return known;
  const segments = new Set(catalogue.bouquets.flatMap((bouquet) => bouquet.segments));
  const offers = { segments, byKind: new Map<string, readonly Bouquet[]>() };
  offersOf.set(catalogue, offers);
  return offers;
}

/** @param only the base plans that may be sold; any where it is empty. */
function findOffer(
  catalogue: Catalogue,
  connection: Connection,
  addOnsToo: boolean,
  only: readonly string[],
): Bouquet[] {
  return catalogue.bouquets.filter(
    (bouquet) =>
      bouquet.service === connection.service &&
      fitsSegment(bouquet, connection) &&
      (bouquet.addOn ? addOnsToo : only.length === 0 || only.includes(bouquet.plan)),
  );
}

export function findPurchasable(
  catalogue: Catalogue,
  connection: Connection,
  code: string,
  now: WallTime,
  basePlans: BasePlans,
): Bouquet | undefined {
  return purchasableBouquets(catalogue, connection, now, basePlans).find((bouquet) => bouquet.code === code);
}

function fitsSegment(bouquet: Bouquet, connection: Connection): boolean {
  if (bouquet.segments.length === 0) return true;
  return connection.segment !== undefined && bouquet.segments.includes(connection.segment);
}
