import type { Kysely } from "kysely";
import { type Attribution, cataloguePublished } from "../../domain/audit.ts";
import { type Bouquet, bouquetKey } from "../../domain/bouquet.ts";
import type { Catalogue } from "../../domain/catalogue.ts";
import type { Environment } from "../../domain/customer.ts";
import { portionsOf } from "../../domain/portions.ts";
import type { CatalogueRevision, Catalogues, RevisionPage } from "../changes.ts";
import type { Engine } from "../engine.ts";
import { bouquetRow, toBouquet } from "../rows.ts";
import { verifyProvider } from "../settings.ts";
import type { ProviderSettings } from "../store.ts";
import type { Tables } from "../tables.ts";
import { appendAudit } from "./audit.ts";

/** A statement takes so many values, and no more. */
const ROWS_OF_A_STATEMENT = 500;

export function cataloguesOf(engine: Engine, provider: ProviderSettings): Catalogues {
  return {
    publish: (environment, bouquets, by, retired = []) =>
      engine.change(async (tx) => {
        await verifyProvider(tx, provider);
        const unknown = await unknownAmong(retired, tx, environment);
        if (unknown.length > 0) await addRevision(engine, tx, environment, unknown, by);
        return addRevision(engine, tx, environment, bouquets, by);
      }),
    known: (environment) => knownBouquets(engine.db, environment),
    list: (environment, page) => listRevisions(engine.db, environment, page),
    async find(revision) {
      const found = await engine.db
        .selectFrom("catalogue_revision")
        .select("created_at")
        .where("revision", "=", revision)
        .executeTakeFirst();
      const catalogue = found && (await readCatalogue(engine.db, provider, revision));
      return catalogue && { ...catalogue, createdAt: found.created_at };
    },
  };
}

/** The number of the newest revision, of an environment or of all; undefined before the first import. */
export async function currentRevision(db: Kysely<Tables>, environment?: Environment): Promise<number | undefined> {
  const query = db.selectFrom("catalogue_revision").select((eb) => eb.fn.max("revision").as("revision"));
  const narrowed = environment === undefined ? query : query.where("environment", "=", environment);
  return (await narrowed.executeTakeFirst())?.revision ?? undefined;
}

/**
 * A revision never changes, so whoever has read it may keep it.
 * @throws StoreUnavailable where this process would take a stored price for another.
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

async function addRevision(
  engine: Engine,
  tx: Kysely<Tables>,
  environment: Environment,
  bouquets: readonly Bouquet[],
  by: Attribution,
): Promise<Catalogue> {
  const former = await currentRevision(tx, environment);
  const revision = ((await currentRevision(tx)) ?? 0) + 1;
  await tx.insertInto("catalogue_revision").values({ revision, environment, created_at: by.at }).execute();
  const rows = bouquets.map((bouquet, position) => ({ revision, position, ...bouquetRow(bouquet) }));
  for (const some of portionsOf(rows, ROWS_OF_A_STATEMENT)) await tx.insertInto("bouquet").values(some).execute();
  await appendAudit(engine, tx, cataloguePublished(environment, former, { revision, bouquets: rows.length }), by);
  return { revision, bouquets };
}

/** A revision that only makes codes known is followed by the one that is sold, in the same transaction and at the same time. */
async function listRevisions(
  db: Kysely<Tables>,
  environment: Environment,
  { before, limit }: RevisionPage,
): Promise<CatalogueRevision[]> {
  let query = db
    .selectFrom("catalogue_revision as each")
    .innerJoin("bouquet", "bouquet.revision", "each.revision")
    .select((eb) => ["each.revision", "each.created_at", eb.fn.countAll().as("bouquets")])
    .where("environment", "=", environment)
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom("catalogue_revision as next")
            .select("next.revision")
            .whereRef("next.environment", "=", "each.environment")
            .whereRef("next.created_at", "=", "each.created_at")
            .whereRef("next.revision", ">", "each.revision"),
        ),
      ),
    )
    .groupBy(["each.revision", "each.created_at"])
    .orderBy("each.revision", "desc")
    .limit(limit);
  if (before !== undefined) query = query.where("each.revision", "<", before);
  const rows = await query.execute();
  return rows.map(({ revision, created_at, bouquets }) => ({
    ...{ revision, createdAt: created_at, bouquets: Number(bouquets) },
  }));
}

/** The newest definition of every code that any revision had. */
async function knownBouquets(db: Kysely<Tables>, environment: Environment): Promise<Bouquet[]> {
  const newest = db
    .selectFrom("bouquet")
    .innerJoin("catalogue_revision", "catalogue_revision.revision", "bouquet.revision")
    .where("environment", "=", environment)
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

/** Those that no revision had, or had otherwise last. */
async function unknownAmong(retired: readonly Bouquet[], tx: Kysely<Tables>, environment: Environment) {
  if (retired.length === 0) return [];
  const text = (bouquet: Bouquet) => JSON.stringify(bouquetRow(bouquet));
  const known = new Map((await knownBouquets(tx, environment)).map((each) => [bouquetKey(each), text(each)]));
  return retired.filter((bouquet) => known.get(bouquetKey(bouquet)) !== text(bouquet));
}
