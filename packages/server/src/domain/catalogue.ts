import { type Bouquet, bouquetKey, readBouquetName, SERVICES, type Service } from "./bouquet.ts";
import { type Connection, runningBases } from "./customer.ts";
import { FieldReader, NAME_MAX_LENGTH, type Reading } from "./fields.ts";
import type { JsonObject } from "./json.ts";
import { type CurrencyExponent, formatMoney } from "./money.ts";
import { isRunning } from "./subscription.ts";
import { type Instant, LAST_WALL_TIME, plus, type WallTime } from "./wall-time.ts";

/** One immutable revision of what a provider sells. A checkout quotes from the revision of its issue. */
export interface Catalogue {
  readonly revision: number;
  /** The order of the provider's file, which partners see too. */
  readonly bouquets: readonly Bouquet[];
}

/** A revision that was not withdrawn. */
export interface Scheduled {
  readonly revision: number;
  readonly createdAt: Instant;
  /** Equals `createdAt` if the change has no date. */
  readonly inForceAt: Instant;
}

/** A change without a date is in force at once, also if the clock goes back. */
export function isInForce({ createdAt, inForceAt }: Omit<Scheduled, "revision">, now: Instant): boolean {
  return inForceAt === createdAt || inForceAt <= now;
}

/** The newest revision in force. @param schedule newest first. */
export function revisionInForce(schedule: readonly Scheduled[], now: Instant): number | undefined {
  return schedule.find((each) => isInForce(each, now))?.revision;
}

/** How many base plans a connection of each service may have running. */
export type BasePlans = Readonly<Record<Service, "one" | "many">>;

export const DEFAULT_BASE_PLANS: BasePlans = { tv: "many", internet: "one", iptv: "many" };

/** Cached offers of one revision, which never changes. */
interface Offers {
  /** Segments that any bouquet names. All other segments are offered the same as none. */
  readonly segments: ReadonlySet<string>;
  readonly byKind: Map<string, readonly Bouquet[]>;
}

/** Limit of the cache, more than a provider has kinds of connections. */
const MOST_OFFERS = 1_000;

/** Ends before this time cannot pass the last wall time by one period. */
const NEAR_THE_LAST: WallTime = "9980-01-01 00:00:00";

const offersOf = new WeakMap<Catalogue, Offers>();

/**
 * The bouquets that can be bought on a connection now. Equal answers are the same list object. The rules are in
 * docs/decisions.md, "Bouquets and the catalogue".
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
  const only = onlyBases(service, bases, basePlans);
  const kind = [service, bases.length > 0, segment !== undefined && segments.has(segment) ? segment : "", ...only].join(
    "\n",
  );
  const offer = byKind.get(kind) ?? findOffer(catalogue, connection, bases.length > 0, only);
  if (byKind.size < MOST_OFFERS) byKind.set(kind, offer);
  const isNearTheLast = connection.ledgers.some(({ subscription }) => (subscription?.end ?? "") > NEAR_THE_LAST);
  return isNearTheLast ? offer.filter((bouquet) => hasRoomFor(bouquet, connection, now)) : offer;
}

/** The base plans that alone can be bought while base plans run; empty means any. */
export function onlyBases(service: Service, running: readonly string[], basePlans: BasePlans): readonly string[] {
  return basePlans[service] === "one" ? running : [];
}

export function allowsBase(only: readonly string[], plan: string): boolean {
  return only.length === 0 || only.includes(plan);
}

/** A subscription without end (`9999-12-31` in a provider's records) cannot be extended. */
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

/** @param only base plans that may be sold; empty means any. */
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
      (bouquet.addOn ? addOnsToo : allowsBase(only, bouquet.plan)),
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
 * Reads one row of a catalogue file: `{"service", "code", "name", "price", "segments"?, "plan"?, "retired"?}`. `price`
 * is a decimal in major units and more than zero.
 */
export function readCatalogueRow(row: JsonObject, exponent: CurrencyExponent): Reading<Bouquet> {
  const fields = new FieldReader(row);
  const service = fields.oneOf("service", SERVICES);
  const code = fields.statedIdentifier("code");
  const name = fields.text("name", { maxLength: NAME_MAX_LENGTH });
  const price = fields.money("price", exponent);
  const segments = fields.labels("segments");
  const plan = fields.optionalText("plan", { maxLength: NAME_MAX_LENGTH, isOfFile: true });
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

/** Whether a row only defines a code that customers may still have, and is not sold. */
export function isRetired(row: JsonObject): boolean {
  return row["retired"] === true;
}

/** One row of a catalogue file, in the order of its fields. */
export interface CatalogueRow {
  readonly service: Service;
  readonly code: string;
  readonly name: string;
  readonly price: string;
  readonly segments?: string[];
  readonly plan: string;
  readonly retired?: true;
}

/** Writes a bouquet as a row that {@link readCatalogueRow} reads back. */
export function catalogueRow(bouquet: Bouquet, exponent: CurrencyExponent): CatalogueRow {
  const { service, code, name, price, segments, plan } = bouquet;
  const some = segments.length === 0 ? {} : { segments: [...segments] };
  return { service, code, name, price: formatMoney(price, exponent), ...some, plan };
}

/**
 * The rows of one catalogue. Each row is checked against the rows before it, so that every bad line gets its reason.
 */
export class CatalogueRows {
  readonly bouquets: Bouquet[] = [];
  /** Bouquets that are not sold. They are not compared with each other: a plan may have changed over time. */
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
