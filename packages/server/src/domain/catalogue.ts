import { type Bouquet, bouquetKey, readBouquetName, SERVICES, type Service } from "./bouquet.ts";
import { type Connection, runningBases } from "./customer.ts";
import { FieldReader, NAME_MAX_LENGTH, type Reading } from "./fields.ts";
import type { JsonObject } from "./json.ts";
import { type CurrencyExponent, formatMoney } from "./money.ts";
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

/**
 * Reads one row of a catalogue file: `{"service", "code", "name", "price", "segments"?, "plan"?, "retired"?}`.
 * Source: decisions, "Time, money, identifiers" and "Bouquets, subscriptions and the renewal rule".
 */
export function readCatalogueRow(row: JsonObject, exponent: CurrencyExponent): Reading<Bouquet> {
  const fields = new FieldReader(row);
  const service = fields.oneOf("service", SERVICES);
  const code = fields.statedIdentifier("code");
  const name = fields.text("name", { maxLength: NAME_MAX_LENGTH });
  const price = fields.money("price", exponent);
  const segments = fields.statedIdentifiers("segments");
  const plan = fields.optionalText("plan", { maxLength: NAME_MAX_LENGTH });
  fields.flag("retired");
  fields.refuseOthers();

  const fromName = name === "" ? undefined : readBouquetName(name);
  if (typeof fromName === "string") fields.problem("name", fromName);
  const reading = fields.finish(undefined);
  if (!reading.ok) return reading;
  if (price === 0n) fields.problem("price", "must be more than zero");
  const { period, addOn, plan: planFromName } = fromName as Exclude<typeof fromName, string | undefined>;
  if (planFromName === "" && plan === undefined) fields.problem("name", "must hold more than a period");
  return fields.finish({ service, code, name, price, segments, plan: plan ?? planFromName, addOn, period });
}

/** Whether a row only tells what a code means that customers may still have, and that is not sold any more. */
export function isRetired(row: JsonObject): boolean {
  return row["retired"] === true;
}

/** One row of a catalogue file, in the order in which its fields are written. */
export interface CatalogueRow {
  readonly service: Service;
  readonly code: string;
  readonly name: string;
  readonly price: string;
  readonly segments?: string[];
  readonly plan: string;
  readonly retired?: true;
}

/** The row that {@link readCatalogueRow} reads as this very bouquet. */
export function catalogueRow(bouquet: Bouquet, exponent: CurrencyExponent): CatalogueRow {
  const { service, code, name, price, segments, plan } = bouquet;
  const some = segments.length === 0 ? {} : { segments: [...segments] };
  return { service, code, name, price: formatMoney(price, exponent), ...some, plan };
}

/** The rows of one catalogue. Each is held against those before it, so that every bad line gets its reason. */
export class CatalogueRows {
  readonly bouquets: Bouquet[] = [];
  /** Those that are not sold. A plan may have held others in its time, so nothing holds them against each other. */
  readonly retired: Bouquet[] = [];
  readonly #codes = new Set<string>();
  readonly #addOnByPlan = new Map<string, boolean>();

  add(bouquet: Bouquet, retired = false): Reading<Bouquet> {
    const fields = new FieldReader({});
    const code = bouquetKey(bouquet);
    const plan = `${bouquet.service}:${bouquet.plan}`;
    if (this.#codes.has(code)) fields.problem("code", "stands on an earlier line already");
    if (!retired && (this.#addOnByPlan.get(plan) ?? bouquet.addOn) !== bouquet.addOn)
      fields.problem("plan", "holds both a base bouquet and an add-on");
    const reading = fields.finish(bouquet);
    if (!reading.ok) return reading;
    this.#codes.add(code);
    if (!retired) this.#addOnByPlan.set(plan, bouquet.addOn);
    (retired ? this.retired : this.bouquets).push(bouquet);
    return reading;
  }
}

/** A bouquet of one service that a new catalogue adds, changes or no longer has. */
export interface BouquetEffect {
  readonly kind: "added" | "changed" | "removed";
  readonly service: Service;
  readonly code: string;
  /** Of a changed one, what was and what is; as texts, amounts as decimals. */
  readonly fields: readonly { readonly field: string; readonly from: string; readonly to: string }[];
}

/** What a new catalogue is, beside the one before it. */
interface CatalogueEffect {
  readonly bouquets: readonly BouquetEffect[];
  readonly unchanged: number;
  /** Whether those that stay come in another order, in which partners see them. */
  readonly reorders: boolean;
}

export function compareCatalogues(
  before: readonly Bouquet[],
  after: readonly Bouquet[],
  exponent: CurrencyExponent,
): CatalogueEffect {
  const former = new Map(before.map((bouquet) => [bouquetKey(bouquet), bouquet]));
  const current = new Set(after.map(bouquetKey));
  const bouquets = after.flatMap((bouquet): BouquetEffect[] => {
    const { service, code } = bouquet;
    const was = former.get(bouquetKey(bouquet));
    if (was === undefined) return [{ kind: "added", service, code, fields: [] }];
    const fields = differences(was, bouquet, exponent);
    return fields.length === 0 ? [] : [{ kind: "changed", service, code, fields }];
  });
  const removed = before
    .filter((bouquet) => !current.has(bouquetKey(bouquet)))
    .map(({ service, code }): BouquetEffect => ({ kind: "removed", service, code, fields: [] }));
  const stayed = after.map(bouquetKey).filter((key) => former.has(key));
  const stayedBefore = before.map(bouquetKey).filter((key) => current.has(key));
  return {
    bouquets: [...bouquets, ...removed],
    unchanged: after.length - bouquets.length,
    reorders: stayed.some((key, index) => key !== stayedBefore[index]),
  };
}

function differences(was: Bouquet, is: Bouquet, exponent: CurrencyExponent): BouquetEffect["fields"] {
  const describe = ({ name, price, segments, plan, addOn }: Bouquet) => [
    ["name", name],
    ["price", formatMoney(price, exponent)],
    ["segments", segments.length === 0 ? "all" : segments.join(", ")],
    ["plan", plan],
    ["add-on", addOn ? "yes" : "no"],
  ];
  const after = describe(is);
  return describe(was)
    .map(([field = "", from = ""], index) => ({ field, from, to: after[index]?.[1] ?? "" }))
    .filter(({ from, to }) => from !== to);
}
