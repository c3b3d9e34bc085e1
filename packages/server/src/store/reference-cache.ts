import type { Kysely } from "kysely";
import type { Bouquet } from "../domain/bouquet.ts";
import type { Catalogue, Scheduled } from "../domain/catalogue.ts";
import type { Environment } from "../domain/customer.ts";
import type { Instant } from "../domain/wall-time.ts";
import { flag } from "./rows.ts";
import { verifyProvider } from "./settings.ts";
import type { ProviderSettings } from "./store.ts";
import type { BouquetRow, Tables } from "./tables.ts";

/** Entries are small, and few partners have many tokens. */
const MOST_VALUES = 10_000;

/**
 * Keeps reference data in memory: tokens with their partners, secrets and catalogues, which every request needs and only
 * staff change. Each engine says when to forget it.
 */
export class ReferenceCache {
  readonly #isCurrent: () => boolean;
  readonly #most: number;
  readonly #values = new Map<string, unknown>();
  #generation = 0;

  /** @param isCurrent whether kept values can be used; may call {@link forget}. @param most values are kept. */
  constructor(isCurrent: () => boolean, most = MOST_VALUES) {
    this.#isCurrent = isCurrent;
    this.#most = most;
  }

  /**
   * Finds a value, or loads it, at once or asynchronously. A missing value (undefined) is not kept: requests for what does
   * not exist would fill the memory.
   */
  recall<Loaded>(key: string, load: () => Loaded): Loaded | Awaited<Loaded> {
    if (this.#isCurrent()) {
      const known = this.#values.get(key);
      if (known !== undefined) return known as Awaited<Loaded>;
    }
    const generation = this.#generation;
    const keep = <Value>(value: Value): Value => {
      // A value that was read before a change must not be kept after it.
      if (value !== undefined && generation === this.#generation && this.#isCurrent()) this.#keep(key, value);
      return value;
    };
    const loaded = load();
    return loaded instanceof Promise ? (loaded.then(keep) as Loaded) : keep(loaded);
  }

  forget(): void {
    this.#values.clear();
    this.#generation += 1;
  }

  #keep(key: string, value: unknown): void {
    if (this.#values.size >= this.#most) this.#values.delete(this.#values.keys().next().value as string);
    this.#values.set(key, value);
  }
}

const tokenKeys = new WeakMap<Uint8Array, string>();

/** The key of the token with a hash, made once for each array. */
export function tokenKey(hash: Uint8Array): string {
  const known = tokenKeys.get(hash);
  if (known !== undefined) return known;
  const key = `token ${Buffer.from(hash).toString("base64")}`;
  tokenKeys.set(hash, key);
  return key;
}

/** The revisions that a clock can make the current one, newest first: the last without a date, and the dated after it. */
export async function readSchedule(db: Kysely<Tables>, environment: Environment): Promise<Scheduled[]> {
  const own = db.selectFrom("catalogueRevision").where("environment", "=", environment);
  const undated = own.whereRef("inForceAt", "=", "createdAt");
  const query = own
    .select(["revision", "createdAt", "inForceAt"])
    .$narrowType<Scheduled>()
    .where("inForceAt", "is not", null)
    .where(
      "revision",
      ">=",
      undated.select((eb) => eb.fn.coalesce(eb.fn.max("revision"), eb.lit(0)).as("revision")),
    )
    .orderBy("revision", "desc");
  return query.execute();
}

/**
 * Reads a revision. A revision never changes, so it can be cached.
 * @throws StoreUnavailable if this process would misread stored prices.
 */
export async function readCatalogue(
  db: Kysely<Tables>,
  provider: ProviderSettings,
  revision: number,
): Promise<Catalogue | undefined> {
  await verifyProvider(db, provider);
  const query = db.selectFrom("bouquet").selectAll().where("revision", "=", revision).orderBy("position");
  const bouquets = (await query.execute()).map(toBouquet);
  return bouquets.length === 0 ? undefined : { revision, bouquets };
}

/** The newest definition of every code that any revision had in force. */
export async function knownBouquets(db: Kysely<Tables>, environment: Environment, now: Instant): Promise<Bouquet[]> {
  const newest = db
    .selectFrom("bouquet")
    .innerJoin("catalogueRevision", "catalogueRevision.revision", "bouquet.revision")
    .where("environment", "=", environment)
    .where((eb) => eb.or([eb("inForceAt", "<=", now), eb("inForceAt", "=", eb.ref("createdAt"))]))
    .select((eb) => ["service", "code", eb.fn.max("bouquet.revision").as("revision")])
    .groupBy(["service", "code"]);
  const query = db
    .selectFrom(newest.as("newest"))
    .innerJoin("bouquet", (join) =>
      join
        .onRef("bouquet.revision", "=", "newest.revision")
        .onRef("bouquet.service", "=", "newest.service")
        .onRef("bouquet.code", "=", "newest.code"),
    )
    .selectAll("bouquet")
    .orderBy("bouquet.service")
    .orderBy("bouquet.code");
  return (await query.execute()).map(toBouquet);
}

export function toBouquet(row: BouquetRow): Bouquet {
  const { service, code, name, plan, months, days } = row;
  const segments = JSON.parse(row.segments) as string[];
  const price = BigInt(row.price);
  return { service, code, name, price, segments, plan, addOn: row.addOn === 1, period: { months, days } };
}

export function bouquetRow({ service, code, name, price, segments, plan, addOn, period }: Bouquet) {
  const label = { service, code, name, price: Number(price), segments: JSON.stringify(segments), plan };
  return { ...label, addOn: flag(addOn), ...period } satisfies Omit<BouquetRow, "revision" | "position">;
}
